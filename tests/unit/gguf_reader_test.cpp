// The GGUF reader on headers made by hand: what it keeps, what it passes over, what it refuses.
#include "import/gguf_reader.h"

#include <gtest/gtest.h>

#include "support/gguf_writer.h"

namespace vramgauge {
namespace {

using testing::GgufWriter;

constexpr uint32_t kF32 = 0;
constexpr uint32_t kQ4K = 12;

/// Two tensors: 256 x 4 of Q4_K are 4 rows of 144 B = 576 B, and 576 is a multiple of 32.
GgufWriter small_model(uint32_t version = 3, bool is_big_endian = false) {
  GgufWriter writer(2, 4, version, is_big_endian);
  writer.text_key("general.architecture", "llama")
      .u32_key("llama.block_count", 1)
      .texts_key("tokenizer.ggml.tokens", 3, "abc")
      .key("llama.list", GgufType::array)
      .u32(static_cast<uint32_t>(GgufType::i32))
      .u64(2)
      .u32(7)
      .u32(0xFFFFFFFF)
      .tensor("token_embd.weight", {256, 4}, kQ4K, 0)
      .tensor("output_norm.weight", {5}, kF32, 576);
  return writer;
}

void expect_small_model(const GgufHeader& header, uint64_t header_bytes) {
  EXPECT_EQ(header.text("general.architecture"), "llama");
  EXPECT_EQ(header.u64("llama.block_count"), 1U);
  const auto& tokens = std::get<GgufArray>(*header.find("tokenizer.ggml.tokens"));
  EXPECT_EQ(tokens.count, 3U);
  EXPECT_FALSE(tokens.is_kept);
  const auto& list = std::get<GgufArray>(*header.find("llama.list"));
  EXPECT_EQ(list.u64_at(0), 7U);
  EXPECT_EQ(list.u64_at(1), std::nullopt) << "-1 is no count";
  EXPECT_EQ(list.u64_at(2), std::nullopt);
  ASSERT_EQ(header.tensors.size(), 2U);
  EXPECT_EQ(header.tensors[0].bytes, 576U);
  EXPECT_EQ(header.tensors[0].elements(), 1024U);
  EXPECT_EQ(header.tensors[1].bytes, 20U);
  EXPECT_EQ(header.data_offset, (header_bytes + 31) / 32 * 32);
  EXPECT_EQ(header.data_bytes, 576U + 32U);
}

class GgufForms : public ::testing::TestWithParam<std::pair<uint32_t, bool>> {};

TEST_P(GgufForms, AreReadInPiecesOfAnySize) {
  const auto [version, is_big_endian] = GetParam();
  const GgufWriter writer = small_model(version, is_big_endian);
  for (const size_t piece : {size_t{1}, size_t{3}, size_t{7}, size_t{64}, writer.bytes().size()}) {
    GgufReader reader;
    for (size_t at = 0; at < writer.bytes().size(); at += piece) {
      ASSERT_EQ(reader.state(), GgufReader::State::needs_more) << at;
      EXPECT_LE(reader.min_bytes_needed(), writer.bytes().size() - at);
      reader.feed(std::string_view(writer.bytes()).substr(at, piece));
    }
    ASSERT_EQ(reader.state(), GgufReader::State::complete) << piece;
    EXPECT_EQ(reader.position(), writer.bytes().size());
    EXPECT_EQ(reader.min_bytes_needed(), 0U);
    const GgufHeader header = reader.take();
    EXPECT_EQ(header.version, version);
    EXPECT_EQ(header.is_big_endian, is_big_endian);
    expect_small_model(header, writer.bytes().size());
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, GgufForms,
                         ::testing::Values(std::pair(2U, false), std::pair(3U, false),
                                           std::pair(3U, true)));

ErrorCode code_of(const std::string& bytes, const GgufLimits& limits = {}) {
  const auto header = read_gguf_header(bytes, limits);
  return header ? ErrorCode::api_internal : header.error().front().code;
}

uint64_t argument(const Diagnostic& diagnostic, std::string_view name) {
  for (const ErrorArg& arg : diagnostic.args) {
    if (arg.name == name) return std::get<uint64_t>(arg.value);
  }
  return UINT64_MAX;
}

TEST(GgufReader, EveryCutIsAskedToGoOn) {
  const GgufWriter writer = small_model();
  for (size_t length = 0; length < writer.bytes().size(); ++length) {
    const auto header = read_gguf_header(writer.bytes().substr(0, length));
    ASSERT_FALSE(header) << length;
    EXPECT_EQ(header.error().front().code, ErrorCode::gguf_header_incomplete) << length;
    const uint64_t missing = argument(header.error().front(), "missing");
    EXPECT_GE(missing, 1U) << length;
    EXPECT_LE(missing, writer.bytes().size() - length) << length;
  }
}

TEST(GgufReader, BytesOfTheDataAreIgnored) {
  EXPECT_TRUE(read_gguf_header(small_model().bytes() + std::string(4096, '\xFF')));
}

TEST(GgufReader, NamesEachMistakeInTheBeginning) {
  EXPECT_EQ(code_of("GGML" + std::string(100, '\0')), ErrorCode::gguf_bad_magic);
  EXPECT_EQ(code_of("<htm"), ErrorCode::gguf_bad_magic);
  EXPECT_EQ(code_of(GgufWriter(0, 0, 1).bytes()), ErrorCode::gguf_version_1);
  EXPECT_EQ(code_of(GgufWriter(0, 0, 4).bytes()), ErrorCode::gguf_unknown_version);
  EXPECT_EQ(code_of(GgufWriter(0, 0, 0).bytes()), ErrorCode::gguf_unknown_version);
  EXPECT_EQ(code_of(GgufWriter(0, 0, 4, true).bytes()), ErrorCode::gguf_unknown_version);
  EXPECT_EQ(code_of(GgufWriter(300'000, 0).bytes()), ErrorCode::gguf_too_many);
  EXPECT_EQ(code_of(GgufWriter(0, 70'000).bytes()), ErrorCode::gguf_too_many);
}

TEST(GgufReader, NamesEachMistakeInTheEntries) {
  const auto one = [] { return GgufWriter(0, 1); };
  EXPECT_EQ(code_of(one().key("", GgufType::u8).number(0, 1).bytes()),
            ErrorCode::gguf_bad_name_length);
  EXPECT_EQ(code_of(one().u64(1025).bytes()), ErrorCode::gguf_bad_name_length);
  EXPECT_EQ(code_of(one().key("a\nb", GgufType::u8).bytes()), ErrorCode::gguf_bad_name);
  EXPECT_EQ(code_of(one().text("a").u32(13).bytes()), ErrorCode::gguf_unknown_value_type);
  EXPECT_EQ(code_of(one().key("a", GgufType::array).u32(13).u64(1).bytes()),
            ErrorCode::gguf_unknown_value_type);
  EXPECT_EQ(code_of(one().key("a", GgufType::string).u64(UINT64_MAX).bytes()),
            ErrorCode::gguf_header_too_large);
  EXPECT_EQ(code_of(one().key("a", GgufType::array).u32(12).u64(UINT64_MAX / 4).bytes()),
            ErrorCode::gguf_header_too_large);
  EXPECT_EQ(code_of(one().key("a", GgufType::array).u32(8).u64(UINT64_MAX).bytes()),
            ErrorCode::gguf_too_many);
  EXPECT_EQ(code_of(GgufWriter(0, 2).u32_key("a", 1).u32_key("a", 1).bytes()),
            ErrorCode::gguf_duplicate_key);
}

TEST(GgufReader, ListsInListsArePassedOverToADepth) {
  const auto nested = [](int depth) {
    GgufWriter writer(0, 2);
    writer.key("nested", GgufType::array);
    for (int i = 0; i < depth; ++i)
      writer.u32(static_cast<uint32_t>(GgufType::array)).u64(1);
    writer.u32(static_cast<uint32_t>(GgufType::u16)).u64(3).number(1, 2).number(2, 2).number(3, 2);
    writer.u32_key("after", 5);
    return writer.bytes();
  };
  for (int depth = 1; depth <= 4; ++depth) {
    const auto header = read_gguf_header(nested(depth));
    ASSERT_TRUE(header) << depth;
    EXPECT_EQ(header->u64("after"), 5U);
  }
  // An outer list of one element is closed before its element is entered, so depth is reached only
  // where each level has more than one.
  GgufWriter deep(0, 1);
  deep.key("deep", GgufType::array);
  for (int i = 0; i < 6; ++i)
    deep.u32(static_cast<uint32_t>(GgufType::array)).u64(2);
  EXPECT_EQ(code_of(deep.bytes()), ErrorCode::gguf_too_deep);
}

TEST(GgufReader, NamesEachMistakeInTheTensors) {
  const auto one = [](const std::vector<uint64_t>& dims, uint32_t type, uint64_t offset = 0) {
    return GgufWriter(1, 0).tensor("t", dims, type, offset).bytes();
  };
  EXPECT_EQ(code_of(one({1, 1, 1, 1, 1}, kF32)), ErrorCode::gguf_too_many_dims);
  EXPECT_EQ(code_of(one({uint64_t{1} << 32, uint64_t{1} << 32}, kF32)),
            ErrorCode::gguf_size_overflow);
  EXPECT_EQ(code_of(one({uint64_t{1} << 52}, kF32)), ErrorCode::gguf_size_overflow);
  EXPECT_EQ(code_of(one({UINT64_MAX}, kF32)), ErrorCode::gguf_size_overflow);
  EXPECT_EQ(code_of(one({32, 0}, kF32)), ErrorCode::gguf_empty_tensor);
  EXPECT_EQ(code_of(one({32}, 4)), ErrorCode::gguf_unknown_tensor_type);
  EXPECT_EQ(code_of(one({32}, 31)), ErrorCode::gguf_unknown_tensor_type);
  EXPECT_EQ(code_of(one({128}, kQ4K)), ErrorCode::gguf_row_not_divisible);
  EXPECT_EQ(code_of(one({32}, kF32, 32)), ErrorCode::gguf_bad_offset);
  EXPECT_EQ(code_of(GgufWriter(2, 0).tensor("t", {8}, kF32, 0).tensor("t", {8}, kF32, 32).bytes()),
            ErrorCode::gguf_duplicate_tensor);
}

TEST(GgufReader, MistakesSayAtWhichByte) {
  // 24 bytes of beginning, one entry of 8 + 1 + 4 + 4 bytes, then the second of the same name.
  const auto twice = read_gguf_header(GgufWriter(0, 2).u32_key("a", 1).u32_key("a", 1).bytes());
  EXPECT_EQ(argument(twice.error().front(), "byte"), 24U + 17U);
  const auto tensor =
      read_gguf_header(GgufWriter(1, 1).u32_key("a", 1).tensor("t", {3}, 4, 0).bytes());
  EXPECT_EQ(argument(tensor.error().front(), "byte"), 24U + 17U);
}

TEST(GgufReader, AlignmentPlacesTheData) {
  const auto aligned = [](uint64_t alignment, uint64_t second) {
    return GgufWriter(2, 1)
        .u32_key("general.alignment", alignment)
        .tensor("a", {1}, kF32, 0)
        .tensor("b", {1}, kF32, second)
        .bytes();
  };
  const auto header = read_gguf_header(aligned(256, 256));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->data_offset % 256, 0U);
  EXPECT_EQ(header->data_bytes, 512U);
  EXPECT_EQ(code_of(aligned(256, 32)), ErrorCode::gguf_bad_offset);
  for (const uint64_t wrong : {0U, 3U, 48U, 0x80000000U})
    EXPECT_EQ(code_of(aligned(wrong, 32)), ErrorCode::gguf_bad_alignment) << wrong;
}

TEST(GgufReader, LimitsAreKept) {
  GgufLimits limits;
  limits.max_header_bytes = 100;
  EXPECT_EQ(code_of(small_model().bytes(), limits), ErrorCode::gguf_header_too_large);
  limits = {};
  limits.max_kept_string_bytes = 4;
  limits.max_kept_array_bytes = 7;
  const auto header = read_gguf_header(small_model().bytes(), limits);
  ASSERT_TRUE(header);
  EXPECT_FALSE(header->text("general.architecture").has_value());
  EXPECT_FALSE(std::get<GgufArray>(*header->find("llama.list")).is_kept);
}

TEST(GgufReader, TextIsAlwaysUtf8) {
  const auto read = [](std::string_view text) {
    return std::string(*read_gguf_header(GgufWriter(0, 1).text_key("general.name", text).bytes())
                            ->text("general.name"));
  };
  EXPECT_EQ(read("caf\xC3\xA9 \xE6\xA8\xA1 \xF0\x9F\x98\x80"),
            "caf\xC3\xA9 \xE6\xA8\xA1 \xF0\x9F\x98\x80");
  EXPECT_EQ(read("a\xFF\xC3z\xC0\xAF\xED\xA0\x80"), "a??z?????");
}

/// Files of a split: each lists its own tensors, the data of each beginning at 0.
GgufHeader shard(uint64_t index, uint64_t count, uint64_t total, std::string_view tensor) {
  GgufWriter writer(1, index == 0 ? 4 : 3);
  writer.key("split.no", GgufType::u16).number(index, 2);
  writer.key("split.count", GgufType::u16).number(count, 2);
  writer.key("split.tensors.count", GgufType::i32).u32(total);
  if (index == 0) writer.text_key("general.architecture", "llama");
  writer.tensor(tensor, {8}, kF32, 0);
  return read_gguf_header(writer.bytes()).value();
}

ErrorCode merge_code(std::vector<GgufHeader> headers) {
  const auto merged = merge_gguf_headers(std::move(headers));
  return merged ? ErrorCode::api_internal : merged.error().front().code;
}

TEST(GgufShards, AreMergedInAnyOrder) {
  const auto merged =
      merge_gguf_headers({shard(2, 3, 3, "c"), shard(0, 3, 3, "a"), shard(1, 3, 3, "b")});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->text("general.architecture"), "llama");
  ASSERT_EQ(merged->tensors.size(), 3U);
  EXPECT_EQ(merged->tensors[2].name, "c");
  EXPECT_EQ(merged->tensors[2].shard, 2U);
  EXPECT_EQ(merged->data_bytes, 96U);
  EXPECT_FALSE(merged->split);
}

TEST(GgufShards, MustBeCompleteAndOfOneModel) {
  EXPECT_EQ(merge_code({}), ErrorCode::gguf_shard_missing);
  EXPECT_EQ(merge_code({shard(0, 2, 2, "a")}), ErrorCode::gguf_shard_missing);
  EXPECT_EQ(merge_code({shard(1, 2, 2, "a")}), ErrorCode::gguf_shard_missing);
  EXPECT_EQ(merge_code({shard(0, 2, 2, "a"), shard(0, 2, 2, "a")}), ErrorCode::gguf_shard_conflict);
  EXPECT_EQ(merge_code({shard(0, 2, 2, "a"), shard(1, 3, 2, "b")}), ErrorCode::gguf_shard_conflict);
  EXPECT_EQ(merge_code({shard(0, 2, 2, "a"), shard(1, 2, 2, "a")}), ErrorCode::gguf_shard_conflict);
  EXPECT_EQ(merge_code({shard(0, 2, 3, "a"), shard(1, 2, 3, "b")}), ErrorCode::gguf_shard_conflict);
  const GgufHeader whole = read_gguf_header(small_model().bytes()).value();
  EXPECT_EQ(merge_code({whole, shard(1, 2, 2, "b")}), ErrorCode::gguf_shard_conflict);
  EXPECT_EQ(merge_code({whole}), ErrorCode::api_internal) << "a model in one file is not split";
}

TEST(GgufLength, DataMustFitTheFile) {
  const GgufHeader header = read_gguf_header(small_model().bytes()).value();
  const uint64_t needed = header.data_offset + 576 + 20;
  EXPECT_TRUE(check_gguf_length(header, needed).empty());
  ASSERT_EQ(check_gguf_length(header, needed - 1).size(), 1U);
  EXPECT_EQ(check_gguf_length(header, needed - 1).front().code, ErrorCode::gguf_file_too_short);
}

}  // namespace
}  // namespace vramgauge
