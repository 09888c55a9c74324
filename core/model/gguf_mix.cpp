#include "model/gguf_mix.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace vramgauge {
namespace {

enum class Category {
  token_embedding,
  output,
  attention_q,
  attention_k,
  /// Values, alone or fused with others: the tensors that suffer most from few bits.
  attention_v,
  attention_output,
  ffn_up,
  ffn_gate,
  ffn_down,
  other,
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [text](std::string_view part) { return contains(text, part); });
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

Category category_of(std::string_view name) {
  struct Rule {
    std::string_view part;
    Category category;
  };
  // Order matters: "ffn_gate_up_exps" is a gate, "attn_q_b" is none of these.
  constexpr Rule kRules[] = {
      {"attn_qkv.weight", Category::attention_v},
      {"attn_kv_b.weight", Category::attention_v},
      {"attn_v.weight", Category::attention_v},
      {"attn_k.weight", Category::attention_k},
      {"attn_q.weight", Category::attention_q},
      {"attn_output.weight", Category::attention_output},
      {"ffn_up", Category::ffn_up},
      {"ffn_gate", Category::ffn_gate},
      {"ffn_down", Category::ffn_down},
  };
  if (name == "output.weight") return Category::output;
  if (name == "token_embd.weight" || name == "per_layer_token_embd.weight") {
    return Category::token_embedding;
  }
  for (const Rule& rule : kRules) {
    if (contains(name, rule.part)) return rule.category;
  }
  return Category::other;
}

size_t num_dims(const GgufTensor& tensor) {
  for (size_t n = 4; n > 1; --n) {
    if (tensor.dims[n - 1] > 1) return n;
  }
  return 1;
}

/// Small two-dimensional tensors that the quantiser leaves alone, by a part of their name.
bool is_exempt(std::string_view name) {
  return contains_any(name, {"_norm.weight",
                             "ffn_gate_inp.weight",
                             "ffn_gate_tid2eid.weight",
                             "altup",
                             "laurel",
                             "per_layer_model_proj",
                             "position_embd",
                             "token_types",
                             "ssm_conv1d",
                             "shortconv.conv.weight",
                             "indexer.k_proj.weight",
                             "indexer.q_proj.weight",
                             "time_mix_first.weight",
                             "time_mix_w0.weight",
                             "time_mix_w1.weight",
                             "time_mix_w2.weight",
                             "time_mix_v0.weight",
                             "time_mix_v1.weight",
                             "time_mix_v2.weight",
                             "time_mix_a0.weight",
                             "time_mix_a1.weight",
                             "time_mix_a2.weight",
                             "time_mix_g1.weight",
                             "time_mix_g2.weight",
                             "time_mix_decay_w1.weight",
                             "time_mix_decay_w2.weight",
                             "time_mix_lerp_fused.weight",
                             "attn_rel_b.weight"});
}

bool is_quantized_by_engine(const GgufTensor& tensor) {
  return num_dims(tensor) >= 2 && ends_with(tensor.name, "weight") && !is_exempt(tensor.name);
}

/// Layer of "blk.N.", or -1.
int64_t layer_of(std::string_view name) {
  constexpr std::string_view kPrefix = "blk.";
  if (name.substr(0, kPrefix.size()) != kPrefix) return -1;
  int64_t layer = 0;
  for (const char c : name.substr(kPrefix.size())) {
    if (c < '0' || c > '9') break;
    if (layer > 1'000'000) return -1;
    layer = layer * 10 + (c - '0');
  }
  return layer;
}

/// The order in which the quantiser meets the tensors: by layer, then by name.
std::vector<size_t> visiting_order(const std::vector<GgufTensor>& tensors) {
  std::vector<size_t> order(tensors.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&tensors](size_t a, size_t b) {
    const int64_t layer_a = layer_of(tensors[a].name);
    const int64_t layer_b = layer_of(tensors[b].name);
    if (layer_a != layer_b) return layer_a < layer_b;
    return tensors[a].name < tensors[b].name;
  });
  return order;
}

/// The type for rows that do not fill the blocks of `type`; nothing when the quantiser gives up.
std::optional<GgmlType> narrower_block(GgmlType type) {
  switch (type) {
    case GgmlType::iq1_s:
    case GgmlType::iq1_m:
    case GgmlType::iq2_xxs:
    case GgmlType::iq2_xs:
    case GgmlType::iq2_s:
    case GgmlType::iq3_xxs:
    case GgmlType::iq3_s:
    case GgmlType::iq4_xs: return GgmlType::iq4_nl;
    case GgmlType::q2_0:
    case GgmlType::q2_k:
    case GgmlType::q3_k:
    case GgmlType::tq1_0:
    case GgmlType::tq2_0: return GgmlType::q4_0;
    case GgmlType::q4_k: return GgmlType::q5_0;
    case GgmlType::q5_k: return GgmlType::q5_1;
    case GgmlType::q6_k: return GgmlType::q8_0;
    default: return std::nullopt;
  }
}

