// The rule of thumb of two widely read articles on serving memory, with its constants visible:
//   total = (weights + cache) x overhead_factor + fixed_gib
// where the factor stands for activations and fragmentation; when live_buffers is given, a prefill
// activation term replaces the factor:
//   batch x prompt x (hidden_size + intermediate_size) x 2 B x live_buffers
#pragma once

#include "model/cache_layout.h"
#include "specs/breakdown.h"
#include "specs/hardware.h"
#include "specs/model_spec.h"
#include "specs/scenario.h"

namespace vramgauge {

/// A constant with its bounds.
struct BandedDecimal {
  Decimal value;
  Decimal low;
  Decimal high;
};

/// The constants of presets/engines/generic.json, or what the user put in their place (no band
/// then).
struct GenericConstants {
  BandedDecimal overhead_factor;
  BandedDecimal fixed_gib;
  BandedDecimal live_buffers;
  std::string source;
};

/// Reads the catalogue's entry; a scenario's value that differs from it replaces value and band.
Result<GenericConstants> generic_constants(const json::Value& engine_entry,
                                           const Scenario& scenario);

/// What the rule needs to know of a model: sizes only.
struct GenericModel {
  /// All weights of the model, and how they are known.
  Bytes weights;
  Basis weights_basis = Basis::exact;
  /// The cache of one of gpu_count tensor-parallel ranks.
  const CacheLayout* cache = nullptr;
  uint64_t hidden_size = 0;
  /// Widest feed-forward that one token passes through.
  uint64_t intermediate_size = 0;
};

/// The widest feed-forward of a model, for GenericModel.
uint64_t active_intermediate_size(const ModelSpec& spec);

/// Memory per device and the verdict; `answers` stays empty, see generic_answers. Weights are
/// divided evenly over gpu_count devices (modelled), the cache by heads. Errors: value.overflow,
/// engine.prefix_longer_than_context, json.missing_key when live_buffers needs a hidden size that
/// is not known.
Result<Breakdown> estimate_generic(const Scenario& scenario, const GenericModel& model,
                                   const HardwareSpec& hardware, const GenericConstants& constants);

/// The inverse questions, each the largest number for which the estimate still fits in the `usable`
/// bytes of its device. Some hundred times the work of one estimate, so it is asked for apart.
Answers generic_answers(const Scenario& scenario, const GenericModel& model,
                        const GenericConstants& constants, Bytes usable);

/// Bytes of activation elements in the rule: 16 bits.
inline constexpr uint64_t kActivationElementBytes = 2;

/// Prefill size that a scenario's zeros stand for.
uint64_t prefill_batch(const Scenario& scenario);
uint64_t prefill_tokens(const Scenario& scenario);

}  // namespace vramgauge
