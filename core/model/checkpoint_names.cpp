#include "model/checkpoint_names.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

namespace vramgauge {
namespace {

struct Row {
  std::string_view ours;
  std::string_view theirs;
};

/// Whole parts of names for which a family has another word.
constexpr Row kAliases[] = {
    {"self_attn", "mixer"},
    {"self_attn", "attn"},
    {"self_attn", "attention"},
    {"attn", "self_attn"},
    {"mamba", "mixer"},
    {"mlp", "mixer"},
    {"mlp", "block_sparse_moe"},
    {"mlp", "feed_forward"},
    {"mlp", "ffn"},
    {"mlp", "moe"},
    {"shared_experts", "shared_expert"},
    {"shared_experts", "shared_mlp"},
    {"gate", "router"},
    {"gate_proj", "w1"},
    {"down_proj", "w2"},
    {"up_proj", "w3"},
    {"gate_proj", "gate_up_proj"},
    {"up_proj", "gate_up_proj"},
    {"wq_a", "fused_wqa_wkv"},
    {"wkv", "fused_wqa_wkv"},
    {"indexer.weights_proj", "indexers_proj"},
    {"lm_head", "head"},
    {"lm_head", "output"},
    {"lm_head", "ff_out"},
    {"embed_tokens", "embed"},
    {"vision_tower", "visual"},
};

constexpr std::string_view kPrefixes[] = {
    "model.language_model.", "language_model.model.", "language_model.", "backbone.",
    "model.text_model.",     "text_model.",           "transformer.",    "model.transformer.",
    "thinker.model.",
};

/// Words of entries that need not mean a tensor of ours.
constexpr std::string_view kOptional[] = {
    "vision", "visual", "vit",    "image", "patch", "audio",  "speech",    "projector",   "merger",
    "norm",   "ln_f",   "rotary", "bias",  "embed", "conv1d", "connector", "shared_head",
};

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Whether `word` stands in `text` as a whole word.
bool has_word(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool is_open = at == 0 || !is_word_char(text[at - 1]);
    if (is_open && (end == text.size() || !is_word_char(text[end]))) return true;
  }
  return false;
}

/// `name` with the whole parts `from` replaced; nothing when it has no such parts.
std::optional<std::string> with_parts(std::string_view name, std::string_view from,
                                      std::string_view to) {
  for (auto at = name.find(from); at != std::string_view::npos; at = name.find(from, at + 1)) {
    const auto end = at + from.size();
    const bool is_open = at == 0 || name[at - 1] == '.';
    if (!is_open || (end != name.size() && name[end] != '.')) continue;
    std::string result(name.substr(0, at));
    result += to;
    result += name.substr(end);
    return result;
  }
  return std::nullopt;
}

/// All entries of all lists, one to a line, without the backslashes of expressions.
std::string all_text(const QuantizationConfig& quantization) {
  std::string text;
  const auto add = [&text](const ModuleList& list) {
    for (const std::string& entry : list.texts()) {
      text += '\n';
      std::copy_if(entry.begin(), entry.end(), std::back_inserter(text),
                   [](char c) { return c != '\\'; });
    }
  };
  add(quantization.ignored);
  for (const QuantRule& rule : quantization.rules)
    add(rule.targets);
  return text;
}

/// The number behind "layers." in an entry.
std::optional<uint64_t> layer_in(std::string_view text) {
  constexpr std::string_view kWord = "layers.";
  const auto at = text.find(kWord);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + kWord.size());
  uint64_t layer = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), layer);
  return error == std::errc() ? std::optional<uint64_t>(layer) : std::nullopt;
}

}  // namespace

ModuleNames::ModuleNames(const ModelSpec& spec, const QuantizationConfig& quantization)
    : num_layers_(spec.layers.size()), ties_head_(spec.tie_word_embeddings) {
  const std::string text = all_text(quantization);
  for (const Row& row : kAliases) {
    if (has_word(text, row.theirs)) aliases_.push_back({row.ours, row.theirs});
  }
  for (const std::string_view prefix : kPrefixes) {
    if (text.find(prefix) != std::string::npos) prefixes_.push_back(prefix);
  }
  // Experts stand beside the dense block there, not in it.
  if (spec.model_type.substr(0, 6) == "gemma4") {
    renames_ = {{"mlp.experts", "experts"}, {"mlp.gate", "router"}};
  }
}

std::vector<std::string> ModuleNames::spellings(const WeightTensor& tensor, uint64_t expert) const {
  std::string name = tensor.name;
  for (const Alias& rename : renames_) {
    if (auto other = with_parts(name, rename.ours, rename.theirs)) name = std::move(*other);
  }
  if (tensor.count > 1) {
    if (auto one = with_parts(name, "experts", "experts." + std::to_string(expert))) {
      name = std::move(*one);
    }
  }
  std::vector<std::string> names{std::move(name)};
  if (tensor.role == TensorRole::mtp && tensor.layer >= 0) {
    constexpr std::string_view kModel = "model.layers.";
    const auto rest = names.front().find('.', kModel.size());
    const uint64_t index = static_cast<uint64_t>(tensor.layer) - num_layers_;
    if (rest != std::string::npos) {
      names.push_back("mtp.layers." + std::to_string(index) + names.front().substr(rest));
    }
  }
  const auto add_all = [&names](const auto& spell) {
    const size_t before = names.size();
    for (size_t i = 0; i < before; ++i) {
      if (std::optional<std::string> other = spell(names[i])) names.push_back(std::move(*other));
    }
  };
  for (const Alias& alias : aliases_)
    add_all([&](const std::string& n) { return with_parts(n, alias.ours, alias.theirs); });
  const size_t before = names.size();
  for (const std::string_view prefix : prefixes_) {
    for (size_t i = 0; i < before; ++i) {
      const std::string_view known = names[i];
      constexpr std::string_view kModel = "model.";
      const bool is_inner = known.substr(0, kModel.size()) == kModel;
      names.push_back(std::string(prefix) +
                      std::string(is_inner ? known.substr(kModel.size()) : known));
    }
  }
  return names;
}

bool ModuleNames::may_be_unmatched(std::string_view text) const {
  if (has_word(text, "mtp")) return true;
  if (ties_head_ && text.find("head") != std::string_view::npos) return true;
  if (layer_in(text).value_or(0) >= num_layers_) return true;
  return std::any_of(std::begin(kOptional), std::end(kOptional), [text](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

}  // namespace vramgauge
