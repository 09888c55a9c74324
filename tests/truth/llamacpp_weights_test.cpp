// Weights of 145 GGUF files as libllama itself accounts for them (commit 34af94cd): each header,
// read and placed, against tests/data/llamacpp_weights.csv.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "import/gguf_tensors.h"
#include "model/llama_cpp_weights.h"
#include "support/gguf_files.h"

namespace vramgauge {
namespace {

using Row = std::map<std::string, std::string>;

std::string name_of(const Row& row) { return row.at("model") + "." + row.at("quant"); }

uint64_t number(const Row& row, const std::string& column) { return std::stoull(row.at(column)); }

std::string type_counts(const GgufHeader& header) {
  std::map<std::string, uint64_t> counts;
  for (const GgufTensorInfo& tensor : header.tensors)
    ++counts[std::string(ggml_type_info(tensor.type).name)];
  std::string text;
  for (const auto& [name, count] : counts)
    text += (text.empty() ? "" : ";") + name + "=" + std::to_string(count);
  return text;
}

LlamaCppBuffers buffers_of(const GgufHeader& header) {
  const auto weights =
      llama_cpp_weights(header.text("general.architecture").value(),
                        gguf_layer_counts(header).decoder, llama_cpp_tensors(header));
  return llama_cpp_buffers(weights).value();
}

TEST(LlamaCppWeights, TableIsComplete) {
  EXPECT_EQ(testing::data_table("llamacpp_weights.csv").size(), 145U);
}

TEST(LlamaCppWeights, HeadersHoldWhatTheTableSays) {
  for (const Row& row : testing::data_table("llamacpp_weights.csv")) {
    const GgufHeader header = testing::gguf_header(name_of(row));
    uint64_t bytes = 0;
    uint64_t elements = 0;
    for (const GgufTensorInfo& tensor : header.tensors) {
      bytes += tensor.bytes;
      // Tables of rotary frequencies are computed, not trained: the table does not count them.
      if (tensor.name != "rope_freqs.weight") elements += tensor.elements();
    }
    EXPECT_EQ(header.text("general.architecture").value(), row.at("arch")) << name_of(row);
    EXPECT_EQ(header.tensors.size(), number(row, "n_tensors")) << name_of(row);
    EXPECT_EQ(elements, number(row, "n_params")) << name_of(row);
    EXPECT_EQ(bytes, number(row, "tensor_bytes_sum")) << name_of(row);
    EXPECT_EQ(header.data_offset, number(row, "gguf_header_bytes")) << name_of(row);
    EXPECT_EQ(header.data_bytes, number(row, "gguf_data_bytes_aligned32")) << name_of(row);
    EXPECT_EQ(type_counts(header), row.at("type_counts")) << name_of(row);
  }
}

// The layers of glm-4.5-air that only predict further tokens are in the file and in no buffer.
// gemma-3n and gemma-4 hold their tied embedding twice on the CPU, which the rule knows.
TEST(LlamaCppWeights, BuffersAreExact) {
  for (const Row& row : testing::data_table("llamacpp_weights.csv")) {
    const LlamaCppBuffers buffers = buffers_of(testing::gguf_header(name_of(row)));
    EXPECT_EQ(buffers.cpu_plain.count(), number(row, "cpu_plain")) << name_of(row);
    EXPECT_EQ(buffers.cpu_repack.count(), number(row, "cpu_repack")) << name_of(row);
    EXPECT_EQ(buffers.cpu_plain.count() + buffers.cpu_repack.count(), number(row, "cpu_total"))
        << name_of(row);
    EXPECT_EQ(buffers.gpu_device.count(), number(row, "gpu_all_device")) << name_of(row);
    EXPECT_EQ(buffers.gpu_host.count(), number(row, "gpu_all_host")) << name_of(row);
  }
}

}  // namespace
}  // namespace vramgauge
