#include "model/gguf_listing.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "units/index.h"

namespace vramgauge {
namespace {

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

GgufCategory category_of(std::string_view name) {
  struct Rule {
    std::string_view part;
    GgufCategory category;
  };
  // Order matters: "ffn_gate_up_exps" is a gate, "attn_q_b" is none of these.
  constexpr Rule kRules[] = {
      {"attn_qkv.weight", GgufCategory::attention_v},
      {"attn_kv_b.weight", GgufCategory::attention_v},
      {"attn_v.weight", GgufCategory::attention_v},
      {"attn_k.weight", GgufCategory::attention_k},
      {"attn_q.weight", GgufCategory::attention_q},
      {"attn_output.weight", GgufCategory::attention_output},
      {"ffn_up", GgufCategory::ffn_up},
      {"ffn_gate", GgufCategory::ffn_gate},
      {"ffn_down", GgufCategory::ffn_down},
  };
  if (name == "output.weight") return GgufCategory::output;
  if (name == "token_embd.weight" || name == "per_layer_token_embd.weight") {
    return GgufCategory::token_embedding;
  }
  for (const Rule& rule : kRules) {
    if (contains(name, rule.part)) return rule.category;
  }
  return GgufCategory::other;
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

/// What convert_hf_to_gguf.py writes as F32 whatever the file type.
bool is_exact(std::string_view name) {
  return !ends_with(name, ".weight") || ends_with(name, "_norm.weight") ||
         contains_any(name,
                      {"ffn_gate_inp", "position_embd", "token_types", "ssm_conv1d",
                       "shortconv.conv.weight", "time_mix_first.weight", "time_mix_w1.weight",
                       "time_mix_w2.weight", "time_mix_decay_w1.weight", "time_mix_decay_w2.weight",
                       "time_mix_lerp_fused.weight", "altup_correct_coef", "altup_predict_coef"});
}

bool is_vector(const GgufTensor& tensor) {
  return tensor.dims[1] <= 1 && tensor.dims[2] <= 1 && tensor.dims[3] <= 1;
}

/// How many equals are looked for among: more than any model has. A second entry for what was known
/// further back changes nothing.
constexpr std::size_t kMostCompared = 64;

template <typename T, typename Matches>
typename std::vector<T>::iterator find_recent(std::vector<T>& list, const Matches& matches) {
  const auto begin = list.size() > kMostCompared ? list.end() - kMostCompared : list.begin();
  return std::find_if(begin, list.end(), matches);
}

constexpr std::string_view kLayerPrefix = "blk.";

/// Layer of "blk.N.", or -1.
int64_t layer_of(std::string_view name) {
  if (name.substr(0, kLayerPrefix.size()) != kLayerPrefix) return -1;
  int64_t layer = 0;
  for (const char c : name.substr(kLayerPrefix.size())) {
    if (c < '0' || c > '9') break;
    if (layer > 1'000'000) return -1;
    layer = layer * 10 + (c - '0');
  }
  return layer;
}

/// What comes after "blk.N", which no rule looks at; the whole name of other tensors.
std::string_view name_in_layer(std::string_view name, int64_t layer) {
  if (layer < 0) return name;
  name.remove_prefix(kLayerPrefix.size());
  name.remove_prefix(std::min(name.find_first_not_of("0123456789"), name.size()));
  return name;
}

}  // namespace

/// Names that differ only in their layer are read once.
class GgufListing::Names {
 public:
  struct Known {
    std::string_view name;
    GgufCategory category = GgufCategory::other;
    bool is_exempt = false;
    bool is_exact = false;
    /// Of the last tensor with this name.
    uint32_t kind = 0;
  };

  /// Layers list their tensors in one order, so that most names stand behind the one before.
  Known& find(std::string_view full_name, int64_t layer) {
    const std::string_view name = name_in_layer(full_name, layer);
    const std::size_t next = last_ + 1 < known_.size() ? last_ + 1 : 0;
    if (next < known_.size() && known_[next].name == name) {
      last_ = next;
      return known_[last_];
    }
    const auto found =
        find_recent(known_, [name](const Known& known) { return known.name == name; });
    last_ = static_cast<std::size_t>(found - known_.begin());
    if (found == known_.end()) add(name, full_name);
    return known_[last_];
  }

 private:
  void add(std::string_view name, std::string_view full_name) {
    known_.push_back({name, category_of(full_name),
                      !ends_with(full_name, "weight") || is_exempt(full_name),
                      is_exact(full_name)});
  }

  std::vector<Known> known_;
  std::size_t last_ = 0;
};

bool GgufKind::is_placed() const {
  if (!is_quantized) return false;
  switch (category) {
    case GgufCategory::attention_v:
    case GgufCategory::ffn_up:
    case GgufCategory::ffn_gate:
    case GgufCategory::ffn_down: return true;
    default: return false;
  }
}

GgufListing::GgufListing(const std::vector<GgufTensor>& tensors) {
  Names names;
  kind_of_tensor_.reserve(tensors.size());
  for (const GgufTensor& tensor : tensors)
    add(tensor, names);
  put_in_order(tensors);
}

void GgufListing::add(const GgufTensor& tensor, Names& names) {
  const int64_t layer = layer_of(tensor.name);
  Names::Known& name = names.find(tensor.name, layer);
  if (name.category == GgufCategory::attention_v) ++num_attention_v_;
  if (name.category == GgufCategory::output) has_output_ = true;
  GgufKind kind;
  kind.category = name.category;
  kind.is_quantized = !name.is_exempt && !is_vector(tensor);
  kind.is_exact = name.is_exact || is_vector(tensor);
  kind.is_stacked = tensor.dims[2] > 1;
  kind.row_elements = tensor.dims[0];
  const auto index = static_cast<uint32_t>(kind_of_tensor_.size());
  name.kind = index_of_kind(kind, name.kind, index);
  kind_of_tensor_.push_back(name.kind);
  const CheckedU64 rows = CheckedU64(tensor.dims[1]) * tensor.dims[2] * tensor.dims[3];
  if (kind.is_placed()) {
    placed_.push_back({index, name.kind, layer, rows});
  } else {
    rows_of_kind_[name.kind] += rows;
  }
}

uint32_t GgufListing::index_of_kind(const GgufKind& kind, uint32_t guess, uint32_t tensor) {
  if (guess < kinds_.size() && kinds_[guess] == kind) return guess;
  const auto found = find_recent(kinds_, [&kind](const GgufKind& known) { return known == kind; });
  const auto index = static_cast<uint32_t>(found - kinds_.begin());
  if (found == kinds_.end()) {
    kinds_.push_back(kind);
    rows_of_kind_.emplace_back();
    first_of_kind_.push_back(tensor);
  }
  return index;
}

void GgufListing::put_in_order(const std::vector<GgufTensor>& tensors) {
  std::sort(placed_.begin(), placed_.end(), [&](const GgufPlaced& a, const GgufPlaced& b) {
    if (a.layer != b.layer) return a.layer < b.layer;
    return tensors[a.tensor].name < tensors[b.tensor].name;
  });
}

}  // namespace vramgauge