Result<GgufChoice> fitted(GgmlType type, const GgufTensor& tensor) {
  const uint64_t row = tensor.dims[0];
  if (fits_row(type, row)) return GgufChoice{type, false};
  const std::optional<GgmlType> narrower = narrower_block(type);
  if (!narrower) {
    const GgmlTypeInfo& info = ggml_type_info(type);
    return fail(
        ErrorCode::format_not_divisible, {},
        {{"id", info.name}, {"block", info.block_elements}, {"tensor", tensor.name}, {"row", row}});
  }
  return GgufChoice{fits_row(*narrower, row) ? *narrower : GgmlType::f16, true};
}

/// Applies the rules of one file type to tensors in visiting order.
class Chooser {
 public:
  Chooser(GgufMix mix, const GgufFacts& facts, const std::vector<GgufTensor>& tensors)
      : mix_(mix), base_(gguf_mix_base(mix)), facts_(facts) {
    for (const GgufTensor& tensor : tensors) {
      const Category category = category_of(tensor.name);
      if (category == Category::attention_v) ++num_attention_v_;
      if (category == Category::output) has_output_ = true;
    }
  }

  GgmlType choose(const GgufTensor& tensor) {
    const Category category = category_of(tensor.name);
    const bool is_head =
        category == Category::output || (category == Category::token_embedding && !has_output_);
    if (is_head) return head(tensor);
    if (mix_ == GgufMix::mxfp4_moe) {
      return tensor.dims[2] > 1 ? GgmlType::mxfp4 : GgmlType::q8_0;
    }
    if (category == Category::token_embedding) return embedding();
    return is_lowest() ? lowest(category) : usual(category, tensor);
  }

 private:
  bool is(std::initializer_list<GgufMix> mixes) const {
    return std::find(mixes.begin(), mixes.end(), mix_) != mixes.end();
  }

  /// The mixes below three bits have rules of their own.
  bool is_lowest() const {
    return is({GgufMix::iq1_s, GgufMix::iq1_m, GgufMix::iq2_xxs, GgufMix::iq2_xs, GgufMix::iq2_s,
               GgufMix::iq2_m});
  }
  bool is_iq2_s_or_m() const { return is({GgufMix::iq2_s, GgufMix::iq2_m}); }
  bool has_grouped_queries() const { return facts_.heads_per_kv_head >= 4; }
  bool has_8_experts() const { return facts_.num_experts == 8; }

  /// The first and last eighth of the layers, and every third between them.
  static bool deserves_more_bits(uint64_t layer, uint64_t num_layers) {
    const uint64_t eighth = num_layers / 8;
    return layer < eighth || layer >= 7 * num_layers / 8 || (layer - eighth) % 3 == 2;
  }

  /// Layer that a feed-forward tensor counts as: its own with experts, otherwise how many of its
  /// kind came before.
  uint64_t ffn_layer(uint64_t& counter, const GgufTensor& tensor) const {
    const uint64_t count = counter++;
    if (facts_.num_experts <= 1) return count;
    return static_cast<uint64_t>(std::max<int64_t>(layer_of(tensor.name), 0));
  }

  GgmlType head(const GgufTensor& tensor) const {
    if (mix_ == GgufMix::mxfp4_moe || facts_.is_falcon || !fits_row(base_, tensor.dims[0])) {
      return GgmlType::q8_0;
    }
    if (is_lowest() || mix_ == GgufMix::iq3_xxs) return GgmlType::q5_k;
    return base_ == GgmlType::q8_0 ? GgmlType::q8_0 : GgmlType::q6_k;
  }

  GgmlType embedding() const {
    if (is_iq2_s_or_m() || mix_ == GgufMix::iq3_xxs) return GgmlType::iq3_s;
    if (is_lowest()) return GgmlType::q2_k;
    if (is({GgufMix::tq1_0, GgufMix::tq2_0, GgufMix::q2_0})) return GgmlType::q4_k;
    return base_;
  }

  GgmlType lowest(Category category) {
    const GgmlType raised = is_iq2_s_or_m() ? GgmlType::iq3_s : GgmlType::q2_k;
    switch (category) {
      case Category::attention_v:
        return has_grouped_queries() || facts_.num_experts >= 4 ? GgmlType::q4_k : raised;
      case Category::attention_k: return has_8_experts() ? GgmlType::q4_k : base_;
      case Category::ffn_down: return num_ffn_down_++ < facts_.num_layers / 8 ? raised : base_;
      case Category::attention_output:
        if (has_8_experts()) return GgmlType::q5_k;
        if (is({GgufMix::iq1_s, GgufMix::iq1_m})) return GgmlType::iq2_xxs;
        return is_iq2_s_or_m() ? GgmlType::iq3_s : base_;
      default: return base_;
    }
  }

