// Sizes in many formats, counted the short way, beside the sums over every tensor.
#include "plan/format_sizes.h"

#include <gtest/gtest.h>

#include "import/spec_json.h"
#include "model/weights.h"
#include "support/files.h"

namespace vramgauge {
namespace {

json::Value catalogue() {
  const std::string text = testing::read_file(std::string(VRAMGAUGE_CATALOGUE_DIR) + "/all.json");
  auto document = json::parse(text, {uint64_t{64} << 20, 64, 10'000'000});
  EXPECT_TRUE(document.has_value());
  return document ? std::move(*document) : json::Value();
}

std::vector<WeightFormat> formats_of(const json::Value& document) {
  std::vector<WeightFormat> formats;
  for (const json::Value& entry : *document.find("formats")->as_array())
    if (auto format = parse_weight_format(entry)) formats.push_back(std::move(*format));
  EXPECT_TRUE(resolve_part_formats(formats).empty());
  return formats;
}

TEST(FormatSizes, AreThoseOfFormatWeights) {
  constexpr std::size_t kEvery = 23;
  const json::Value document = catalogue();
  const std::vector<WeightFormat> formats = formats_of(document);
  const json::Value::Array& models = *document.find("models")->as_array();
  uint64_t num_equal = 0;
  for (std::size_t i = 0; i < models.size(); i += kEvery) {
    const auto document_of_model = read_spec(*models[i].find("config"));
    ASSERT_TRUE(document_of_model.has_value());
    const ModelSpec& spec = document_of_model->model.spec;
    const std::vector<WeightTensor> tensors = weight_tensors(spec);
    FormatSizes sizes(tensors, spec);
    for (const WeightFormat& format : formats) {
      const auto size = sizes.in(format);
      const auto weights = format_weights(tensors, spec, format);
      ASSERT_EQ(size.has_value(), weights.has_value()) << spec.name << " " << format.id;
      if (!size) continue;
      EXPECT_EQ(size->total, weights->total) << spec.name << " " << format.id;
      EXPECT_EQ(size->basis, weights->basis) << spec.name << " " << format.id;
      ++num_equal;
    }
  }
  EXPECT_GT(num_equal, 1000U);
}

}  // namespace
}  // namespace vramgauge
