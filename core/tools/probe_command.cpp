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

json::Value probe_with(const Drivers& drivers, ProbeDepth depth, const json::Value& gpus) {
  const auto machine = probe_machine(drivers, depth);
  if (!machine) return error_envelope(machine.error());
  json::Value warnings = json::Value::array();
  for (const DriverError& warning : machine->warnings)
    warnings.push(diagnostic_json(warning));
  json::Value envelope = json::Value::object();
  envelope.set("ok", json::Value::boolean(true));
  envelope.set("result", probe_json(*machine, gpus));
  envelope.set("warnings", std::move(warnings));
  return envelope;
}

}  // namespace

json::Value probe_answer(Program& program, const Drivers& drivers, ProbeDepth depth) {
  return probe_with(drivers, depth, catalogue_gpus(program));
}

int run_probe(bool only_looks, bool as_json) {
  const ProbeDepth depth = only_looks ? ProbeDepth::look : ProbeDepth::all;
  const auto drivers = Drivers::open();
  if (!drivers) return finish(error_envelope(drivers.error()), as_json, probe_text);
  // The catalogue takes longer than the probe; text needs nothing of it.
  if (!as_json) return finish(probe_with(*drivers, depth, json::Value()), false, probe_text);
  Program program;
  const json::Value envelope = probe_answer(program, *drivers, depth);
  if (!is_ok(envelope)) return finish(envelope, true, probe_text);
  // The document itself, so that --hardware and the page take the file as it is.
  const json::Value* probe = report(envelope);
  print(stdout, json::write(*probe) + "\n");
  return kDone;
}

}  // namespace vramgauge::tools
