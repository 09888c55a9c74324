#include "specs/hardware.h"

namespace vramgauge {
namespace {

/// How the usable total is known: from logs, by a rule, or only as the driver's total, of which a
/// process gets a little less.
Basis read_basis(json::ObjectReader& reader) {
  if (!reader.has("usable_bytes")) return Basis::assumed;
  const std::string basis = reader.string("usable_basis").value_or("measured");
  return basis == basis_name(Basis::assumed) ? Basis::assumed : Basis::measured;
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
  if (errors.empty() && usable == 0)
    reader.error(ErrorCode::catalogue_bad_entry, "usable_bytes", {{"id", hardware.id}});
  if (!errors.empty()) return fail(std::move(errors));
  return hardware;
}

HardwareSpec custom_hardware(Bytes memory) {
  return {"custom", "custom", memory, memory, Basis::assumed, "given by the user"};
}

}  // namespace vramgauge
