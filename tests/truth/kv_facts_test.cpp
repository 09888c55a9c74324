// Cache sizes against facts that others took from the published configurations, computed here anew
// from those facts. Reference: tests/data/kv_facts.json, its formulas spelled out below.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/cache_bytes.h"
#include "models.h"

namespace vramgauge {
namespace {

using namespace test;

constexpr uint64_t kTokens = 131'072;
constexpr uint64_t kElementBytes = 2;

/// Facts without a configuration here. They are not compared.
constexpr std::string_view kWithoutPreset[] = {"cohere-command-a-plus-05-2026",
                                               "kimi-k2.6",
                                               "mimo-v2.5",
                                               "mimo-v2.5-pro",
                                               "minimax-m2.1",
                                               "qwen3.5-122b-a10b"};

/// One model's facts by name.
class Facts {
 public:
  explicit Facts(const json::Value& model) : fields_(*model.find("fields")) {}

  bool has(std::string_view key) const { return fields_.find(key) != nullptr; }
  uint64_t operator[](std::string_view key) const {
    const json::Value* value = fields_.find(key);
    if (value == nullptr) throw std::runtime_error("no fact " + std::string(key));
    return value->as_u64().value();
  }
  uint64_t either(std::string_view key, std::string_view other) const {
    return has(key) ? (*this)[key] : (*this)[other];
  }
  std::vector<uint64_t> list(std::string_view key) const {
    std::vector<uint64_t> values;
    for (const json::Value& item : *fields_.find(key)->as_array())
      values.push_back(item.as_u64().value());
    return values;
  }

