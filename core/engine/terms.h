// Terms of a device's memory as server engines make them: bytes with their bounds, and what is
// common to all: the band of weights, the sum of a device, the device that decides.
#pragma once

#include <string_view>

#include "engine/generic.h"
#include "specs/breakdown.h"
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

/// Fills in what the verdict says of the device with the least margin; its state is the engine's.
void set_worst_device(Breakdown& breakdown);

}  // namespace vramgauge
