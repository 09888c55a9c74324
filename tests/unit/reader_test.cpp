// The reader's envelopes: what is wanted, what a model comes to, what is refused.
#include "api/reader.h"

#include <gtest/gtest.h>

#include "support/small_models.h"
#include "units/json.h"

namespace vramgauge {
namespace {

using testing::MemoryFile;

json::Value parsed(const std::string& envelope) { return json::parse(envelope).value(); }

const json::Value& at(const json::Value& value, std::initializer_list<std::string_view> keys) {
  static const json::Value kNull;
  const json::Value* found = &value;
  for (const std::string_view key : keys) {
    if (found != nullptr) found = found->find(key);
  }
  return found == nullptr ? kNull : *found;
}

uint64_t count_at(const json::Value& value, std::initializer_list<std::string_view> keys) {
  return at(value, keys).as_u64().value_or(UINT64_MAX);
}

std::string first_code(const json::Value& envelope, std::string_view list) {
  const json::Value::Array* items = at(envelope, {list}).as_array();
  if (items == nullptr || items->empty()) return {};
  return *at(items->front(), {"code"}).as_string();
}

/// Serves what is wanted until nothing is.
json::Value read(api::Reader& reader, const std::vector<MemoryFile>& files,
                 const std::string& name = {}) {
  json::Value list = json::Value::array();
  for (const MemoryFile& file : files) {
    json::Value item = json::Value::object();
    item.set("name", file.name);
    item.set("size_bytes", uint64_t{file.bytes.size()});
    list.push(std::move(item));
  }
  json::Value request = json::Value::object();
  request.set("files", std::move(list));
  request.set("name", name);
  json::Value answer = parsed(reader.open(json::write(request)));
  for (;;) {
    const json::Value::Array* wanted = at(answer, {"result", "wanted"}).as_array();
    if (wanted == nullptr || wanted->empty()) return parsed(reader.finish());
    const json::Value range = wanted->front();
    const uint64_t file = count_at(range, {"file"});
    const uint64_t offset = count_at(range, {"offset_bytes"});
    const std::string_view bytes = files[static_cast<size_t>(file)].bytes;
    answer =
        parsed(reader.feed(file, offset,
                           bytes.substr(static_cast<size_t>(offset),
                                        static_cast<size_t>(count_at(range, {"length_bytes"})))));
  }
}

TEST(Reader, SaysWhatAModelIsAndHowToUseIt) {
  api::Reader reader;
  const json::Value answer = read(reader, {{"small.gguf", testing::small_gguf()}}, "A name");
  EXPECT_EQ(count_at(answer, {"result", "stored", "total_bytes"}),
            testing::small_gguf_tensor_bytes());
  // Three outside the layers, nine in each of two.
  EXPECT_EQ(count_at(answer, {"result", "stored", "num_tensors"}), 21U);
  EXPECT_EQ(*at(answer, {"result", "name"}).as_string(), "A name");
  EXPECT_EQ(*at(answer, {"result", "scenario_patch", "weight_format"}).as_string(), "auto");
  const json::Value spec =
      parsed(*at(answer, {"result", "scenario_patch", "model_config"}).as_string());
  EXPECT_EQ(*at(spec, {"model_type"}).as_string(), "spec");
}

TEST(Reader, TheSameReaderReadsAnother) {
  api::Reader reader;
  read(reader, {{"small.gguf", testing::small_gguf()}});
  const json::Value answer = read(reader, {{"config.json", testing::small_config()}});
  EXPECT_TRUE(at(answer, {"result", "stored"}).is_null());
  EXPECT_EQ(count_at(answer, {"result", "num_layers"}), 2U);
  EXPECT_EQ(first_code(parsed(reader.finish()), "errors"), "import.nothing");
}

TEST(Reader, ATotalThatTheTensorsExplainIsNotAMystery) {
  api::Reader reader;
  const std::string index = testing::small_index(2);
  const json::Value agreeing = read(
      reader, {{"config.json", testing::small_config()}, {"model.safetensors.index.json", index}});
  EXPECT_EQ(count_at(agreeing, {"result", "stored", "total_bytes"}),
            testing::small_safetensors_bytes());
  EXPECT_EQ(first_code(agreeing, "warnings"), "");
  std::string other = index;
  const std::string total = std::to_string(testing::small_safetensors_bytes());
  other.replace(other.find(total), total.size(), "999999");
  const json::Value disagreeing = read(
      reader, {{"config.json", testing::small_config()}, {"model.safetensors.index.json", other}});
  EXPECT_EQ(count_at(disagreeing, {"result", "stored", "total_bytes"}), 999'999U);
  EXPECT_EQ(first_code(disagreeing, "warnings"), "import.total_only");
}

TEST(Reader, RequestsAreChecked) {
  api::Reader reader;
  const auto code = [&](const char* request) {
    return first_code(parsed(reader.open(request)), "errors");
  };
  EXPECT_EQ(code(""), "json.empty");
  EXPECT_EQ(code("{}"), "json.missing_key");
  EXPECT_EQ(code(R"({"files":1})"), "json.wrong_type");
  EXPECT_EQ(code(R"({"files":[1]})"), "json.wrong_type");
  EXPECT_EQ(code(R"({"files":[{"name":"a","size":1}]})"), "api.unknown_key");
  EXPECT_EQ(code(R"({"files":[],"more":1})"), "api.unknown_key");
  EXPECT_EQ(code(R"({"files":[{"name":"a","size_bytes":-1}]})"), "value.out_of_range");
  EXPECT_EQ(first_code(parsed(reader.feed(0, 0, "x")), "errors"), "import.not_wanted");
  EXPECT_EQ(first_code(parsed(reader.set_size(7, 1)), "errors"), "import.not_wanted");
  EXPECT_EQ(first_code(parsed(reader.load_catalogue("{")), "errors"), "json.syntax");
}

TEST(Reader, ErrorsOfAFileAreSaidAtOnce) {
  api::Reader reader;
  reader.open(R"({"files":[{"name":"m.gguf"},{"name":"config.json"}]})");
  const json::Value answer = parsed(reader.feed(0, 0, "<!doctype html><html>"));
  EXPECT_EQ(first_code(answer, "errors"), "gguf.bad_magic");
  EXPECT_EQ(*at(at(answer, {"errors"}).as_array()->front(), {"path"}).as_string(), "/m.gguf");
  EXPECT_EQ(first_code(parsed(reader.finish()), "errors"), "gguf.bad_magic");
}

}  // namespace
}  // namespace vramgauge
