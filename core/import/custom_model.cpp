#include "import/custom_model.h"

namespace vramgauge {
namespace {

constexpr uint64_t kMaxDimension = uint64_t{1} << 24;
constexpr uint64_t kMaxLayers = 10'000;
constexpr uint64_t kMaxParameters = uint64_t{1} << 50;
constexpr json::Range kDimension = {1, kMaxDimension};

class Description {
 public:
  explicit Description(const json::Value& value) : reader_(value, "", errors_) {}

  Result<ImportedModel> read() {
    reader_.ignore("model_type");
    ModelSpec spec;
    spec.model_type = std::string(kCustomModelType);
    spec.name = reader_.string("name").value_or("Custom model");
    spec.dtype = reader_.string("dtype").value_or("bfloat16");
    spec.num_parameters = reader_.u64("num_parameters", {1, kMaxParameters});
    spec.hidden_size = dimension_or("hidden_size", 0);
    spec.vocab_size = dimension_or("vocab_size", 0);
    spec.max_context_tokens =
        reader_.u64("max_position_embeddings", {1, 1'000'000'000}).value_or(0);
    spec.tie_word_embeddings = reader_.boolean("tie_word_embeddings").value_or(false);
    spec.layers.assign(static_cast<std::vector<Layer>::size_type>(num_layers()), layer(spec));
    check_weights(spec);
    report_unread_keys();
    if (!errors_.empty()) return fail(std::move(errors_));
    return ImportedModel{std::move(spec), {}};
  }

 private:
  uint64_t dimension_or(std::string_view key, uint64_t fallback) {
    return reader_.u64(key, kDimension).value_or(fallback);
  }

  uint64_t required(std::string_view key) {
    if (!reader_.has(key)) reader_.error(ErrorCode::json_missing_key, key, {{"key", key}});
    return dimension_or(key, 1);
  }

  uint64_t num_layers() {
    if (!reader_.has("num_hidden_layers")) {
      reader_.error(ErrorCode::json_missing_key, "num_hidden_layers",
                    {{"key", "num_hidden_layers"}});
    }
    return reader_.u64("num_hidden_layers", {1, kMaxLayers}).value_or(1);
  }

  Layer layer(const ModelSpec& spec) {
    Layer layer;
    layer.mixers.push_back(reader_.has("kv_lora_rank") ? Mixer(latent()) : Mixer(attention(spec)));
    if (const uint64_t width = dimension_or("intermediate_size", 0)) layer.ffn = DenseFfn{width};
    layer.norms = {spec.hidden_size, spec.hidden_size};
    return layer;
  }

  Attention attention(const ModelSpec& spec) {
    Attention attention;
    attention.num_heads =
        dimension_or("num_attention_heads", dimension_or("num_key_value_heads", 0));
    attention.num_kv_heads = dimension_or("num_key_value_heads", attention.num_heads);
    attention.head_dim = head_dim(spec, attention.num_heads);
    attention.v_head_dim = dimension_or("v_head_dim", attention.head_dim);
    attention.window_tokens = dimension_or("sliding_window", 0);
    if (attention.num_kv_heads == 0) required("num_key_value_heads");
    if (attention.num_kv_heads != 0 && attention.num_heads % attention.num_kv_heads != 0) {
      reader_.error(ErrorCode::model_heads_not_divisible, "num_key_value_heads",
                    {{"heads", attention.num_heads}, {"kv_heads", attention.num_kv_heads}});
    }
    return attention;
  }

  uint64_t head_dim(const ModelSpec& spec, uint64_t num_heads) {
    if (reader_.has("head_dim") || spec.hidden_size == 0 || num_heads == 0)
      return required("head_dim");
    return spec.hidden_size / num_heads;
  }

  LatentAttention latent() {
    LatentAttention latent;
    latent.num_heads = dimension_or("num_attention_heads", 1);
    reader_.ignore("num_key_value_heads");
    latent.q_lora_rank = dimension_or("q_lora_rank", 0);
    latent.kv_lora_rank = required("kv_lora_rank");
    latent.qk_rope_head_dim = required("qk_rope_head_dim");
    latent.qk_nope_head_dim = dimension_or("qk_nope_head_dim", 128);
    latent.v_head_dim = dimension_or("v_head_dim", 128);
    return latent;
  }

  /// Without a parameter count every dimension that weights depend on is needed.
  void check_weights(const ModelSpec& spec) {
    if (spec.num_parameters) return;
    for (const std::string_view key :
         {"hidden_size", "intermediate_size", "vocab_size", "num_attention_heads"}) {
      required(key);
    }
  }

  void report_unread_keys() {
    for (const std::string& key : reader_.unread_keys()) {
      reader_.error(ErrorCode::model_unknown_structural_key, key, {{"key", key}});
    }
  }

  Diagnostics errors_;
  json::ObjectReader reader_;
};

}  // namespace

Result<ImportedModel> import_custom_model(const json::Value& description) {
  return Description(description).read();
}

}  // namespace vramgauge
