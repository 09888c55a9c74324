#include "engine/vllm_profile.h"

#include <algorithm>

namespace vramgauge {
namespace {

/// The first version whose engine is V1 by default.
constexpr uint64_t kFirstV1 = 8000;

/// Constants that hold for one version, by key.
class Constants {
 public:
  Constants(const json::Value& entry, uint64_t version, Diagnostics& errors)
      : version_(version), errors_(errors) {
    const json::Value* list = entry.find("constants");
    if (list != nullptr) list_ = list->as_array();
  }

  /// The last entry of `key` that is not newer than the version.
  BandedDecimal banded(std::string_view key) {
    const json::Value* found = nullptr;
    if (list_ != nullptr) {
      for (const json::Value& constant : *list_) {
        const json::Value* name = constant.find("key");
        if (name == nullptr || name->as_string() == nullptr || *name->as_string() != key) continue;
        if (since(constant) <= version_) found = &constant;
      }
    }
    if (found == nullptr) {
      errors_.push_back({ErrorCode::json_missing_key, {}, {{"key", key}}});
      return {};
    }
    return {decimal(*found, "value"), decimal(*found, "low"), decimal(*found, "high")};
  }

  uint64_t whole(std::string_view key) { return banded(key).value.micros() / Decimal::kScale; }
  bool is_on(std::string_view key) { return !banded(key).value.is_zero(); }

 private:
  static uint64_t since(const json::Value& constant) {
    const json::Value* text = constant.find("since");
    if (text == nullptr || text->as_string() == nullptr) return 0;
    return vllm_version(*text->as_string()).value_or(0);
  }

  static Decimal decimal(const json::Value& constant, std::string_view key) {
    const json::Value* value = constant.find(key);
    const json::Number* number = value == nullptr ? nullptr : value->as_number();
    return number == nullptr ? Decimal() : Decimal::from_double(number->real).value_or(Decimal());
  }

  uint64_t version_;
  Diagnostics& errors_;
  const json::Value::Array* list_ = nullptr;
};

}  // namespace

std::optional<uint64_t> vllm_version(std::string_view text) {
  constexpr uint64_t kLimit = 1000;
  uint64_t parts[3] = {0, 0, 0};
  int filled = 0;
  size_t at = 0;
  while (filled < 3 && at < text.size() && text[at] >= '0' && text[at] <= '9') {
    uint64_t& part = parts[filled++];
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      part = part * 10 + static_cast<uint64_t>(text[at] - '0');
      if (part >= kLimit) return std::nullopt;
    }
    if (at < text.size() && text[at] == '.') ++at;
  }
  if (filled < 2) return std::nullopt;
  return (parts[0] * kLimit + parts[1]) * kLimit + parts[2];
}

Result<VllmProfile> vllm_profile(const json::Value& entry, uint64_t version, bool is_first_engine) {
  Diagnostics errors;
  Constants constants(entry, version, errors);
  VllmProfile profile;
  profile.version = version;
  profile.is_first_engine = is_first_engine || version < kFirstV1;
  profile.kv.has_hybrid_manager = constants.is_on("hybrid_manager") && !profile.is_first_engine;
  profile.kv.token_line_is_concurrency = constants.is_on("token_line_is_concurrency");
  profile.kv.checks_whole_model = constants.is_on("checks_whole_model");
  profile.kv.batches_in_flight = constants.whole("batches_in_flight");
  profile.kv.expands_latents = constants.is_on("latents_expanded");
  profile.kv.latent_multiple = constants.whole("latent_multiple");
  profile.gpu_memory_utilization_frac = constants.banded("gpu_memory_utilization_frac");
  profile.batched_tokens = {constants.whole("small_card_batched_tokens"),
                            constants.whole("large_card_batched_tokens"),
                            constants.whole("huge_card_batched_tokens")};
  const uint64_t large_requests = constants.whole("large_card_requests");
  profile.requests = {constants.whole("small_card_requests"), large_requests, large_requests};
  // The first engine kept its own sampler beside V1.
  profile.sampler_logit_bytes =
      Constants(entry, profile.is_first_engine ? std::min(version, kFirstV1 - 1) : version, errors)
          .banded("sampler_logit_bytes");
  profile.has_sampler_rows = constants.is_on("sampler_row_buffer");
  profile.profile_extra_gib = constants.banded("profile_extra_gib");
  profile.keeps_expert_workspace = constants.is_on("expert_workspace_kept");
  profile.non_torch = {
      constants.banded("non_torch_one_gib"),  constants.banded("non_torch_two_gib"),
      constants.banded("non_torch_four_gib"), constants.banded("non_torch_pipeline_gib"),
      constants.banded("non_torch_rocm_gib"), constants.banded("non_torch_unlinked_gib")};
  profile.deducts_graphs = constants.is_on("graphs_deducted");
  profile.graph_layer_mib = constants.banded("graph_layer_mib");
  profile.outside_one_gib = constants.banded("outside_one_gib");
  profile.outside_parallel_gib = constants.banded("outside_parallel_gib");
  profile.outside_unlinked_gib = constants.banded("outside_unlinked_gib");
  if (!errors.empty()) return fail(std::move(errors));
  return profile;
}

}  // namespace vramgauge
