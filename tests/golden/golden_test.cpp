// Every file of cases/ is a request and what its answer must hold. The same files run here natively
// and as WebAssembly under Node, through the shipped module, and through the page.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/session.h"
#include "support/files.h"
#include "units/json.h"

namespace vramgauge {
namespace {

using testing::names_in;
using testing::read_file;

const std::string kCases = std::string(VRAMGAUGE_TEST_DIR) + "/golden/cases/";

api::Session& session() {
  static api::Session loaded;
  static const std::string envelope =
      loaded.load_catalogue(read_file(std::string(VRAMGAUGE_CATALOGUE_DIR) + "/all.json"));
  EXPECT_EQ(envelope.rfind("{\"ok\":true", 0), 0U) << envelope;
  return loaded;
}

/// The element of a list that an expected element means: the one with the same id, else the same
/// place.
const json::Value* counterpart(const json::Value::Array& actual, const json::Value& expected,
                               std::size_t index) {
  const json::Value* id = expected.find("id");
  for (const json::Value& item : actual) {
    const json::Value* other = item.find("id");
    if (id != nullptr && other != nullptr && json::write(*id) == json::write(*other)) return &item;
  }
  return id == nullptr && index < actual.size() ? &actual[index] : nullptr;
}

/// Everything expected must be there and equal; what the answer holds beyond that is not looked at.
void expect_holds(const json::Value* actual, const json::Value& expected, const std::string& path) {
  ASSERT_NE(actual, nullptr) << path << " is missing";
  if (const json::Value::Object* members = expected.as_object()) {
    for (const json::Member& member : *members)
      expect_holds(actual->find(member.key), member.value, path + "/" + member.key);
  } else if (const json::Value::Array* items = expected.as_array()) {
    ASSERT_NE(actual->as_array(), nullptr) << path;
    for (std::size_t i = 0; i < items->size(); ++i) {
      expect_holds(counterpart(*actual->as_array(), (*items)[i], i), (*items)[i],
                   path + "/" + std::to_string(i));
    }
  } else {
    EXPECT_EQ(json::write(*actual), json::write(expected)) << path;
  }
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, AnswersAsDerived) {
  const Result<json::Value> golden = json::parse(read_file(kCases + GetParam()));
  ASSERT_TRUE(golden.has_value());
  const json::Value* request = golden->find("request");
  ASSERT_NE(request, nullptr);
  const std::string answer =
      session().call(*request->find("method")->as_string(), json::write(*request->find("params")));
  const Result<json::Value> actual = json::parse(answer);
  ASSERT_TRUE(actual.has_value());
  expect_holds(&*actual, *golden->find("response"), "");
  if (HasFailure()) GTEST_LOG_(INFO) << answer.substr(0, 2000);
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, ::testing::ValuesIn(names_in(kCases, ".json")),
                         [](const auto& test) {
                           std::string name = test.param.substr(0, test.param.size() - 5);
                           for (char& c : name) {
                             if (c == '.' || c == '-') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace vramgauge
