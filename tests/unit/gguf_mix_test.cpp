#include "model/gguf_mix.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gguf_mix_files.h"

namespace vramgauge {
namespace {

using test::ListedModel;
using test::ListedTensor;

std::vector<GgufTensor> tensors_of(const ListedModel& model) {
  std::vector<GgufTensor> tensors;
  for (const ListedTensor& listed : model.tensors)
    tensors.push_back(listed.tensor);
  return tensors;
}

GgufMix mix_of(const std::string& quant) {
  return find_gguf_mix(quant == "MXFP4" ? "MXFP4_MOE" : quant).value();
}

/// glm-4.5-air ends with a layer for predicting a second token. The lists come from a loaded
/// model, and that layer is not loaded for inference, so its matrices were copied as they were;
/// the quantiser proper loads and quantises it.
bool was_not_loaded(const ListedModel& model, const ListedTensor& listed) {
  return model.name == "glm-4.5-air" && listed.layer == 46;
}

TEST(GgufMixLists, CoverEveryModel) {
  uint64_t num_lists = 0;
  std::map<std::string, int> archs;
  for (const ListedModel& model : test::listed_models()) {
    num_lists += model.quants.size();
    ++archs[model.arch];
  }
  EXPECT_EQ(num_lists, 145U);
  EXPECT_EQ(archs.size(), 28U);
}

// Each type that llama.cpp (commit 34af94cd) gave a tensor of 145 files is the one chosen here.
TEST(GgufMixLists, ChooserGivesEveryTensorTheListedType) {
  for (const ListedModel& model : test::listed_models()) {
    for (const std::string& quant : model.quants) {
      const auto choices = choose_gguf_types(mix_of(quant), model.facts, tensors_of(model));
      ASSERT_TRUE(choices) << model.name << "." << quant;
      for (size_t i = 0; i < model.tensors.size(); ++i) {
        const ListedTensor& listed = model.tensors[i];
        if (was_not_loaded(model, listed)) continue;
        EXPECT_EQ(ggml_type_info((*choices)[i].type).name,
                  ggml_type_info(listed.types.at(quant)).name)
            << model.name << "." << quant << " " << listed.tensor.name;
      }
    }
  }
}

// What the comparison above passes over: the ten matrices of a layer with experts (four of
// attention, three of the experts, three of the shared one) and three of the prediction head.
TEST(GgufMixLists, OnlyOneLayerIsPassedOver) {
  uint64_t num_passed_over = 0;
  for (const ListedModel& model : test::listed_models()) {
    for (const ListedTensor& listed : model.tensors) {
      if (was_not_loaded(model, listed) && listed.types.at("BF16") == GgmlType::bf16) {
        ++num_passed_over;
      }
    }
  }
  EXPECT_EQ(num_passed_over, 13U);
}

// The byte sums of the files, from the sizes of types and shapes alone.
TEST(GgufMixLists, TypesAndShapesGiveTheByteSums) {
  uint64_t num_rows = 0;
  for (const auto& row : test::read_table("llamacpp_weights.csv")) {
    const ListedModel model = test::listed_model(row.at("model"));
    uint64_t sum = 0;
    for (const ListedTensor& listed : model.tensors) {
      sum += test::listed_bytes(listed.tensor, listed.types.at(row.at("quant")));
    }
    EXPECT_EQ(sum, std::stoull(row.at("tensor_bytes_sum"))) << row.at("model") << row.at("quant");
    ++num_rows;
  }
  EXPECT_EQ(num_rows, 145U);
}

/// Bytes x 8 / elements of the model in a mix, for comparison with published figures.
double bits_per_weight(const ListedModel& model, GgufMix mix) {
  const std::vector<GgufTensor> tensors = tensors_of(model);
  const auto choices = choose_gguf_types(mix, model.facts, tensors);
  uint64_t bytes = 0;
  uint64_t elements = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& dims = tensors[i].dims;
    bytes += test::listed_bytes(tensors[i], choices.value()[i].type);
    elements += dims[0] * dims[1] * dims[2];
  }
  return 8.0 * static_cast<double>(bytes) / static_cast<double>(elements);
}

/// Compares every mix that has a published figure; returns how many have.
uint64_t compare_with_published(const ListedModel& model, const std::string& column) {
  uint64_t num_compared = 0;
  for (const auto& row : test::read_table("quant.csv")) {
    if (row.at("kind") != "gguf_mix" || row.at(column).empty()) continue;
    const double published = std::stod(row.at(column));
    EXPECT_NEAR(bits_per_weight(model, mix_of(row.at("format"))) / published, 1.0, 0.003)
        << row.at("format") << " " << column;
    ++num_compared;
  }
  return num_compared;
}

// Published files of Llama 3: 8B from llama.cpp's tools/quantize/README.md and
// examples/perplexity/README.md, 70B from its pull request 6745, which used an importance matrix.
// Their sizes have two decimals of GiB, so the figures are 0.1 % coarse.
TEST(GgufMixSizes, EqualPublishedFilesOfLlama3) {
  EXPECT_EQ(compare_with_published(test::listed_model("llama-3.1-8b"), "measured_bpw_llama3_8b"),
            28U);
  ListedModel large = test::listed_model("llama-3.3-70b");
  large.facts.has_importance_matrix = true;
  EXPECT_EQ(compare_with_published(large, "measured_bpw_llama3_70b"), 24U);
}

GgufTensor matrix(std::string name, uint64_t cols, uint64_t rows) {
  return {std::move(name), {cols, rows, 1, 1}, RoleGroup::other};
}

GgmlType only_type(GgufMix mix, GgufTensor tensor) {
  return choose_gguf_types(mix, {}, {std::move(tensor)}).value().at(0).type;
}

// src/llama-quant.cpp: a row that does not fill blocks of 256 gets a type with blocks of 32, and
// F16 when it does not fill those either.
TEST(GgufMix, RowsThatDoNotFillBlocksFallBack) {
  const auto type = [](GgufMix mix, uint64_t cols) {
    return only_type(mix, matrix("blk.0.attn_q.weight", cols, 64));
  };
  EXPECT_EQ(type(GgufMix::q2_k_s, 96), GgmlType::q4_0);
  EXPECT_EQ(type(GgufMix::q3_k_s, 96), GgmlType::q4_0);
  EXPECT_EQ(type(GgufMix::q4_k_s, 96), GgmlType::q5_0);
  EXPECT_EQ(type(GgufMix::q5_k_s, 96), GgmlType::q5_1);
  EXPECT_EQ(type(GgufMix::q6_k, 96), GgmlType::q8_0);
  EXPECT_EQ(type(GgufMix::iq4_xs, 96), GgmlType::iq4_nl);
  EXPECT_EQ(type(GgufMix::q4_k_s, 100), GgmlType::f16);
}

TEST(GgufMix, TypesWithoutAFallbackAreRefused) {
  const auto choices =
      choose_gguf_types(GgufMix::q4_0, {}, {matrix("blk.0.attn_q.weight", 100, 64)});
  ASSERT_FALSE(choices);
  EXPECT_EQ(choices.error().at(0).code, ErrorCode::format_not_divisible);
}

// The layer counters follow the order of layers, not the order of the list.
TEST(GgufMix, OrderOfTheListDoesNotMatter) {
  ListedModel model = test::listed_model("llama-3.1-8b");
  std::vector<GgufTensor> tensors = tensors_of(model);
  const auto forwards = choose_gguf_types(GgufMix::q4_k_m, model.facts, tensors);
  std::reverse(tensors.begin(), tensors.end());
  const auto backwards = choose_gguf_types(GgufMix::q4_k_m, model.facts, tensors);
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ((*forwards)[i].type, (*backwards)[tensors.size() - 1 - i].type);
  }
}

