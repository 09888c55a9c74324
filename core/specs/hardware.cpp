#include "specs/hardware.h"

#include <algorithm>

#include "units/decimal.h"

namespace vramgauge {
namespace {

/// How the usable total is known: from logs, by a rule, or only as the driver's total, of which a
/// process gets a little less.
Basis read_basis(json::ObjectReader& reader) {
  if (!reader.has("usable_bytes")) return Basis::assumed;
  const std::string basis = reader.string("usable_basis").value_or("measured");
  return basis == basis_name(Basis::assumed) ? Basis::assumed : Basis::measured;
}

/// Ten times "9.0"; other vendors name their architectures there.
uint64_t read_capability(json::ObjectReader& reader) {
  const auto number = Decimal::parse(reader.string("compute_capability").value_or(""));
  return number ? number->micros() * 10 / Decimal::kScale : 0;
}

}  // namespace

Result<HardwareSpec> parse_hardware(const json::Value& entry) {
  Diagnostics errors;
  json::ObjectReader reader(entry, "", errors);
  HardwareSpec hardware;
  hardware.id = reader.string("id").value_or("");
  hardware.name = reader.string("name").value_or(hardware.id);
  const uint64_t capacity = reader.u64("total_bytes").value_or(0);
  const uint64_t usable = reader.u64("usable_bytes").value_or(capacity);
  hardware.capacity = Bytes(capacity != 0 ? capacity : usable);
  hardware.usable = Bytes(usable);
  hardware.basis = read_basis(reader);
  hardware.source = reader.string("usable_source").value_or(reader.string("source").value_or(""));
  hardware.vendor = reader.string("vendor").value_or("");
  if (hardware.vendor == "NVIDIA") hardware.compute_capability = read_capability(reader);
  hardware.multiprocessors = reader.u64("multiprocessors").value_or(0);
  hardware.held = Bytes(reader.u64("system_bytes").value_or(0));
  hardware.limit_setting = reader.string("limit_setting").value_or("");
  hardware.error_correction = Bytes(reader.u64("error_correction_bytes").value_or(0));
  hardware.is_desktop = reader.boolean("is_desktop").value_or(false);
  if (errors.empty() && usable == 0)
    reader.error(ErrorCode::catalogue_bad_entry, "usable_bytes", {{"id", hardware.id}});
  if (!errors.empty()) return fail(std::move(errors));
  return hardware;
}

HardwareSpec without_held(HardwareSpec hardware) {
  const uint64_t held = std::min(hardware.held.count(), hardware.usable.count());
  hardware.usable = Bytes(hardware.usable.count() - held);
  hardware.held = Bytes();
  return hardware;
}

HardwareSpec custom_hardware(Bytes memory) {
  HardwareSpec hardware;
  hardware.id = hardware.name = "custom";
  hardware.capacity = hardware.usable = memory;
  hardware.basis = Basis::assumed;
  hardware.source = "given by the user";
  return hardware;
}

}  // namespace vramgauge
