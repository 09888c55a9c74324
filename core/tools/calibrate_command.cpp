#include "calibrate_command.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "calibrate_endpoint.h"
#include "calibrate_metrics.h"
#include "import/engine_log_json.h"
#include "import/model_name.h"
#include "probe.h"
#include "probe_json.h"
#include "program.h"
#include "report/log_observation.h"
#include "text.h"
#include "units/decimal.h"

namespace vramgauge::tools {
namespace {

constexpr std::string_view kDevice = "device";
constexpr uint64_t kMiB = uint64_t{1} << 20;

/// Writes a document as one line; true when there is nothing to write.
bool write_line(const std::string& path, const json::Value& document) {
  if (path.empty()) return true;
  const std::string line = json::write(document) + "\n";
  if (path != "-") return write_file(path, line);
  print(stdout, line);
  return true;
}

int fail_with(const std::string& message) {
  print(stderr, message + "\n");
  return kCannotTell;
}

/// The engine's own figures from all sources, or an exit code.
int read_sources(const std::vector<std::string>& from, EngineLog& log) {
  for (const std::string& source : from) {
    if (source.find("://") != std::string::npos) {
      const auto endpoint = parse_endpoint(source);
      if (!endpoint)
        return usage(source + " is not http://ADDRESS:PORT on this machine's own loopback");
      if (const std::string error = ask_endpoint(*endpoint, log); !error.empty())
        return fail_with(fmt::format("{}: {}", source, error));
      continue;
    }
    const auto text = read_input(source);
    if (!text) return usage("cannot read " + source);
    if (!read_engine_answer(*text, log))
      return fail_with(source + " is no answer of a known engine");
  }
  return kDone;
}

/// The largest process on any GPU that somebody uses, which is the engine; none without a driver.
struct EngineMemory {
  std::string gpu;
  uint64_t num_gpus = 0;
  uint64_t total_bytes = 0;
  uint64_t process_bytes = 0;
};

EngineMemory engine_memory() {
  EngineMemory out;
  const auto drivers = Drivers::open();
  if (!drivers) return out;
  const auto machine = probe_machine(*drivers, ProbeDepth::look);
  if (!machine) return out;
  for (const ProbedDevice& device : machine->devices) {
    uint64_t largest = 0;
    for (const DeviceProcess& process : device.processes)
      largest = std::max(largest, process.used_bytes.value_or(0));
    if (largest == 0) continue;
    out.gpu = device.cuda.name;
    out.total_bytes = device.cuda.total_bytes;
    out.process_bytes = std::max(out.process_bytes, largest);
    ++out.num_gpus;
  }
  return out;
}

/// The driver's figures in the engine's log, unless the engine states them itself.
void add_machine(EngineLog& log, const EngineMemory& memory) {
  if (memory.num_gpus == 0) return;
  const auto state = [&log](std::string_view name, const std::string& value) {
    if (log.flag(name).empty()) log.flags.push_back({std::string(name), value, 0});
  };
  state("gpu", memory.gpu);
  state("gpu_count", std::to_string(memory.num_gpus));
  const auto bytes = static_cast<int64_t>(memory.process_bytes);
  if (memory.num_gpus == 1) log.figures.push_back({LogQuantity::process, "0", bytes, kMiB, 0});
}

json::Value observation_of(const EngineLog& log, const EngineMemory& memory) {
  json::Value row = log_observation(log);
  row.set("id", std::string(log_engine_name(log.engine)) + "-endpoint");
  if (memory.num_gpus == 0) return row;
  row.set("gpu", memory.gpu);
  row.set("gpu_count", memory.num_gpus);
  json::Value measured = member(row, "measured");
  measured.set("process_mib_per_gpu", memory.process_bytes / kMiB);
  row.set("measured", std::move(measured));
  return row;
}

/// The model of a file's name (llama-server gives the path) when the catalogue has it.
void add_model_of_file(Program& program, const EngineLog& log, json::Value& scenario) {
  if (log.engine != LogEngine::llama_cpp || scenario.find("model") != nullptr) return;
  const ModelName name = model_name(log.flag("model"));
  for (const std::string& candidate : name.candidates) {
    if (!is_ok(program.call("model", request_with("id", json::Value::string(candidate))))) continue;
    scenario.set("model", candidate);
    if (!name.weight_format.empty() && scenario.find("weight_format") == nullptr)
      scenario.set("weight_format", name.weight_format);
    return;
  }
}

/// The context of all slots, which llama-server gives by slot.
void add_slots(const EngineLog& log, json::Value& scenario) {
  const auto give = [&](const char* field, std::string_view setting) {
    const auto count = parse_count(log.flag(setting));
    if (count && scenario.find(field) == nullptr) scenario.set(field, *count);
  };
  if (log.engine != LogEngine::llama_cpp) return;
  give("context_tokens", "n_ctx_seq");
  give("num_requests", "n_seq_max");
}

/// Why there is no calibration.
std::string why_none(const json::Value& envelope) {
  constexpr const char* kKind = "no calibration";
  const json::Value& result = member(envelope, "result");
  std::string why = diagnostics_text(member(envelope, "errors"), kKind) +
                    diagnostics_text(member(envelope, "warnings"), kKind) +
                    diagnostics_text(member(result, "prediction_errors"), kKind);
  if (!why.empty()) return why;
  const auto is_predicted = [](const json::Value& row) { return row.find("predicted") != nullptr; };
  const auto& rows = items(member(result, "rows"));
  return std::any_of(rows.begin(), rows.end(), is_predicted)
             ? "no calibration: what the engine states is what is predicted\n"
             : "no calibration: the engine states nothing that is predicted\n";
}

/// What the prediction of the engine's own scenario is to be corrected by; null, with the reason
/// printed, when it states too little for that.
std::optional<json::Value> calibration_of(const EngineLog& log, const ScenarioSource& source,
                                          int& exit_code) {
  Program program;
  auto scenario = read_scenario(program, source, exit_code);
  if (!scenario) return std::nullopt;
  add_model_of_file(program, log, *scenario);
  add_slots(log, *scenario);
  json::Value request = request_with("log", write_engine_log(log));
  request.set("scenario", std::move(*scenario));
  const json::Value envelope = program.call("check_log", request);
  const json::Value& result = member(envelope, "result");
  const json::Value& calibration = member(result, "calibration");
  if (calibration.is_null()) print(stderr, why_none(envelope));
  return calibration;
}

std::string observation_text(const json::Value& row) { return json::write(row) + "\n"; }

int calibrate_engine(const CalibrateOptions& options) {
  EngineLog log;
  if (const int code = read_sources(options.from, log); code != kDone) return code;
  const bool is_running_here = std::any_of(
      options.from.begin(), options.from.end(),
      [](const std::string& source) { return source.find("://") != std::string::npos; });
  // What the driver says about a machine belongs to an engine that was asked on it.
  const EngineMemory memory = is_running_here ? engine_memory() : EngineMemory();
  const json::Value row = observation_of(log, memory);
  add_machine(log, memory);
  int exit_code = kDone;
  const auto calibration = calibration_of(log, options.source, exit_code);
  if (!calibration) return exit_code;
  if (!write_line(options.observation_file, row))
    return usage("cannot write " + options.observation_file);
  if (!write_line(options.calibration_file, *calibration))
    return usage("cannot write " + options.calibration_file);
  const bool is_printed = options.observation_file == "-" || options.calibration_file == "-";
  if (!is_printed) print(stdout, observation_text(row));
  if (!is_printed && !calibration->is_null())
    print(stderr, fmt::format("calibration: {}\n", text_of(member(*calibration, "text"))));
  return kDone;
}

int calibrate_device(const CalibrateOptions& options) {
  const auto measured = measure_device(options.shape);
  if (!measured) return finish(error_envelope(measured.error()), options.as_json, observation_text);
  if (!write_line(options.calibration_file, *measured))
    return usage("cannot write " + options.calibration_file);
  if (options.calibration_file != "-") print(stdout, observation_text(*measured));
  return kDone;
}

}  // namespace

int run_calibrate(const CalibrateOptions& options) {
  const bool is_device =
      std::find(options.from.begin(), options.from.end(), kDevice) != options.from.end();
  if (is_device && options.from.size() > 1)
    return usage("device is calibrated alone, without an engine");
  return is_device ? calibrate_device(options) : calibrate_engine(options);
}

}  // namespace vramgauge::tools
