#include "import/catalogue.h"

#include <gtest/gtest.h>

namespace vramgauge {
namespace {

Catalogue small_catalogue() {
  Catalogue catalogue;
  const char* document = R"({
    "model_index": [
      {"id": "a/Llama-3.3-70B-Instruct", "name": "Llama 3.3 70B Instruct", "family": "Llama 3.3", "aliases": ["llama 70b"]},
      {"id": "a/Llama-3.1-70B", "name": "Llama 3.1 70B", "family": "Llama 3.1", "aliases": []},
      {"id": "q/Qwen3-30B-A3B", "name": "Qwen3 30B A3B", "family": "Qwen3", "aliases": []}],
    "gpus": [{"id": "h100", "name": "H100", "total_bytes": 85520809984, "usable_bytes": 85019590656}]})";
  EXPECT_TRUE(catalogue.merge(*json::parse(document)).empty());
  return catalogue;
}

std::string first_found(const Catalogue& catalogue, std::string_view query) {
  const auto found = catalogue.models().search(query);
  return found.empty() ? "" : found.front()->id;
}

TEST(Catalogue, FindsByIdNameAndAliasWhateverTheCase) {
  const Catalogue catalogue = small_catalogue();
  for (const char* text : {"a/Llama-3.3-70B-Instruct", "LLAMA 3.3 70B INSTRUCT", "llama-70b"}) {
    ASSERT_NE(catalogue.models().find(text), nullptr) << text;
    EXPECT_EQ(catalogue.models().find(text)->id, "a/Llama-3.3-70B-Instruct");
  }
  EXPECT_EQ(catalogue.models().find("llama"), nullptr);
}

TEST(Catalogue, SearchesByWords) {
  const Catalogue catalogue = small_catalogue();
  EXPECT_EQ(first_found(catalogue, "llama 3.3 70b"), "a/Llama-3.3-70B-Instruct");
  EXPECT_EQ(first_found(catalogue, "qwen3-30b-a3b"), "q/Qwen3-30B-A3B");
  EXPECT_EQ(first_found(catalogue, "3.1"), "a/Llama-3.1-70B");
  EXPECT_EQ(first_found(catalogue, "mistral"), "");
  EXPECT_EQ(catalogue.models().search("").size(), 3U);
}

TEST(Catalogue, MergesFactsIntoTheIndex) {
  Catalogue catalogue = small_catalogue();
  EXPECT_EQ(catalogue.model_facts("q/Qwen3-30B-A3B"), nullptr);
  EXPECT_TRUE(
      catalogue.merge(*json::parse(R"({"models": [{"id": "q/Qwen3-30B-A3B", "config": {}}]})"))
          .empty());
  EXPECT_NE(catalogue.model_facts("q/Qwen3-30B-A3B"), nullptr);
  EXPECT_EQ(catalogue.models().entries().size(), 3U);
}

TEST(Catalogue, AnUnsoundDocumentChangesNothing) {
  Catalogue catalogue = small_catalogue();
  for (const char* document :
       {"[]", R"({"gpus": 7})", R"({"gpus": [7]})", R"({"gpus": [{"id": "x"}]})",
        R"({"gpus": [{"id": "y", "usable_bytes": 1}, {"name": "no id"}]})",
        R"({"cache_types": [{"id": "z", "name": "z"}]})"}) {
    EXPECT_FALSE(catalogue.merge(*json::parse(document)).empty()) << document;
    EXPECT_EQ(catalogue.gpus().entries().size(), 1U) << document;
  }
}

}  // namespace
}  // namespace vramgauge
