// A probed machine as JSON, as text, and as entries of the catalogue.
#pragma once

#include <string>

#include "probe.h"
#include "units/json.h"

namespace vramgauge::tools {

/// The probe's document. Its list `gpus` has one catalogue entry per kind of device, so that the
/// facade's load_catalogue(), the page and --hardware read the document as it is. `catalogue_gpus`
/// is the catalogue's list, from which an entry takes what is not measured, such as bandwidth.
json::Value probe_json(const ProbedMachine& machine, const json::Value& catalogue_gpus);

/// The same for people.
std::string probe_text(const json::Value& probe);

/// What a saved probe says about one device, for a verdict.
struct MeasuredDevice {
  uint64_t index = 0;
  std::string uuid;
  std::string name;
  /// Id of its entry in `gpus`.
  std::string gpu;
  uint64_t total_bytes = 0;
  uint64_t usable_bytes = 0;
  uint64_t free_bytes = 0;
  bool is_free_before_context = true;
  /// Measured cost of a context; 0 = not known.
  uint64_t context_bytes = 0;
};

/// The devices of a probe's document; nothing when it is none.
std::optional<std::vector<MeasuredDevice>> measured_devices(const json::Value& probe);

}  // namespace vramgauge::tools
