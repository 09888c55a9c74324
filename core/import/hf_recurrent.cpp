// Families with recurrent or hybrid mixers: their table, and the purely recurrent ones.
#include <algorithm>
#include <iterator>

#include "import/hf_hybrid.h"

namespace vramgauge::hf {
namespace {

constexpr Traits kTiedTraits = [] {
  Traits traits;
  traits.tied = true;
  return traits;
}();

constexpr Traits kQwenDense = [] {
  Traits traits;
  traits.qk_norm = QkNorm::per_head_dim;
  traits.output_gate = true;
  return traits;
}();

constexpr Traits kQwenMoe = [] {
  Traits traits = kQwenDense;
  traits.is_moe = true;
  traits.moe.shared_gate = true;
  return traits;
}();

constexpr Traits kKimi = [] {
  Traits traits;
  traits.is_moe = true;
  traits.moe.correction_bias = {"", true};
  return traits;
}();

constexpr Traits kGranite = [] {
  Traits traits;
  traits.fused_gate_up = true;
  return traits;
}();

constexpr Traits kNemotron = [] {
  Traits traits;
  traits.norms = 1;
  traits.is_gated = false;
  traits.moe.is_gated = false;
  traits.moe.correction_bias = {"", true};
  return traits;
}();

constexpr Traits kMinimax = [] {
  Traits traits;
  traits.qkv_bias = {"", false};
  traits.o_bias = {"", false};
  traits.is_moe = true;
  return traits;
}();

constexpr Traits kLfm2 = [] {
  Traits traits;
  traits.tied = true;
  traits.qk_norm = QkNorm::per_head_dim;
  traits.moe.correction_bias = {"use_expert_bias", true};
  return traits;
}();

constexpr Traits kInkling = [] {
  Traits traits;
  traits.qk_norm = QkNorm::per_head_dim;
  traits.is_moe = true;
  traits.moe.correction_bias = {"", true};
  return traits;
}();

constexpr Traits kRwkv = [] {
  Traits traits;
  traits.norm_bias = true;
  traits.is_gated = false;
  return traits;
}();

/// LayerNorm with bias and biased projections everywhere (BART, Whisper).
constexpr Traits kBart = [] {
  Traits traits;
  traits.norms = 3;
  traits.norm_bias = true;
  traits.tied = true;
  traits.is_gated = false;
  return traits;
}();

constexpr Traits kT5 = [] {
  Traits traits;
  traits.norms = 3;
  traits.tied = true;
  return traits;
}();

constexpr Traits kPlain{};

constexpr Family kFamilies[] = {
    {"mamba", kTiedTraits, build_mamba1},
    {"falcon_mamba", kTiedTraits, build_mamba1},
    {"mamba2", kPlain, build_mamba2},
    {"recurrent_gemma", kTiedTraits, build_recurrent_gemma},
    {"rwkv", kRwkv, build_rwkv4},
    {"rwkv5", kRwkv, build_rwkv5},
    {"rwkv6", kRwkv, build_rwkv6},
    {"rwkv7", kRwkv, build_rwkv7},
    {"jamba", kPlain, build_jamba},
    {"bamba", kPlain, build_bamba},
    {"falcon_h1", kPlain, build_falcon_h1},
    {"granitemoehybrid", kGranite, build_granite_hybrid},
    {"nemotron_h", kNemotron, build_nemotron_h},
    {"qwen3_next", kQwenMoe, build_qwen_hybrid},
    {"qwen3_5", kQwenDense, build_qwen_hybrid},
    {"qwen3_5_text", kQwenDense, build_qwen_hybrid},
    {"qwen3_5_moe", kQwenMoe, build_qwen_hybrid},
    {"qwen3_5_moe_text", kQwenMoe, build_qwen_hybrid},
    {"kimi_linear", kKimi, build_kimi_linear},
    {"kimi_k3", kKimi, build_kimi_linear},
    {"minimax", kMinimax, build_minimax},
    {"minimax_text_01", kMinimax, build_minimax},
    {"minimax_m1", kMinimax, build_minimax},
    {"lfm2", kLfm2, build_lfm2},
    {"lfm2_moe", kLfm2, build_lfm2},
    {"inkling_text", kInkling, build_inkling},
    {"mllama_text_model", kPlain, build_mllama},
    {"t5", kT5, build_t5},
    {"mt5", kT5, build_t5},
    {"umt5", kT5, build_t5},
    {"bart", kBart, build_bart},
    {"mbart", kBart, build_bart},
    {"plbart", kBart, build_bart},
    {"m2m_100", kBart, build_bart},
    {"pegasus", kBart, build_bart},
    {"blenderbot", kBart, build_bart},
    {"blenderbot-small", kBart, build_bart},
    {"marian", kBart, build_bart},
    {"whisper", kBart, build_whisper},
    {"zamba", kPlain, build_zamba},
    {"zamba2", kPlain, build_zamba},
};

constexpr std::string_view kSizelessKeys[] = {
    "chunk_size",
    "mamba_chunk_size",
    "mamba_expand",
    "expand",
    "residual_in_fp32",
    "rescale_prenorm_residual",
    "mamba_ssm_cache_dtype",
    "mamba_ssm_dtype",
    "use_mamba_kernels",
    "mamba_hidden_act",
    "mlp_hidden_act",
    "num_logits_to_keep",
    "time_step_floor",
    "time_step_limit",
    "time_step_max",
    "time_step_min",
    "time_step_rank",
    "time_step_scale",
    "time_step_init_scheme",
    "mamba_dt_rank",
    "use_mambapy",
    "use_falcon_mambapy",
    "mamba_norm_before_gate",
    "block_size",
    "d_inner",
    "mixer_rms_eps",
    "moe_shared_expert_overlap",
    "intermediate_size",
    "head_dim",
    "attn_type_list",
    "sliding_window",
    "mlp_only_layers",
    "position_embedding_type",
    "moe_router_topk_scaling_factor",
    "mamba_d_ssm",
};

}  // namespace

FamilyTable recurrent_families() { return {kFamilies, std::size(kFamilies)}; }

const Mamba2Keys kMambaPrefixedKeys = {"mamba_n_heads",  "mamba_d_head", "mamba_n_groups",
                                       "mamba_d_state",  "mamba_d_conv", "mamba_conv_bias",
                                       "mamba_proj_bias"};

void ignore_recurrent_keys(ConfigView& view) {
  for (const std::string_view key : kSizelessKeys)
    view.ignore(key);
}

bool contains(const std::vector<uint64_t>& layers, uint64_t layer) {
  return std::find(layers.begin(), layers.end(), layer) != layers.end();
}

uint64_t read_expanded(ConfigView& view, std::string_view key, uint64_t hidden_size) {
  constexpr json::Range kExpandRange{1, 64};
  return view.require(key, kExpandRange) * hidden_size;
}

namespace {

/// True for a member that says "auto".
bool is_auto(ConfigView& view, std::string_view key) {
  const json::Value* value = view.raw(key);
  return value == nullptr || (value->as_string() != nullptr && *value->as_string() == "auto");
}

}  // namespace

uint64_t read_dt_rank(ConfigView& view, std::string_view key, uint64_t hidden_size) {
  constexpr uint64_t kChannelsPerRank = 16;
  if (is_auto(view, key)) return (hidden_size + kChannelsPerRank - 1) / kChannelsPerRank;
  return view.require(key);
}

Mamba2 read_mamba2(ConfigView& view, const Mamba2Keys& keys, uint64_t d_inner) {
  Mamba2 mamba;
  mamba.num_heads = view.require(keys.num_heads, kHeadRange);
  if (d_inner != 0 && is_auto(view, keys.head_dim)) {
    mamba.head_dim = d_inner / mamba.num_heads;
  } else {
    mamba.head_dim = view.require(keys.head_dim);
  }
  mamba.num_groups = view.require(keys.num_groups, kHeadRange);
  mamba.d_state = view.require(keys.d_state);
  mamba.d_conv = view.require(keys.d_conv);
  mamba.conv_bias = view.flag(keys.conv_bias, true);
  mamba.proj_bias = view.flag(keys.proj_bias, false);
  return mamba;
}

void add_mtp_module(ModelSpec& spec, std::vector<Layer> layers) {
  if (layers.empty()) return;
  const uint64_t hidden = spec.hidden_size;
  std::vector<ExtraTensor>& first = layers.front().extras;
  first.push_back({"eh_proj", TensorRole::mtp, hidden, 2 * hidden, true});
  first.push_back({"enorm", TensorRole::mtp, 1, hidden, false});
  first.push_back({"hnorm", TensorRole::mtp, 1, hidden, false});
  layers.back().extras.push_back({"final_layernorm", TensorRole::mtp, 1, hidden, false});
  spec.mtp_layers.insert(spec.mtp_layers.end(), layers.begin(), layers.end());
}

namespace {

/// Gives every layer one norm and the same mixer, and no feed-forward.
void set_uniform_layers(Import& import, uint64_t num_layers, const Mixer& mixer) {
  Layer layer;
  layer.mixers = {mixer};
  layer.norms = {import.spec.hidden_size};
  import.spec.layers.assign(static_cast<size_t>(num_layers), layer);
}

}  // namespace

void build_mamba1(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  const uint64_t hidden = import.spec.hidden_size;
  Mamba1 mamba;
  const auto d_inner = view.u64("intermediate_size", kDimRange);
  mamba.d_inner = d_inner ? *d_inner : read_expanded(view, "expand", hidden);
  mamba.d_state = view.require("state_size");
  mamba.d_conv = view.require("conv_kernel");
  mamba.dt_rank = read_dt_rank(view, "time_step_rank", hidden);
  mamba.conv_bias = view.flag("use_conv_bias", true);
  mamba.proj_bias = view.flag("use_bias", false);
  ignore_recurrent_keys(view);
  if (!import.failed()) set_uniform_layers(import, num_layers, mamba);
}

void build_mamba2(Import& import, const Traits& traits) {
  constexpr Mamba2Keys kKeys = {"num_heads",   "head_dim",      "n_groups", "state_size",
                                "conv_kernel", "use_conv_bias", "use_bias"};
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  const Mamba2 mamba = read_mamba2(view, kKeys, 0);
  ignore_recurrent_keys(view);
  if (!import.failed()) set_uniform_layers(import, num_layers, mamba);
}

namespace {

/// "recurrent" and "attention" repeated over the layers.
std::vector<std::string> read_block_types(ConfigView& view, uint64_t num_layers) {
  auto pattern = view.strings("block_types")
                     .value_or(std::vector<std::string>{"recurrent", "recurrent", "attention"});
  if (pattern.empty()) {
    view.bad_pattern("block_types", num_layers, "it is empty");
    pattern = {"recurrent"};
  }
  std::vector<std::string> types;
  for (uint64_t layer = 0; layer < num_layers; ++layer)
    types.push_back(pattern[static_cast<size_t>(layer % pattern.size())]);
  return types;
}

Mixer griffin_mixer(Import& import, const std::string& type, const Attention& attention,
                    const GatedLru& lru) {
  if (type == "attention") return attention;
  if (type != "recurrent") {
    import.text().error(ErrorCode::model_unknown_layer_type, "block_types",
                        {{ "layer_type",
                           type }});
  }
  return lru;
}

}  // namespace

void build_recurrent_gemma(Import& import, const Traits& traits) {
  ConfigView& view = import.text();
  const uint64_t num_layers = read_model_dims(import, traits);
  const uint64_t hidden = import.spec.hidden_size;
  Attention attention = read_attention(import, traits);
  attention.o_bias = true;
  attention.window_tokens = view.require("attention_window_size", {1, kTokenRange.max});
  const GatedLru lru{view.u64_or("lru_width", hidden, kDimRange), attention.num_heads,
                     view.u64_or("conv1d_width", 4, kDimRange)};
  // intermediate_size counts gate and up together.
  const DenseFfn ffn{view.u64_or("intermediate_size", 3 * hidden, kDimRange) / 2, true, true,
                     false};
  import.spec.layers = make_layers(import, traits, num_layers);
  const std::vector<std::string> types = read_block_types(view, num_layers);
  for (size_t i = 0; i < types.size() && !import.failed(); ++i) {
    import.spec.layers[i].mixers = {griffin_mixer(import, types[i], attention, lru)};
    import.spec.layers[i].ffn = ffn;
  }
  view.ignore("_block_types");
}

void build_zamba(Import& import, const Traits&) {
  import.text().error(
      ErrorCode::model_unsupported, "model_type",
      {{"what", "Zamba"},
       { "reason",
         std::string("its attention blocks are shared among layers through adapters") }});
}

}  // namespace vramgauge::hf
