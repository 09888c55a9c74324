// Terms of a device's memory as server engines make them: bytes with their bounds, and what is
// common to all: the band of weights, a stage's devices and their sum, the device that decides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/generic.h"
#include "model/cache_layout.h"
#include "model/placement.h"
#include "specs/breakdown.h"
#include "specs/calibration.h"
#include "specs/model_spec.h"
#include "units/error.h"

namespace vramgauge {

/// One part of a device's memory with its bounds, under way.
struct BandedBytes {
  CheckedU64 value;
  CheckedU64 low;
  CheckedU64 high;

  BandedBytes& operator+=(const BandedBytes& other);
};

BandedBytes operator*(CheckedU64 bytes, const BandedDecimal& constant);

/// The part as a sum of terms. Errors: value.overflow.
Result<Total> total_of(const BandedBytes& bytes, Basis basis);

/// A sum as one term.
Term term_of(TermId id, const Total& total, std::string_view source);

/// Sums a device's terms, which are all valid sizes.
void add_up(DeviceBreakdown& device);

/// Weights with what loading may differ by: nothing when they are exact, 0.5 % when they are
/// derived, 6 % when only the name of their format is known.
BandedBytes weights_with_band(Bytes loaded, Basis basis);

/// What engines are asked with whose ranks of a stage are alike.
struct StagedInputs {
  const ModelSpec* spec = nullptr;
  /// Weights of the first rank of each stage, after loading.
  std::vector<Bytes> stage_weights;
  Basis weights_basis = Basis::modelled;
  ParallelPlan plan;
  std::string device_name;
  /// What the runtime reports.
  Bytes device_total;
  /// Held by other processes, the display or the system before the engine starts.
  Bytes held_by_others;
  CacheType cache_type;
  StatePrecision state_precision;
  uint64_t context_tokens = 0;
  uint64_t num_requests = 1;
  /// What a log corrects on every device.
  Calibration calibration;
};

/// The weights of a stage with their band. Error: value.overflow.
Result<Total> loaded_weights(const StagedInputs& inputs, uint64_t stage);

/// Adds the devices of a stage, which hold `terms` each.
void add_device(Breakdown& breakdown, const StagedInputs& inputs, uint64_t stage,
                std::vector<Term> terms);

/// Fills in what the verdict says of the device with the least margin; its state is the engine's.
void set_worst_device(Breakdown& breakdown);

/// What is missing where a pool is short although the sum of all terms is within the card.
void set_shortage(Verdict& verdict, CheckedU64 missing);

}  // namespace vramgauge
