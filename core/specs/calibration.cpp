#include "specs/calibration.h"

#include <algorithm>
#include <cstdlib>

#include "units/decimal.h"

namespace vramgauge {
namespace {

constexpr const char* kPath = "/calibration";
constexpr std::string_view kKey = "calibration";
constexpr std::string_view kChoices = "weights, activations, runtime";
constexpr TermId kTerms[] = {TermId::weights, TermId::activations, TermId::runtime};
constexpr int64_t kGiB = int64_t{1} << 30;
/// Engines print hundredths of a GiB.
constexpr uint64_t kBandBytes = (uint64_t{1} << 30) / 100;
constexpr uint64_t kMaxMicros = 1024 * Decimal::kScale;
/// What `text` keeps of a GiB.
constexpr int64_t kPlaces = 10'000;

std::size_t index_of(TermId id) { return static_cast<std::size_t>(id); }

tl::unexpected<Diagnostics> unreadable(std::string_view part) {
  return fail(ErrorCode::value_unreadable, kPath,
              {{"key", kKey},
               {"value", part.substr(0, 80)},
               {"expected", "terms with GiB such as activations=+0.42,runtime=-0.11"}});
}

tl::unexpected<Diagnostics> exact_term(TermId id) {
  return fail(ErrorCode::calibration_exact_term, kPath,
              {{"term", term_name(id)}, {"choices", kChoices}});
}

Result<TermId> term_of(std::string_view name) {
  for (const TermId id : kTerms) {
    if (term_name(id) == name) return id;
  }
  if (name == term_name(TermId::kv_cache)) return exact_term(TermId::kv_cache);
  return fail(ErrorCode::value_not_a_choice, kPath,
              {{"key", kKey}, {"value", name.substr(0, 80)}, {"choices", kChoices}});
}

/// Signed GiB as bytes, to the nearest.
std::optional<int64_t> bytes_of_gib(std::string_view text) {
  const bool is_negative = !text.empty() && text.front() == '-';
  if (is_negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);
  const auto value = Decimal::parse(text);
  if (!value || value->micros() > kMaxMicros) return std::nullopt;
  const uint64_t twice =
      scaled(CheckedU64(2 * value->micros()), uint64_t{1} << 30, Decimal::kScale).value_or(0);
  const auto bytes = static_cast<int64_t>((twice + 1) / 2);
  return is_negative ? -bytes : bytes;
}

std::string gib_text(int64_t bytes) {
  const int64_t magnitude = std::abs(bytes);
  const int64_t places =
      magnitude / kGiB * kPlaces + (magnitude % kGiB * kPlaces + kGiB / 2) / kGiB;
  const Decimal decimal = Decimal::from_micros(static_cast<uint64_t>(places) * Decimal::kScale /
                                               static_cast<uint64_t>(kPlaces));
  return (bytes < 0 ? "-" : "+") + decimal.text();
}

Result<void> calibrate_term(TermId id, Total& total, int64_t added) {
  if (total.basis == Basis::exact && total.bytes != Bytes()) return exact_term(id);
  const int64_t bytes = static_cast<int64_t>(total.bytes.count()) + added;
  if (bytes < 0) {
    return fail(ErrorCode::value_out_of_range, kPath,
                {{"key", kKey},
                 {"value", std::string(term_name(id)) + "=" + gib_text(added)},
                 {"min", gib_text(-static_cast<int64_t>(total.bytes.count()))},
                 {"max", "+1024"}});
  }
  const auto value = static_cast<uint64_t>(bytes);
  if (value > kMaxApiBytes - kBandBytes)
    return fail(ErrorCode::value_overflow, kPath,
                {{"what", std::string_view("the memory needed")}});
  total.bytes = Bytes(value);
  total.low = Bytes(value - std::min(value, kBandBytes));
  total.high = Bytes(value + kBandBytes);
  total.basis = Basis::measured;
  return {};
}

}  // namespace

Result<Calibration> Calibration::parse(std::string_view text) {
  Calibration out;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return unreadable(part);
    const auto id = term_of(part.substr(0, equals));
    if (!id) return fail(id.error());
    const auto bytes = bytes_of_gib(part.substr(equals + 1));
    if (!bytes || out.added_[index_of(*id)] || part.size() + 1 == text.size())
      return unreadable(part);
    out.added_[index_of(*id)] = *bytes;
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return out;
}

bool Calibration::is_empty() const {
  return std::none_of(added_.begin(), added_.end(),
                      [](const std::optional<int64_t>& added) { return added.has_value(); });
}

std::optional<int64_t> Calibration::added_bytes(TermId id) const { return added_[index_of(id)]; }

void Calibration::add(TermId id, int64_t bytes) {
  constexpr int64_t kMost = int64_t{1024} << 30;
  added_[index_of(id)] = std::clamp(added_[index_of(id)].value_or(0) + bytes, -kMost, kMost);
}

std::string Calibration::text() const {
  std::string out;
  for (const TermId id : kTerms) {
    if (const auto added = added_bytes(id))
      out += (out.empty() ? "" : ",") + std::string(term_name(id)) + "=" + gib_text(*added);
  }
  return out;
}

Result<void> calibrate(std::initializer_list<std::pair<TermId, Total*>> terms,
                       const Calibration& calibration) {
  for (const auto& [id, total] : terms) {
    const auto added = calibration.added_bytes(id);
    if (!added) continue;
    if (auto moved = calibrate_term(id, *total, *added); !moved) return moved;
  }
  return {};
}

}  // namespace vramgauge
