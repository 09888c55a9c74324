// From a configuration to the bytes of its GGUF files: importer, weight enumeration, conversion
// and type chooser together, against the byte sums of real tensor lists.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "gguf_mix_files.h"
#include "import/hf_config.h"
#include "model/weight_formats.h"
#include "model/weights.h"
#include "support/model_pairs.h"

namespace vramgauge {
namespace {

using test::ListedModel;
using test::ListedTensor;

json::Value parse_file(const std::string& path, const json::Limits& limits = {}) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return json::parse(text.str(), limits).value();
}

const std::string kPresets = VRAMGAUGE_PRESET_DIR;

ModelSpec imported(const std::string& preset) {
  static const json::Value defaults = parse_file(kPresets + "/class_defaults.json");
  const json::Value model = parse_file(kPresets + "/models/" + preset + ".json");
  return import_hf_config(*model.find("config"), defaults.find("classes")).value().spec;
}

WeightFormat format_of_quant(const std::string& quant) {
  static const json::Value document = parse_file(kPresets + "/formats.json");
  const bool has_prefix = quant == "BF16" || quant == "MXFP4";
  const std::string id = has_prefix ? "gguf-" + quant + (quant == "MXFP4" ? "_MOE" : "") : quant;
  for (const json::Value& entry : *document.find("formats")->as_array()) {
    if (*entry.find("id")->as_string() == id) return parse_weight_format(entry).value();
  }
  throw std::runtime_error("no format " + id);
}

/// The text model alone: towers are in a file of their own.
uint64_t derived_bytes(const ModelSpec& spec, const std::string& quant) {
  const FormattedWeights weights =
      format_weights(weight_tensors(spec), spec, format_of_quant(quant)).value();
  const auto of = [&weights](RoleGroup group) {
    return weights.bytes_by_group[static_cast<size_t>(group)].count();
  };
  return weights.total.count() - of(RoleGroup::vision) - of(RoleGroup::audio);
}

/// Tables of rotary frequencies (at most a few kB) are made by the converter, not trained.
bool is_rotary_table(const ListedTensor& listed) {
  return listed.tensor.name.rfind("rope_", 0) == 0;
}

uint64_t listed_weight_bytes(const ListedModel& model, const std::string& quant) {
  uint64_t bytes = 0;
  for (const ListedTensor& listed : model.tensors) {
    bytes += test::listed_bytes(listed.tensor, listed.types.at(quant));
  }
  return bytes;
}

class GgufDerived : public testing::TestWithParam<test::ModelPair> {};

TEST_P(GgufDerived, BytesEqualTheListInEveryQuantisation) {
  const ListedModel model = test::listed_model(GetParam().file);
  const ModelSpec spec = imported(GetParam().preset);
  ASSERT_GE(model.quants.size(), 4U);
  for (const std::string& quant : model.quants) {
    EXPECT_EQ(derived_bytes(spec, quant), listed_weight_bytes(model, quant)) << quant;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GgufDerived, testing::ValuesIn(test::kModelPairs),
                         test::model_pair_name);

// The checkpoint of Gemma 3n has 262,400 rows of embeddings, the converter keeps 262,144.
TEST(GgufDerivedBut, Gemma3nFilesHoldFewerRows) {
  const ListedModel model = test::listed_model("gemma-3n-e4b");
  const ModelSpec spec = imported("google__gemma-3n-E4B-it");
  constexpr uint64_t kRows = 262'400 - 262'144;
  const auto surplus = [&](const char* quant) {
    return derived_bytes(spec, quant) - listed_weight_bytes(model, quant);
  };
  EXPECT_EQ(surplus("BF16"), kRows * 2048 * 2);
  EXPECT_EQ(surplus("Q8_0"), kRows * 2048 / 32 * 34);
  EXPECT_EQ(surplus("Q4_K_M"), kRows * 2048 / 256 * 210);
}

TEST(GgufDerivedBut, OnlyScaledRotaryEmbeddingsAddATable) {
  std::vector<std::string> models;
  for (const ListedModel& model : test::listed_models()) {
    uint64_t bytes = 0;
    for (const ListedTensor& listed : model.tensors) {
      if (is_rotary_table(listed)) bytes += test::listed_bytes(listed.tensor, GgmlType::f32);
    }
    if (bytes == 0) continue;
    EXPECT_LE(bytes, 1024U) << model.name;
    models.push_back(model.name);
  }
  EXPECT_EQ(models, (std::vector<std::string>{"gemma-4-26b-a4b", "llama-3.1-8b", "llama-3.3-70b",
                                              "llama-4-scout"}));
}

}  // namespace
}  // namespace vramgauge
