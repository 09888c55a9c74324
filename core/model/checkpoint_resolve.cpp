#include "model/checkpoint_resolve.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "model/checkpoint_names.h"
#include "units/index.h"

namespace vramgauge {
namespace {

std::string_view last_part(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

bool is_routed_expert(const WeightTensor& tensor) {
  if (tensor.role == TensorRole::mtp) return tensor.count > 1;
  return tensor.role == TensorRole::expert_gate || tensor.role == TensorRole::expert_up ||
         tensor.role == TensorRole::expert_down;
}

bool is_tower(TensorRole role) {
  return role == TensorRole::vision || role == TensorRole::audio || role == TensorRole::projector;
}

/// Parts of a draft layer are told by name: all have one role.
bool is_plain_mtp(const WeightTensor& tensor) {
  constexpr std::string_view kPlain[] = {"embed_tokens", "eh_proj", "head", "gate"};
  return tensor.role == TensorRole::mtp && std::find(std::begin(kPlain), std::end(kPlain),
                                                     last_part(tensor.name)) != std::end(kPlain);
}

/// Matrices that no quantiser touches: the weights of an indexer's heads, and the compressors of
/// latents (kept in the checkpoint's dtype by every published checkpoint that has them).
bool is_left_by_all(const WeightTensor& tensor) {
  return last_part(tensor.name) == "weights_proj" ||
         tensor.name.find(".compressor.") != std::string::npos;
}

/// What a tensor is to rules that take every linear layer.
bool counts_as_linear(const WeightTensor& tensor, const QuantizationConfig& quantization) {
  switch (tensor.role) {
    case TensorRole::embedding:
    case TensorRole::position_embedding: return quantization.takes_embeddings;
    case TensorRole::output: return quantization.takes_head;
    case TensorRole::router: return quantization.takes_routers;
    case TensorRole::norm: return false;
    case TensorRole::mtp: return !is_plain_mtp(tensor);
    default: return !is_tower(tensor.role) || quantization.takes_towers;
  }
}

/// Entries of a list that no tensor has met yet.
class Unmatched {
 public:
  explicit Unmatched(const ModuleList& list) : list_(list), met_(list.texts().size(), false) {}

  std::optional<uint64_t> find(const std::vector<std::string>& names) {
    std::optional<uint64_t> first;
    for (const std::string& name : names) {
      const auto found = list_.find(name);
      if (found) met_[index_of(*found)] = true;
      if (!first) first = found;
    }
    return first;
  }

  void report(const ModuleNames& names, uint64_t& count, std::string& first) const {
    for (size_t i = 0; i < met_.size(); ++i) {
      const std::string& text = list_.texts()[i];
      if (met_[i] || names.may_be_unmatched(text)) continue;
      if (count++ == 0) first = text.substr(0, 200);
    }
  }

 private:
  const ModuleList& list_;
  std::vector<bool> met_;
};

class Resolver {
 public:
  Resolver(const ModelSpec& spec, const QuantizationConfig& quantization)
      : quantization_(quantization), names_(spec, quantization), ignored_(quantization.ignored) {
    for (const QuantRule& rule : quantization.rules)
      targets_.emplace_back(rule.targets);
  }

  ResolvedQuantization resolve(const std::vector<WeightTensor>& tensors) {
    result_.method = quantization_.method;
    result_.cache_type = quantization_.cache_type;
    for (const WeightTensor& tensor : tensors)
      result_.scheme_of_tensor.push_back(scheme_of(tensor));
    add_warnings();
    return std::move(result_);
  }

 private:
  uint32_t scheme_of(const WeightTensor& tensor) {
    const QuantRule* rule = rule_for(tensor, 0);
    if (is_routed_expert(tensor) && rule != rule_for(tensor, tensor.count - 1))
      return ResolvedQuantization::kMixed;
    return rule == nullptr ? ResolvedQuantization::kNative : index_of_scheme(rule->scheme);
  }

  uint32_t index_of_scheme(const QuantScheme& scheme) {
    std::vector<QuantScheme>& schemes = result_.schemes;
    const auto found = std::find(schemes.begin(), schemes.end(), scheme);
    const auto index = static_cast<uint32_t>(found - schemes.begin());
    if (found == schemes.end()) schemes.push_back(scheme);
    return index;
  }

  /// The rule that stores a tensor; null = the checkpoint's dtype.
  const QuantRule* rule_for(const WeightTensor& tensor, uint64_t expert) {
    const std::vector<std::string> names = names_.spellings(tensor, expert);
    const bool is_ignored = ignored_.find(names).has_value();
    const QuantRule* named = nullptr;
    for (size_t i = 0; i < targets_.size(); ++i) {
      if (targets_[i].find(names) && named == nullptr) named = &quantization_.rules[i];
    }
    if (is_ignored || !tensor.is_matrix || tensor.rows == 1 || is_left_by_all(tensor))
      return nullptr;
    const bool is_router = tensor.role == TensorRole::router && !quantization_.takes_routers;
    if (is_router || tensor.role == TensorRole::norm) return nullptr;
    if (named != nullptr) return named;
    for (const QuantRule& rule : quantization_.rules) {
      if (rule.only_experts && is_routed_expert(tensor)) return &rule;
      if (rule.takes_linear && counts_as_linear(tensor, quantization_)) return &rule;
    }
    return nullptr;
  }

  void add_warnings() {
    result_.warnings = quantization_.warnings;
    uint64_t count = 0;
    std::string first;
    ignored_.report(names_, count, first);
    for (const Unmatched& list : targets_)
      list.report(names_, count, first);
    if (count == 0) return;
    result_.warnings.push_back(
        {ErrorCode::format_unmatched_modules, {}, {{"count", count}, {"pattern", first}}});
  }

  const QuantizationConfig& quantization_;
  ModuleNames names_;
  Unmatched ignored_;
  std::vector<Unmatched> targets_;
  ResolvedQuantization result_;
};

}  // namespace

ResolvedQuantization resolve_quantization(const std::vector<WeightTensor>& tensors,
                                          const ModelSpec& spec,
                                          const QuantizationConfig& quantization) {
  return Resolver(spec, quantization).resolve(tensors);
}

ResolvedQuantization refused_quantization(std::string method, Diagnostics errors) {
  ResolvedQuantization result;
  result.method = std::move(method);
  result.refused = std::move(errors);
  return result;
}

}  // namespace vramgauge