  GgmlType usual(Category category, const GgufTensor& tensor) {
    switch (category) {
      case Category::attention_v: return value();
      case Category::attention_k: return has_8_experts() ? GgmlType::q8_0 : query_or_key();
      case Category::attention_q: return query_or_key();
      case Category::attention_output: return attention_output();
      case Category::ffn_down: return down(ffn_layer(num_ffn_down_, tensor));
      case Category::ffn_gate: return gate_or_up(ffn_layer(num_ffn_gate_, tensor));
      case Category::ffn_up: return gate_or_up(ffn_layer(num_ffn_up_, tensor));
      default: return base_;
    }
  }

  GgmlType query_or_key() const {
    if (mix_ == GgufMix::iq3_xs) return GgmlType::iq3_xxs;
    if (mix_ == GgufMix::iq3_xxs) return GgmlType::iq2_s;
    return base_;
  }

  GgmlType value() {
    const uint64_t index = attention_v_++;
    if (has_8_experts()) return GgmlType::q8_0;
    const GgmlType type = value_of_mix(index);
    const bool is_small = type == GgmlType::q3_k || type == GgmlType::q4_k;
    return facts_.is_70b && is_small ? GgmlType::q5_k : type;
  }

  GgmlType value_of_mix(uint64_t index) const {
    switch (mix_) {
      case GgufMix::q2_k: return has_grouped_queries() ? GgmlType::q4_k : GgmlType::q3_k;
      // An importance matrix is compulsory for IQ3_XXS, and with one values stay at its own type.
      case GgufMix::q2_k_s:
      case GgufMix::iq3_xxs:
      case GgufMix::iq3_xs:
      case GgufMix::iq3_s: return has_grouped_queries() ? GgmlType::q4_k : base_;
      case GgufMix::iq3_m: return GgmlType::q4_k;
      case GgufMix::q3_k_m: return index < 2 ? GgmlType::q5_k : GgmlType::q4_k;
      case GgufMix::q3_k_l: return GgmlType::q5_k;
      case GgufMix::iq4_nl:
      case GgufMix::iq4_xs: return has_grouped_queries() ? GgmlType::q5_k : base_;
      case GgufMix::q4_k_m:
      case GgufMix::q5_k_m:
        return deserves_more_bits(index, num_attention_v_) ? GgmlType::q6_k : base_;
      case GgufMix::q4_k_s: return index < 4 ? GgmlType::q5_k : base_;
      default: return base_;
    }
  }

  GgmlType attention_output() const {
    if (facts_.is_falcon) return mix_ == GgufMix::q3_k_l ? GgmlType::q4_k : base_;
    if (has_8_experts()) {
      const bool is_raised = is({GgufMix::q2_k, GgufMix::iq3_xs, GgufMix::iq3_xxs, GgufMix::q3_k_s,
                                 GgufMix::q3_k_m, GgufMix::iq4_nl, GgufMix::q4_k_s, GgufMix::q4_k_m,
                                 GgufMix::iq3_s, GgufMix::iq3_m, GgufMix::iq4_xs});
      return is_raised ? GgmlType::q5_k : base_;
    }
    switch (mix_) {
      case GgufMix::q2_k: return GgmlType::q3_k;
      case GgufMix::iq3_xxs: return GgmlType::iq3_s;
      case GgufMix::q3_k_m:
      case GgufMix::iq3_m: return GgmlType::q4_k;
      case GgufMix::q3_k_l: return GgmlType::q5_k;
      default: return base_;
    }
  }

  GgmlType down(uint64_t layer) const {
    const uint64_t n = facts_.num_layers;
    const bool is_early = layer < n / 8;
    const bool is_earliest = layer < n / 16;
    const bool more = deserves_more_bits(layer, n);
    switch (mix_) {
      case GgufMix::q2_k: return GgmlType::q3_k;
      case GgufMix::q2_k_s: return is_early ? GgmlType::q4_k : base_;
      case GgufMix::q3_k_m:
        if (is_earliest) return GgmlType::q5_k;
        return facts_.is_falcon && !more ? GgmlType::q3_k : GgmlType::q4_k;
      case GgufMix::iq3_m: return is_early || (has_8_experts() && more) ? GgmlType::q4_k : base_;
      case GgufMix::q3_k_l: return facts_.is_falcon ? GgmlType::q4_k : GgmlType::q5_k;
      case GgufMix::q4_k_m:
        if (!facts_.is_falcon) return more ? GgmlType::q6_k : base_;
        if (is_earliest) return GgmlType::q6_k;
        return more ? GgmlType::q5_k : base_;
      case GgufMix::iq4_nl:
      case GgufMix::iq4_xs:
        return is_early && !facts_.has_importance_matrix ? GgmlType::q5_k : base_;
      case GgufMix::q4_0: return is_early && facts_.has_importance_matrix ? GgmlType::q4_1 : base_;
      case GgufMix::q5_0: return is_early && facts_.has_importance_matrix ? GgmlType::q5_1 : base_;
      case GgufMix::q5_k_m: return more ? GgmlType::q6_k : base_;
      case GgufMix::q4_k_s: return is_early && !facts_.is_falcon ? GgmlType::q5_k : base_;
      default: return base_;
    }
  }

