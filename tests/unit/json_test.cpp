#include "units/json.h"
#include "units/json_pointer.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace vramgauge::json {
namespace {

Value parsed(std::string_view text) {
  Result<Value> result = parse(text);
  EXPECT_TRUE(result.has_value()) << text << ": " << message_of(result.error().front());
  return result.value_or(Value());
}

struct BadText {
  const char* name;
  std::string text;
  ErrorCode code;
  uint64_t line;
  uint64_t column;
};

class Refused : public ::testing::TestWithParam<BadText> {};

TEST_P(Refused, WithCodeAndPlace) {
  const Result<Value> result = parse(GetParam().text);
  ASSERT_FALSE(result.has_value());
  const Diagnostic& error = result.error().front();
  EXPECT_EQ(error.code, GetParam().code) << message_of(error);
  if (GetParam().line == 0) return;
  ASSERT_TRUE(error.at.has_value());
  EXPECT_EQ(error.at->line, GetParam().line);
  EXPECT_EQ(error.at->column, GetParam().column);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, Refused,
    ::testing::Values(
        BadText{"empty", "", ErrorCode::json_empty, 0, 0},
        BadText{"blank", " \n\t", ErrorCode::json_empty, 0, 0},
        BadText{"truncated", "{\"a\": [1, 2", ErrorCode::json_syntax, 0, 0},
        BadText{"bare_word", "{\n  \"a\": nope}", ErrorCode::json_syntax, 2, 9},
        BadText{"trailing_text", "{} x", ErrorCode::json_syntax, 1, 4},
        BadText{"duplicate", "{\"b\": 0,\n \"a\": {\"x\": 1, \"x\": 2}}",
                ErrorCode::json_duplicate_key, 2, 7},
        BadText{"deep", std::string(200000, '['), ErrorCode::json_too_deep, 1, 65},
        BadText{"deep_objects",
                [] {
                  std::string text;
                  for (int i = 0; i < 200000; ++i)
                    text += "{\"a\":";
                  return text;
                }(),
                ErrorCode::json_too_deep, 0, 0},
        BadText{"invalid_utf8", "{\"a\": \"\xC3\x28\"}", ErrorCode::json_syntax, 0, 0},
        BadText{"control_character", std::string("{\"a\": \"\0\"}", 10), ErrorCode::json_syntax, 0,
                0},
        BadText{"huge_exponent", "{\"a\": 1e999}", ErrorCode::json_syntax, 0, 0},
        BadText{"too_large", std::string((8U << 20) + 1U, ' '), ErrorCode::json_too_large, 0, 0}),
    [](const auto& test) { return test.param.name; });

TEST(Json, KeepsIntegersExact) {
  const Value value =
      parsed("[0, 9007199254740993, 18446744073709551615, -1, 1.5, 18446744073709551616]");
  const Value::Array& items = *value.as_array();
  EXPECT_EQ(items[1].as_u64(), uint64_t{9007199254740993});
  EXPECT_EQ(items[2].as_u64(), ~uint64_t{0});
  EXPECT_FALSE(items[3].as_u64().has_value());
  EXPECT_FALSE(items[4].as_u64().has_value());
  EXPECT_FALSE(items[5].as_u64().has_value()) << "2^64 is not a 64-bit integer";
}

TEST(Json, ReadsTheBareWordsOfPython) {
  const Value value =
      parsed("{\"a\": [0.0, Infinity], \"b\": -Infinity, \"c\": NaN, \"d\": \"Infinity NaN\"}");
  EXPECT_TRUE(std::isinf((*value.find("a")->as_array())[1].as_number()->real));
  EXPECT_LT(value.find("b")->as_number()->real, 0);
  EXPECT_TRUE(std::isnan(value.find("c")->as_number()->real));
  EXPECT_EQ(*value.find("d")->as_string(), "Infinity NaN");
}

TEST(Json, AnInfinitySignInAStringStaysAString) {
  EXPECT_NE(parsed("[\"\\u221E\"]").as_array()->front().as_string(), nullptr);
}

TEST(Json, ReadsAByteOrderMarkAndWindowsLines) {
  EXPECT_EQ(parsed("\xEF\xBB\xBF{\r\n\"a\": 1\r\n}").find("a")->as_u64(), 1U);
}

TEST(Json, RemembersWhereAValueStands) {
  const std::string text = "{\n  \"a\": 12,\n  \"b\": [1, \"x\"]\n}";
  const Value value = parsed(text);
  const TextPosition b = position_of(text, value.find("b")->offset());
  EXPECT_EQ(b.line, 3U);
  EXPECT_EQ(b.column, 8U);
  const TextPosition x = position_of(text, (*value.find("b")->as_array())[1].offset());
  EXPECT_EQ(x.column, 12U);
}

TEST(Json, WritesWhatItReads) {
  const std::string text = R"({"a":[1,-2,0.1,true,null,"q\"\\\n"],"b":{"c":18446744073709551615}})";
  EXPECT_EQ(write(parsed(text)), text);
}

