#include "probe_command.h"

#include <cstdio>

#include "probe_report.h"

namespace vramgauge::tools {
namespace {

json::Value catalogue_gpus(Program& program) {
  const json::Value envelope =
      program.call("catalogue", request_with("kind", json::Value::string("gpus")));
  const json::Value* result = envelope.find("result");
  const json::Value* items = result == nullptr ? nullptr : result->find("items");
  return items == nullptr ? json::Value() : *items;
}

/// The machine as an answer; an error when there is no driver. The driver is asked first: the
/// catalogue takes longer.
json::Value probe_this_machine(ProbeDepth depth) {
  const auto drivers = Drivers::open();
  if (!drivers) return error_envelope(drivers.error());
  Program program;
  return probe_answer(program, *drivers, depth);
}

}  // namespace

json::Value probe_answer(Program& program, const Drivers& drivers, ProbeDepth depth) {
  const auto machine = probe_machine(drivers, depth);
  if (!machine) return error_envelope(machine.error());
  json::Value warnings = json::Value::array();
  for (const DriverError& warning : machine->warnings)
    warnings.push(diagnostic_json(warning));
  json::Value envelope = json::Value::object();
  envelope.set("ok", json::Value::boolean(true));
  envelope.set("result", probe_json(*machine, catalogue_gpus(program)));
  envelope.set("warnings", std::move(warnings));
  return envelope;
}

int run_probe(bool only_looks, bool as_json) {
  const json::Value envelope = probe_this_machine(only_looks ? ProbeDepth::look : ProbeDepth::all);
  if (!as_json || !is_ok(envelope)) return finish(envelope, as_json, probe_text);
  // The document itself, so that --hardware and the page take the file as it is.
  const json::Value* probe = report(envelope);
  print(stdout, json::write(*probe) + "\n");
  return kDone;
}

}  // namespace vramgauge::tools
