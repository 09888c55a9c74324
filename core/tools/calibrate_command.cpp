#include "calibrate_command.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "calibrate_endpoint.h"
#include "calibrate_metrics.h"
#include "probe.h"
#include "probe_json.h"
#include "program.h"
#include "report/log_observation.h"

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

/// What the driver says about a machine belongs to an engine that was asked on it.
json::Value observation_of(const EngineLog& log, bool is_running_here) {
  json::Value row = log_observation(log);
  row.set("id", std::string(log_engine_name(log.engine)) + "-endpoint");
  if (!is_running_here) return row;
  const EngineMemory memory = engine_memory();
  if (memory.num_gpus == 0) return row;
  row.set("gpu", memory.gpu);
  row.set("gpu_count", memory.num_gpus);
  json::Value measured = member(row, "measured");
  measured.set("process_mib_per_gpu", memory.process_bytes / kMiB);
  row.set("measured", std::move(measured));
  return row;
}

std::string observation_text(const json::Value& row) { return json::write(row) + "\n"; }

int calibrate_engine(const CalibrateOptions& options) {
  EngineLog log;
  if (const int code = read_sources(options.from, log); code != kDone) return code;
  const bool is_running_here = std::any_of(
      options.from.begin(), options.from.end(),
      [](const std::string& source) { return source.find("://") != std::string::npos; });
  const json::Value row = observation_of(log, is_running_here);
  if (!write_line(options.observation_file, row))
    return usage("cannot write " + options.observation_file);
  if (options.observation_file != "-") print(stdout, observation_text(row));
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