  GgmlType gate_or_up(uint64_t layer) const {
    const uint64_t n = facts_.num_layers;
    const bool is_middle = layer >= n / 8 && layer < 7 * n / 8;
    return mix_ == GgufMix::iq3_xs && is_middle ? GgmlType::iq3_xxs : base_;
  }

  GgufMix mix_;
  GgmlType base_;
  const GgufFacts& facts_;
  bool has_output_ = false;
  uint64_t num_attention_v_ = 0;
  uint64_t attention_v_ = 0;
  uint64_t num_ffn_down_ = 0;
  uint64_t num_ffn_gate_ = 0;
  uint64_t num_ffn_up_ = 0;
};

/// Types of all tensors, where `choose` names the type of one that the engine quantises.
template <typename Choose>
Result<std::vector<GgufChoice>> choose_all(GgmlType base, GgmlType wide,
                                           const std::vector<GgufTensor>& tensors, Choose choose) {
  const bool is_quantized = ggml_type_info(base).is_quantized();
  if (!is_quantized) wide = base;
  std::vector<GgufChoice> choices(tensors.size());
  for (const size_t i : visiting_order(tensors)) {
    const GgufTensor& tensor = tensors[i];
    choices[i].type = gguf_source_type(tensor, wide);
    if (!is_quantized || !is_quantized_by_engine(tensor)) continue;
    const Result<GgufChoice> choice = fitted(choose(tensor), tensor);
    if (!choice) return fail(choice.error());
    choices[i] = *choice;
  }
  return choices;
}

}  // namespace

std::string_view gguf_mix_name(GgufMix mix) {
  constexpr std::string_view kNames[] = {
#define X(enumerator, name, base) name,
      VRAMGAUGE_GGUF_MIXES(X)
#undef X
  };
  return kNames[static_cast<uint32_t>(mix)];
}

std::optional<GgufMix> find_gguf_mix(std::string_view name) {
  constexpr GgufMix kMixes[] = {
#define X(enumerator, text, base) GgufMix::enumerator,
      VRAMGAUGE_GGUF_MIXES(X)
#undef X
  };
  for (const GgufMix mix : kMixes) {
    if (gguf_mix_name(mix) == name) return mix;
  }
  return std::nullopt;
}

GgmlType gguf_mix_base(GgufMix mix) {
  constexpr GgmlType kBases[] = {
#define X(enumerator, name, base) GgmlType::base,
      VRAMGAUGE_GGUF_MIXES(X)
#undef X
  };
  return kBases[static_cast<uint32_t>(mix)];
}

GgmlType gguf_source_type(const GgufTensor& tensor, GgmlType wide) {
  // What convert_hf_to_gguf.py writes as F32 whatever the file type.
  const bool is_exact =
      num_dims(tensor) < 2 || !ends_with(tensor.name, ".weight") ||
      ends_with(tensor.name, "_norm.weight") ||
      contains_any(tensor.name,
                   {"ffn_gate_inp", "position_embd", "token_types", "ssm_conv1d",
                    "shortconv.conv.weight", "time_mix_first.weight", "time_mix_w1.weight",
                    "time_mix_w2.weight", "time_mix_decay_w1.weight", "time_mix_decay_w2.weight",
                    "time_mix_lerp_fused.weight", "altup_correct_coef", "altup_predict_coef"});
  return is_exact ? GgmlType::f32 : wide;
}

Result<std::vector<GgufChoice>> choose_gguf_types(GgufMix mix, const GgufFacts& facts,
                                                  const std::vector<GgufTensor>& tensors) {
  Chooser chooser(mix, facts, tensors);
  return choose_all(gguf_mix_base(mix), facts.wide, tensors,
                    [&chooser](const GgufTensor& tensor) { return chooser.choose(tensor); });
}

Result<std::vector<GgufChoice>> choose_pure_gguf_types(GgmlType type, GgmlType wide,
                                                       const std::vector<GgufTensor>& tensors) {
  return choose_all(type, wide, tensors, [type](const GgufTensor&) { return type; });
}

}  // namespace vramgauge