TEST(GgufMix, PureFilesHaveNoExceptionsForTheHead) {
  const std::vector<GgufTensor> tensors = {matrix("output.weight", 256, 1000),
                                           matrix("blk.0.attn_norm.weight", 256, 1),
                                           matrix("blk.0.attn_v.weight", 128, 64)};
  const auto choices = choose_pure_gguf_types(GgmlType::q4_k, GgmlType::f16, tensors);
  ASSERT_TRUE(choices);
  EXPECT_EQ((*choices)[0].type, GgmlType::q4_k);
  EXPECT_EQ((*choices)[1].type, GgmlType::f32);
  EXPECT_EQ((*choices)[2].type, GgmlType::q5_0);
  EXPECT_TRUE((*choices)[2].fell_back);
}

TEST(GgufMix, NamesRoundTrip) {
  EXPECT_EQ(gguf_mix_name(find_gguf_mix("IQ3_XS").value()), "IQ3_XS");
  EXPECT_EQ(gguf_mix_base(GgufMix::iq2_m), GgmlType::iq2_s);
  EXPECT_FALSE(find_gguf_mix("Q9_K"));
}

// Blocks by hand: 4096 elements of Q4_K are 16 blocks of 144 bytes; IQ4_KS has 4 bytes per row.
TEST(GgmlTypes, RowBytes) {
  EXPECT_EQ(row_bytes(GgmlType::q4_k, 4096), CheckedU64(uint64_t{16 * 144}));
  EXPECT_EQ(row_bytes(GgmlType::q8_0, 64), CheckedU64(uint64_t{68}));
  EXPECT_EQ(row_bytes(GgmlType::iq4_ks, 512), CheckedU64(uint64_t{4 + 2 * 136}));
  EXPECT_FALSE(row_bytes(GgmlType::q4_k, 4097).valid());
  EXPECT_FALSE(row_bytes(GgmlType::f32, UINT64_MAX).valid());
}

// Every ggml row of the reference table has the same block here.
TEST(GgmlTypes, BlocksEqualTheReferenceTable) {
  uint64_t num_blocks = 0;
  for (const auto& row : test::read_table("quant.csv")) {
    if (row.at("kind") != "gguf_block") continue;
    const GgmlTypeInfo* info = find_ggml_type(std::string_view(row.at("format")));
    ASSERT_NE(info, nullptr) << row.at("format");
    EXPECT_EQ(info->block_elements, std::stoull(row.at("block_weights"))) << info->name;
    EXPECT_EQ(info->block_bytes, std::stoull(row.at("block_bytes"))) << info->name;
    ++num_blocks;
  }
  EXPECT_EQ(num_blocks, 48U);
}

}  // namespace
}  // namespace vramgauge
