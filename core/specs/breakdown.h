// What an engine answers: terms per device, each with how it is known and its bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "units/bytes.h"

namespace vramgauge {

/// How a number is known, from best to worst.
enum class Basis { exact, modelled, measured, assumed };

std::string_view basis_name(Basis basis);
/// The less certain of two.
Basis worse(Basis a, Basis b);

/// One line of arithmetic: a formula, the same with numbers in it, and what it gives.
struct ArithmeticLine {
  /// Key of the caption, for translation.
  std::string label;
  std::string formula;
  std::string substituted;
  uint64_t result = 0;
};

enum class TermId { weights, kv_cache, activations, runtime };

std::string_view term_name(TermId id);

/// One share of a device's memory.
struct Term {
  TermId id = TermId::weights;
  Bytes bytes;
  Bytes low;
  Bytes high;
  Basis basis = Basis::assumed;
  std::vector<ArithmeticLine> lines;
  /// Where the formula or constant comes from.
  std::string source;
};

/// A sum of terms.
struct Total {
  Bytes bytes;
  Bytes low;
  Bytes high;
  Basis basis = Basis::exact;
};

/// One device, or several that hold the same.
struct DeviceBreakdown {
  std::string name;
  uint64_t first_rank = 0;
  uint64_t count = 1;
  /// What the driver reports.
  Bytes capacity;
  /// What the engine may use.
  Bytes usable;
  std::vector<Term> terms;
  Total total;
};

enum class VerdictState { fits, tight, does_not_fit };

std::string_view verdict_name(VerdictState state);

/// Fits when even the upper bound does; tight when only the estimate does.
struct Verdict {
  VerdictState state = VerdictState::does_not_fit;
  /// Usable minus needed on the worst device; negative = short.
  BytesDelta margin;
  Bytes needed;
  Bytes usable;
  uint64_t worst_device = 0;
};

/// Cache of one request, in numbers.
struct CacheSummary {
  Bytes bytes_per_token;
  Bytes fixed_bytes_per_request;
  Bytes bytes_per_request;
  Bytes total;
};

/// The same question the other way round. A value is absent when nothing limits it.
struct Answers {
  std::optional<uint64_t> max_requests;
  std::optional<uint64_t> max_context_tokens;
  std::optional<uint64_t> max_cached_tokens;
};

struct Breakdown {
  std::vector<DeviceBreakdown> devices;
  Verdict verdict;
  CacheSummary cache;
  Answers answers;
};

}  // namespace vramgauge
