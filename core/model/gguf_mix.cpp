#include "model/gguf_mix.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace vramgauge {
namespace {

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

/// The type for a row, or nothing when the quantiser gives up.
std::optional<GgufChoice> fitted(GgmlType type, uint64_t row_elements) {
  if (fits_row(type, row_elements)) return GgufChoice{type, false};
  const std::optional<GgmlType> narrower = narrower_block(type);
  if (!narrower) return std::nullopt;
  return GgufChoice{fits_row(*narrower, row_elements) ? *narrower : GgmlType::f16, true};
}

/// Applies the rules of one file type.
class Chooser {
 public:
  Chooser(GgufMix mix, const GgufFacts& facts, const GgufListing& listing)
      : mix_(mix),
        base_(gguf_mix_base(mix)),
        facts_(facts),
        has_output_(listing.has_output()),
        num_attention_v_(listing.num_attention_v()) {}
  /// Every matrix gets `type`, the head as well.
  explicit Chooser(GgmlType type) : base_(type), is_pure_(true) {}

  GgmlType base() const { return base_; }

  /// `layer` matters for placed kinds only, which come in the order of the listing.
  GgmlType choose(const GgufKind& kind, int64_t layer) {
    if (is_pure_) return base_;
    const bool is_head = kind.category == GgufCategory::output ||
                         (kind.category == GgufCategory::token_embedding && !has_output_);
    if (is_head) return head(kind.row_elements);
    if (mix_ == GgufMix::mxfp4_moe) return kind.is_stacked ? GgmlType::mxfp4 : GgmlType::q8_0;
    if (kind.category == GgufCategory::token_embedding) return embedding();
    return is_lowest() ? lowest(kind.category) : usual(kind.category, layer);
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
  uint64_t ffn_layer(uint64_t& counter, int64_t layer) const {
    const uint64_t count = counter++;
    return facts_.num_experts <= 1 ? count : static_cast<uint64_t>(std::max<int64_t>(layer, 0));
  }

  GgmlType head(uint64_t row_elements) const {
    if (mix_ == GgufMix::mxfp4_moe || facts_.is_falcon || !fits_row(base_, row_elements)) {
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

  GgmlType lowest(GgufCategory category) {
    const GgmlType raised = is_iq2_s_or_m() ? GgmlType::iq3_s : GgmlType::q2_k;
    switch (category) {
      case GgufCategory::attention_v:
        return has_grouped_queries() || facts_.num_experts >= 4 ? GgmlType::q4_k : raised;
      case GgufCategory::attention_k: return has_8_experts() ? GgmlType::q4_k : base_;
      case GgufCategory::ffn_down: return num_ffn_down_++ < facts_.num_layers / 8 ? raised : base_;
      case GgufCategory::attention_output:
        if (has_8_experts()) return GgmlType::q5_k;
        if (is({GgufMix::iq1_s, GgufMix::iq1_m})) return GgmlType::iq2_xxs;
        return is_iq2_s_or_m() ? GgmlType::iq3_s : base_;
      default: return base_;
    }
  }

  GgmlType usual(GgufCategory category, int64_t layer) {
    switch (category) {
      case GgufCategory::attention_v: return value();
      case GgufCategory::attention_k: return has_8_experts() ? GgmlType::q8_0 : query_or_key();
      case GgufCategory::attention_q: return query_or_key();
      case GgufCategory::attention_output: return attention_output();
      case GgufCategory::ffn_down: return down(ffn_layer(num_ffn_down_, layer));
      case GgufCategory::ffn_gate: return gate_or_up(ffn_layer(num_ffn_gate_, layer));
      case GgufCategory::ffn_up: return gate_or_up(ffn_layer(num_ffn_up_, layer));
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

  GgufMix mix_ = GgufMix::f32;
  GgmlType base_;
  GgufFacts facts_;
  bool is_pure_ = false;
  bool has_output_ = false;
  uint64_t num_attention_v_ = 0;
  uint64_t attention_v_ = 0;
  uint64_t num_ffn_down_ = 0;
  uint64_t num_ffn_gate_ = 0;
  uint64_t num_ffn_up_ = 0;
};

/// The types of one file.
struct Choices {
  /// Of kinds that are not placed; the others have nothing there.
  std::vector<GgufChoice> of_kinds;
  std::vector<GgufChoice> of_placed;

  /// A tensor whose rows the quantiser gives up on, and the type meant for it.
  struct Failure {
    uint32_t tensor = 0;
    GgmlType wanted = GgmlType::f32;
  };
  std::optional<Failure> failure;
};

Choices choose_all(Chooser chooser, GgmlType wide, const GgufListing& listing) {
  const bool is_quantized = ggml_type_info(chooser.base()).is_quantized();
  if (!is_quantized) wide = chooser.base();
  Choices out;
  const auto choose = [&](const GgufKind& kind, int64_t layer, uint32_t tensor) {
    if (!is_quantized || !kind.is_quantized)
      return GgufChoice{kind.is_exact ? GgmlType::f32 : wide, false};
    const GgmlType wanted = chooser.choose(kind, layer);
    const auto choice = fitted(wanted, kind.row_elements);
    if (!choice && !out.failure) out.failure = {tensor, wanted};
    return choice.value_or(GgufChoice());
  };
  out.of_kinds.reserve(listing.kinds().size());
  for (size_t i = 0; i < listing.kinds().size(); ++i) {
    const GgufKind& kind = listing.kinds()[i];
    out.of_kinds.push_back(kind.is_placed() ? GgufChoice()
                                            : choose(kind, -1, listing.first_of_kind()[i]));
  }
  out.of_placed.reserve(listing.placed().size());
  for (const GgufPlaced& placed : listing.placed())
    out.of_placed.push_back(choose(listing.kinds()[placed.kind], placed.layer, placed.tensor));
  return out;
}

/// The same tensor by tensor.
Result<std::vector<GgufChoice>> spread(const Choices& choices, const GgufListing& listing,
                                       const std::vector<GgufTensor>& tensors) {
  if (choices.failure) {
    const GgufTensor& tensor = tensors[choices.failure->tensor];
    const GgmlTypeInfo& info = ggml_type_info(choices.failure->wanted);
    return fail(ErrorCode::format_not_divisible, {},
                {{"id", info.name},
                 {"block", info.block_elements},
                 {"tensor", tensor.name},
                 {"row", tensor.dims[0]}});
  }
  std::vector<GgufChoice> out;
  out.reserve(tensors.size());
  for (const uint32_t kind : listing.kind_of_tensor())
    out.push_back(choices.of_kinds[kind]);
  for (size_t i = 0; i < choices.of_placed.size(); ++i)
    out[listing.placed()[i].tensor] = choices.of_placed[i];
  return out;
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

Result<std::vector<GgufChoice>> choose_gguf_types(GgufMix mix, const GgufFacts& facts,
                                                  const std::vector<GgufTensor>& tensors) {
  const GgufListing listing(tensors);
  return spread(choose_all(Chooser(mix, facts, listing), facts.wide, listing), listing, tensors);
}

Result<std::vector<GgufChoice>> choose_pure_gguf_types(GgmlType type, GgmlType wide,
                                                       const std::vector<GgufTensor>& tensors) {
  const GgufListing listing(tensors);
  return spread(choose_all(Chooser(type), wide, listing), listing, tensors);
}

std::optional<CheckedU64> gguf_mix_bytes(GgufMix mix, const GgufFacts& facts,
                                         const GgufListing& listing) {
  const Choices choices = choose_all(Chooser(mix, facts, listing), facts.wide, listing);
  if (choices.failure) return std::nullopt;
  CheckedU64 bytes;
  for (size_t i = 0; i < choices.of_kinds.size(); ++i) {
    const GgufKind& kind = listing.kinds()[i];
    if (!kind.is_placed())
      bytes += row_bytes(choices.of_kinds[i].type, kind.row_elements) * listing.rows_of_kind()[i];
  }
  for (size_t i = 0; i < choices.of_placed.size(); ++i) {
    const GgufPlaced& placed = listing.placed()[i];
    bytes += row_bytes(choices.of_placed[i].type, listing.kinds()[placed.kind].row_elements) *
             placed.rows;
  }
  return bytes;
}

}  // namespace vramgauge
