#include "plan/roofline.h"

#include <algorithm>

#include "model/cache_bytes.h"

namespace vramgauge {
namespace {

/// A multiplication and an addition.
constexpr double kOperations = 2;
constexpr double kSixteenBitBytes = 2;
/// 4-bit weights with a 16-bit scale for every 32 of them.
constexpr double kFourBitBytes = 0.5625;

/// The part of all routed experts that some request of a batch is sent to, when each chooses on its
/// own: 1 - (1 - k/n)^batch.
double touched_experts(const ModelSpec& spec, uint64_t batch) {
  for (const Layer& layer : spec.layers) {
    const auto* moe = std::get_if<MoeFfn>(&layer.ffn);
    if (moe == nullptr || moe->num_experts == 0) continue;
    double factor =
        1 - static_cast<double>(moe->num_experts_per_tok) / static_cast<double>(moe->num_experts);
    double idle = 1;
    for (uint64_t left = batch; left > 0; left /= 2, factor *= factor)
      if (left % 2 == 1) idle *= factor;
    return 1 - idle;
  }
  return 1;
}

/// Tokens that a layer looks at, and elements of queries, keys and values per token and head.
struct Look {
  uint64_t reach = 0;
  double elements = 0;
};

Look look_of(const Mixer& mixer) {
  if (const auto* attention = std::get_if<Attention>(&mixer)) {
    const uint64_t reach = std::max(attention->window_tokens, attention->chunk_tokens);
    return {reach, static_cast<double>(attention->num_heads) *
                       static_cast<double>(attention->head_dim + attention->v_head_dim)};
  }
  if (const auto* latent = std::get_if<LatentAttention>(&mixer)) {
    // Absorbed, as engines decode: queries against latents, and latents as values.
    return {0, static_cast<double>(latent->num_heads) *
                   static_cast<double>(2 * latent->kv_lora_rank + latent->qk_rope_head_dim)};
  }
  return {};
}

/// Operations of attention for one token that sees `tokens` before it.
double attention_operations(const ModelSpec& spec, double tokens) {
  double sum = 0;
  for (const Layer& layer : spec.layers) {
    for (const Mixer& mixer : layer.mixers) {
      const Look look = look_of(mixer);
      const double seen =
          look.reach == 0 ? tokens : std::min(tokens, static_cast<double>(look.reach));
      sum += kOperations * look.elements * seen;
    }
  }
  return sum;
}

}  // namespace

Roofline roofline(const RooflineModel& model, const RooflineMachine& machine,
                  const RooflineLoad& load) {
  const auto requests = static_cast<double>(load.num_requests);
  const auto prompt = static_cast<double>(load.prompt_tokens);
  const double per_token = kOperations * static_cast<double>(model.active_parameters);
  const double bandwidth = machine.bytes_per_s * static_cast<double>(machine.num_gpus);
  const double peak = machine.operations_per_s * static_cast<double>(machine.num_gpus);
  Roofline out;
  out.weight_bytes =
      static_cast<double>(model.fixed_weight_bytes) +
      static_cast<double>(model.expert_bytes) * touched_experts(*model.spec, load.num_requests);
  out.cache_bytes = requests * static_cast<double>(
                                   cache_bytes(*model.cache, load.context_tokens, {}).value_or(0));
  out.operations =
      requests *
      (per_token + attention_operations(*model.spec, static_cast<double>(load.context_tokens)));
  const double reading_s = (out.weight_bytes + out.cache_bytes) / bandwidth;
  const double computing_s = out.operations / peak;
  out.is_memory_bound = reading_s >= computing_s;
  out.step_s = std::max(reading_s, computing_s);
  // On average a token of a prompt sees half of it.
  out.prefill_s =
      requests * prompt * (per_token + attention_operations(*model.spec, prompt / 2)) / peak;
  const double spread = static_cast<double>(model.all_parameters) /
                        static_cast<double>(std::max<uint64_t>(1, model.active_parameters));
  const double balance = machine.operations_per_s / machine.bytes_per_s * spread / kOperations;
  out.four_bit_full_batch = kFourBitBytes * balance;
  out.four_bit_no_gain_batch = kSixteenBitBytes * balance;
  return out;
}

}  // namespace vramgauge