TEST(Json, WritesValidUtf8WhateverTheStringHolds) {
  // U+00D7, U+4F60 and U+1F600 stay; a lone continuation, an overlong slash (C0 AF), a surrogate
  // (ED A0 80), a cut-off sequence and FF become U+FFFD, one for each byte (RFC 3629, section 3).
  const std::string good = "\xC3\x97\xE4\xBD\xA0\xF0\x9F\x98\x80";
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_TRUE(is_utf8(good));
  EXPECT_EQ(write(Value::string(good)), '"' + good + '"');
  for (const std::string bad : {"\x80", "\xC0\xAF", "\xED\xA0\x80", "\xE4\xBD", "\xFF",
                                "\xF4\x90\x80\x80", "\xE0\x80\x80"}) {
    EXPECT_FALSE(is_utf8(bad));
    std::string marks;
    for (std::string::size_type i = 0; i < bad.size(); ++i)
      marks += mark;
    EXPECT_EQ(write(Value::string("a" + bad + "b")), "\"a" + marks + "b\"");
  }
}

TEST(Json, PointersEscapeTheirTokens) { EXPECT_EQ(pointer_to("/a", "b/c~d"), "/a/b~1c~0d"); }

TEST(ObjectReader, ReportsTypeRangeAndUnreadKeys) {
  const Value value = parsed(
      R"({"n": "80", "m": 4096.0, "big": 18446744073709551616, "neg": -3, "ok": 7, "rest": 1, "none": null})");
  Diagnostics errors;
  ObjectReader reader(value, "", errors);
  EXPECT_FALSE(reader.u64("n").has_value());
  EXPECT_FALSE(reader.u64("m").has_value());
  EXPECT_FALSE(reader.u64("big").has_value());
  EXPECT_FALSE(reader.u64("neg").has_value());
  EXPECT_FALSE(reader.u64("none").has_value());
  EXPECT_FALSE(reader.u64("absent").has_value());
  EXPECT_EQ(reader.u64("ok"), 7U);
  ASSERT_EQ(errors.size(), 4U);
  EXPECT_EQ(errors[0].code, ErrorCode::json_wrong_type);
  EXPECT_EQ(errors[0].path, "/n");
  EXPECT_EQ(errors[1].code, ErrorCode::json_wrong_type);
  EXPECT_EQ(errors[2].code, ErrorCode::json_wrong_type);
  EXPECT_EQ(errors[3].code, ErrorCode::value_out_of_range);
  EXPECT_EQ(reader.unread_keys(), std::vector<std::string>{"rest"});
}

// RFC 6901, section 5.
TEST(JsonPointer, LeadsToAValue) {
  const Value value = parsed(R"({"foo": ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, "~1": 9})");
  EXPECT_EQ(value_at(value, ""), &value);
  EXPECT_EQ(*value_at(value, "/foo/1")->as_string(), "baz");
  EXPECT_EQ(value_at(value, "/")->as_u64(), 0U);
  EXPECT_EQ(value_at(value, "/a~1b")->as_u64(), 1U);
  EXPECT_EQ(value_at(value, "/m~0n")->as_u64(), 8U);
  EXPECT_EQ(value_at(value, "/~01")->as_u64(), 9U);
  EXPECT_EQ(value_at(value, pointer_to("", "a/b"))->as_u64(), 1U);
  for (const char* nowhere : {"/foo/2", "/foo/x", "/foo/0/0", "/absent", "/a/b"})
    EXPECT_EQ(value_at(value, nowhere), nullptr) << nowhere;
}

TEST(Errors, FillTheirTemplate) {
  const Diagnostic error{ErrorCode::model_heads_not_divisible,
                         "/num_key_value_heads",
                         {{"heads", uint64_t{64}}, {"kv_heads", uint64_t{7}}},
                         std::nullopt};
  EXPECT_EQ(message_of(error), "64 attention heads are not divisible by 7 KV heads.");
}

}  // namespace
}  // namespace vramgauge::json
