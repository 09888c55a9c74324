#include "api/device_notes.h"

#include <utility>

namespace vramgauge::api {
namespace {

/// The most that Windows and WSL keep of a card.
constexpr int64_t kDesktopBytes = int64_t{3} << 29;

}  // namespace

Diagnostics device_notes(const Resolved& resolved, const Verdict& verdict,
                         const std::string& path) {
  Diagnostics notes;
  const HardwareSpec& hardware = resolved.hardware;
  const auto note = [&](ErrorCode code, ErrorArgs args) {
    args.push_back({"device", hardware.name});
    notes.push_back({code, path + "/gpu", std::move(args), std::nullopt});
  };
  if (!hardware.limit_setting.empty()) {
    note(ErrorCode::engine_memory_limit, {{"total", hardware.capacity.count()},
                                          {"usable", hardware.usable.count()},
                                          {"setting", hardware.limit_setting}});
  }
  if (!resolved.scenario.held_gib.is_zero()) return notes;
  if (hardware.held != Bytes())
    note(ErrorCode::engine_system_memory, {{"bytes", hardware.held.count()}});
  const int64_t margin = verdict.margin.count();
  if (margin < 0 || verdict.state == VerdictState::does_not_fit) return notes;
  const auto left = static_cast<uint64_t>(margin);
  if (hardware.is_desktop && margin < kDesktopBytes)
    note(ErrorCode::engine_desktop_reserve, {{"margin", left}});
  if (left < hardware.error_correction.count()) {
    note(ErrorCode::engine_error_correction,
         {{"bytes", hardware.error_correction.count()}, {"margin", left}});
  }
  return notes;
}

}  // namespace vramgauge::api
