#include "report/calibration_lines.h"

#include "report/product.h"

namespace vramgauge {
namespace {

void explain(Term& term, int64_t added) {
  const auto bytes = static_cast<int64_t>(term.bytes.count());
  const auto predicted = static_cast<uint64_t>(bytes - added);
  const auto magnitude = static_cast<uint64_t>(added < 0 ? -added : added);
  term.source = "calibrated from a log";
  term.lines.push_back({std::string(kCalibratedLabel), "predicted + added_by_log",
                        grouped_digits(predicted) + " B " + (added < 0 ? "- " : "+ ") +
                            grouped_digits(magnitude) + " B",
                        term.bytes.count()});
}

}  // namespace

void explain_calibration(Breakdown& breakdown, const Calibration& calibration) {
  if (calibration.is_empty()) return;
  for (DeviceBreakdown& device : breakdown.devices) {
    if (device.name == "host") continue;
    for (Term& term : device.terms) {
      if (const auto added = calibration.added_bytes(term.id)) explain(term, *added);
    }
  }
}

}  // namespace vramgauge