 private:
  const json::Value& fields_;
};

uint64_t grouped(const Facts& facts) {
  return kTokens * facts["num_hidden_layers"] * 2 * facts["num_key_value_heads"] *
         facts["head_dim"];
}

uint64_t latent(const Facts& facts) {
  return kTokens * facts["num_hidden_layers"] * (facts["kv_lora_rank"] + facts["qk_rope_head_dim"]);
}

/// Index keys are kept only by layers that compute scores of their own.
uint64_t latent_with_indexer(const Facts& facts) {
  return latent(facts) + kTokens * facts.either("indexer_full_layers", "num_hidden_layers") *
                             facts["index_head_dim"];
}

uint64_t hybrid(const Facts& facts) {
  return kTokens * facts["full_attention_layers"] * 2 * facts["num_key_value_heads"] *
         facts["head_dim"];
}

uint64_t full_and_sliding(const Facts& facts) {
  const uint64_t full_k = facts.either("global_head_dim", "head_dim");
  const uint64_t full_v = facts.has("v_head_dim") ? facts["v_head_dim"] : full_k;
  const uint64_t full_heads = facts.either("num_global_key_value_heads", "num_key_value_heads");
  const uint64_t sliding_k = facts.either("swa_head_dim", "head_dim");
  const uint64_t sliding_v = facts.has("swa_v_head_dim") ? facts["swa_v_head_dim"] : sliding_k;
  const uint64_t sliding_heads = facts.either("swa_num_key_value_heads", "num_key_value_heads");
  const uint64_t window = std::min(kTokens, facts["sliding_window"]);
  return kTokens * facts["full_attention_layers"] * full_heads * (full_k + full_v) +
         window * facts["sliding_attention_layers"] * sliding_heads * (sliding_k + sliding_v);
}

uint64_t sparse_blocks(const Facts& facts) {
  return grouped(facts) + kTokens * facts["sparse_attention_layers"] * facts["index_head_dim"];
}

uint64_t compressed(const Facts& facts) {
  std::vector<uint64_t> ratios = facts.list("compress_ratios");
  ratios.resize(static_cast<std::vector<uint64_t>::size_type>(facts["num_hidden_layers"]));
  uint64_t elements = 0;
  for (const uint64_t ratio : ratios) {
    elements += facts["sliding_window"] * facts["head_dim"];
    if (ratio != 0) elements += kTokens / ratio * facts["head_dim"];
    if (ratio == 4) elements += kTokens / ratio * facts["index_head_dim"];
  }
  return elements;
}

/// Elements that grow with tokens, for one request of kTokens.
uint64_t elements_of(std::string_view formula, const Facts& facts) {
  if (formula == "standard_gqa") return grouped(facts);
  if (formula == "mla") return latent(facts);
  if (formula == "dsa_mla") return latent_with_indexer(facts);
  if (formula == "qwen_linear_full_hybrid") return hybrid(facts);
  if (formula == "mixed_full_sliding_gqa") return full_and_sliding(facts);
  if (formula == "minimax_msa") return sparse_blocks(facts);
  if (formula == "deepseek_v4_hybrid") return compressed(facts);
  throw std::runtime_error("unknown formula " + std::string(formula));
}

/// The hub's name in the source's address: "https://huggingface.co/ORG/NAME/raw/main/config.json".
std::string slug_of(const json::Value& model) {
  constexpr std::string_view kHost = "https://huggingface.co/";
  std::string name = model.find("source_url")->as_string()->substr(kHost.size());
  name.resize(name.find("/raw/"));
  return name.replace(name.find('/'), 1, "__");
}

/// The preset of that model; of Gemma 4 only the instruction-tuned sibling, of the same shape, is
/// there.
std::optional<ModelSpec> model_of(const json::Value& facts) {
  const std::string slug = slug_of(facts);
  auto spec = preset_model(slug);
  return spec ? spec : preset_model(slug + "-it");
}

const json::Value& facts_document() {
  static const json::Value document = read_json(VRAMGAUGE_TEST_DIR "/data/kv_facts.json");
  return document;
}

CacheLayout fp16_layout(const ModelSpec& spec) {
  const CacheType fp16 = cache_type_named("fp16");
  auto layout = cache_layout(spec, fp16, fp16, 1);
  if (!layout) throw std::runtime_error(first_message(layout.error()));
  return std::move(*layout);
}

uint64_t growing_bytes(const CacheLayout& layout) {
  const CheckedU64 bytes = cache_bytes(layout, kTokens, Paging{}) - fixed_bytes_per_request(layout);
  return bytes.get().value();
}

bool is_without_preset(const std::string& id) {
  return std::find(std::begin(kWithoutPreset), std::end(kWithoutPreset), id) !=
         std::end(kWithoutPreset);
}

std::vector<const json::Value*> compared_models() {
  std::vector<const json::Value*> models;
  for (const json::Value& model : *facts_document().find("models")->as_array()) {
    if (!is_without_preset(*model.find("id")->as_string())) models.push_back(&model);
  }
  return models;
}

TEST(KvFacts, OnlyModelsWithoutAPresetAreLeftOut) {
  EXPECT_EQ(compared_models().size(), 46U);
  for (const json::Value& model : *facts_document().find("models")->as_array()) {
    const std::string& id = *model.find("id")->as_string();
    EXPECT_EQ(model_of(model).has_value(), !is_without_preset(id)) << id;
  }
}

TEST(KvFacts, GrowingBytesEqualTheFacts) {
  for (const json::Value* model : compared_models()) {
    const std::string& id = *model->find("id")->as_string();
    const auto spec = model_of(*model);
    ASSERT_TRUE(spec) << id;
    const uint64_t elements = elements_of(*model->find("formula")->as_string(), Facts(*model));
    EXPECT_EQ(growing_bytes(fp16_layout(*spec)), elements * kElementBytes) << id;
  }
}

TEST(KvFacts, StatesOfHybridsEqualTheFacts) {
  uint64_t hybrids = 0;
  for (const json::Value* model : compared_models()) {
    if (*model->find("formula")->as_string() != "qwen_linear_full_hybrid") continue;
    const Facts facts(*model);
    const uint64_t keys = facts["linear_num_key_heads"] * facts["linear_key_head_dim"];
    const uint64_t values = facts["linear_num_value_heads"] * facts["linear_value_head_dim"];
    const uint64_t conv = (facts["linear_conv_kernel_dim"] - 1) * (2 * keys + values);
    const uint64_t temporal = values * facts["linear_key_head_dim"];
    const uint64_t expected = facts["linear_attention_layers"] * (2 * conv + 4 * temporal);
    EXPECT_EQ(fixed_bytes_per_request(fp16_layout(*model_of(*model))).get(), expected)
        << slug_of(*model);
    ++hybrids;
  }
  EXPECT_EQ(hybrids, 9U);
}

}  // namespace
}  // namespace vramgauge
