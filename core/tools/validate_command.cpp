#include "validate_command.h"

#include <algorithm>
#include <cstdio>
#include <mutex>

#include <fmt/format.h>

#include "allocate.h"
#include "probe_command.h"
#include "probe_json.h"
#include "text.h"
#include "validate.h"

namespace vramgauge::tools {
namespace {

constexpr double kGiB = 1073741824.0;

/// The machine's document, measured now or saved before; or an envelope with the reason.
json::Value machine_of(Program& program, const ValidateOptions& options, const Drivers* drivers) {
  if (drivers != nullptr) return probe_answer(program, *drivers, ProbeDepth::look);
  const auto text = read_input(options.source.hardware_file);
  json::Value envelope = json::Value::object();
  envelope.set("ok", json::Value::boolean(true));
  envelope.set("result", json::parse(text.value_or("")).value_or(json::Value()));
  return envelope;
}

/// Warnings of the probe before those of the estimate.
void add_warnings(json::Value& envelope, const json::Value& machine) {
  json::Value all = json::Value::array();
  for (const json::Value* from : {&machine, const_cast<const json::Value*>(&envelope)}) {
    for (const json::Value& warning : items(member(*from, "warnings")))
      all.push(warning);
  }
  envelope.set("warnings", std::move(all));
}

/// What an allocation makes of a predicted verdict; nothing when it does not tell.
std::optional<std::string> allocated_verdict(const std::string& predicted,
                                             const std::vector<AllocationReport>& reports) {
  std::string state = predicted;
  for (const AllocationReport& report : reports) {
    switch (report.state) {
      case AllocationState::complete: break;
      case AllocationState::out_of_memory: state = "does_not_fit"; break;
      case AllocationState::no_room:
        if (state == "fits") state = "tight";
        break;
      default: return std::nullopt;
    }
  }
  return state;
}

std::string allocation_text(const AllocationReport& report) {
  std::string out =
      fmt::format("GPU {}: allocation {}{}\n", report.ordinal, state_name(report.state),
                  report.error.empty() ? "" : ", " + report.error);
  for (const AllocatedStage& stage : report.stages)
    out += fmt::format("  {:<12} {} of {} in {} buffers, {} taken\n", stage.term,
                       gib_text(static_cast<double>(stage.allocated_bytes)),
                       gib_text(static_cast<double>(stage.planned_bytes)), stage.num_buffers,
                       gib_text(static_cast<double>(stage.taken_bytes)));
  return out;
}

/// Allocates what a validation predicts; false when that does not lead to a verdict.
bool allocate(const Drivers& drivers, const ValidateOptions& options, json::Value& result) {
  AllocationLimits limits;
  limits.margin_bytes = static_cast<uint64_t>(options.margin_gib * kGiB);
  limits.time = std::chrono::seconds(options.timeout_s);
  std::mutex mutex;
  // Before this nothing is held, and a signal may end the program by itself.
  StopSign::catch_signals();
  const auto reports = allocate_all(*drivers.cuda, allocation_plans(result), limits,
                                    [&mutex](const std::string& line) {
                                      const std::lock_guard<std::mutex> lock(mutex);
                                      print(stderr, line + "\n");
                                    });
  result.set("allocation", allocation_json(reports, limits));
  for (const AllocationReport& report : reports)
    print(stderr, allocation_text(report));
  json::Value verdict = member(result, "verdict");
  const auto state = allocated_verdict(text_of(member(verdict, "state")), reports);
  verdict.set("state", state.value_or("unknown"));
  result.set("verdict", std::move(verdict));
  return state.has_value();
}

int finish_validation(const ValidateOptions& options, const json::Value& envelope, bool is_told) {
  const int shown = finish(envelope, options.as_json, validate_text);
  if (shown != kDone) return shown;
  return is_told ? exit_code_of(*envelope.find("result")) : kCannotTell;
}

}  // namespace

int run_validate(const ValidateOptions& options) {
  const bool is_saved = !options.source.hardware_file.empty();
  if (is_saved && options.allocates) return usage("--allocate needs the machine, not --hardware");
  DriverResult<Drivers> drivers;
  if (!is_saved) {
    drivers = Drivers::open();
    if (!drivers) return finish(error_envelope(drivers.error()), options.as_json, validate_text);
  }
  Program program;
  int exit_code = kDone;
  const auto scenario = read_scenario(program, options.source, exit_code);
  if (!scenario) return exit_code;
  const json::Value machine = machine_of(program, options, is_saved ? nullptr : &*drivers);
  if (!is_ok(machine)) return finish(machine, options.as_json, validate_text);
  json::Value envelope = validate_scenario(program, *scenario, member(machine, "result"));
  add_warnings(envelope, machine);
  bool is_told = true;
  if (options.allocates && is_ok(envelope)) {
    json::Value result = *envelope.find("result");
    is_told = allocate(*drivers, options, result);
    envelope.set("result", std::move(result));
  }
  return finish_validation(options, envelope, is_told);
}

}  // namespace vramgauge::tools
