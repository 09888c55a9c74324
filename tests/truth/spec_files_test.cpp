// Headers of GGUF files as JSON and back, and the weights that they hold.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "import/gguf_model.h"
#include "import/gguf_tensors.h"
#include "import/spec_json.h"
#include "import/stored_files.h"
#include "model/llama_cpp_weights.h"
#include "model/stored_weights.h"
#include "support/gguf_files.h"
#include "support/spec_members.h"

namespace vramgauge {
namespace {

SpecDocument document_of(const GgufHeader& header) {
  SpecDocument document;
  document.model = import_gguf(header).value();
  document.stored = stored_model(header);
  return document;
}

void sort(StoredModel& stored) {
  std::sort(stored.tensors.begin(), stored.tensors.end(),
            [](const StoredWeight& a, const StoredWeight& b) { return a.name < b.name; });
}

uint64_t deflated_bytes(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size,
            reinterpret_cast<const Bytef*>(text.data()), text.size(), 9);
  return size;
}

TEST(SpecFiles, EveryHeaderComesBack) {
  uint64_t bytes = 0;
  uint64_t deflated = 0;
  uint64_t count = 0;
  for (const std::string& name : testing::gguf_names()) {
    SpecDocument document = document_of(testing::gguf_header(name));
    const std::string text = json::write(write_spec(document));
    auto value = json::parse(text);
    ASSERT_TRUE(value.has_value()) << name;
    auto copy = read_spec(*value);
    ASSERT_TRUE(copy.has_value()) << name << ": " << copy.error().front().path << ": "
                                  << message_of(copy.error().front());
    EXPECT_EQ(json::write(write_spec(*copy)), text) << name;
    sort(*document.stored);
    sort(*copy->stored);
    EXPECT_TRUE(testing::same(document, *copy)) << name;
    bytes += text.size();
    deflated += deflated_bytes(text);
    ++count;
  }
  std::printf("%llu headers: %llu bytes of JSON on average, %llu deflated\n",
              static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(bytes / count),
              static_cast<unsigned long long>(deflated / count));
  EXPECT_EQ(count, testing::data_table("llamacpp_weights.csv").size());
}

/// What libllama loads (tests/data/llamacpp_weights.csv), from the JSON instead of the header.
TEST(SpecFiles, BuffersFromTheJson) {
  for (const auto& row : testing::data_table("llamacpp_weights.csv")) {
    const std::string name = row.at("model") + "." + row.at("quant");
    const auto copy = read_spec(write_spec(document_of(testing::gguf_header(name))));
    ASSERT_TRUE(copy.has_value()) << name;
    const StoredModel& stored = *copy->stored;
    EXPECT_EQ(stored.architecture, row.at("arch"));
    const auto buffers = llama_cpp_buffers(llama_cpp_weights(
        stored.architecture, copy->model.spec.layers.size(), llama_cpp_tensors(stored)));
    ASSERT_TRUE(buffers.has_value()) << name;
    EXPECT_EQ(buffers->cpu_plain.count() + buffers->cpu_repack.count(),
              std::stoull(row.at("cpu_total")))
        << name;
    EXPECT_EQ(buffers->gpu_device.count(), std::stoull(row.at("gpu_all_device"))) << name;
    EXPECT_EQ(buffers->gpu_host.count(), std::stoull(row.at("gpu_all_host"))) << name;
  }
}

/// All bytes of the file's tensors but those of layers that only predict further tokens, which the
/// table's sum has (glm-4.5-air and the like).
TEST(SpecFiles, StoredWeightsAreTheFilesOwn) {
  uint64_t with_drafts = 0;
  for (const auto& row : testing::data_table("llamacpp_weights.csv")) {
    const std::string name = row.at("model") + "." + row.at("quant");
    const GgufHeader header = testing::gguf_header(name);
    uint64_t drafts = 0;
    for (const GgufTensorInfo& tensor : header.tensors) {
      const auto in_layer = split_gguf_layer(tensor.name);
      if (in_layer && in_layer->layer >= gguf_layer_counts(header).decoder) drafts += tensor.bytes;
    }
    if (drafts != 0) ++with_drafts;
    const auto weights = stored_weights(stored_model(header));
    ASSERT_TRUE(weights.has_value()) << name;
    EXPECT_EQ(weights->total.count() + drafts, std::stoull(row.at("tensor_bytes_sum"))) << name;
    uint64_t sum = 0;
    for (const Bytes group : weights->bytes_by_group)
      sum += group.count();
    EXPECT_EQ(sum, weights->total.count()) << name;
  }
  EXPECT_GE(with_drafts, 1U);
}

}  // namespace
}  // namespace vramgauge
