#include "validate.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "driver_error.h"
#include "probe_json.h"
#include "specs/scenario.h"
#include "text.h"
#include "units/checked.h"
#include "validate_host.h"

namespace vramgauge::tools {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

/// From best to worst.
constexpr std::string_view kStates[] = {"fits", "tight", "does_not_fit"};

std::size_t rank_of(std::string_view state) {
  const auto* found = std::find(std::begin(kStates), std::end(kStates), state);
  return std::min<std::size_t>(found - std::begin(kStates), std::size(kStates) - 1);
}

std::string worse(const std::string& a, const std::string& b) {
  return rank_of(a) >= rank_of(b) ? a : b;
}

/// Bytes as GiB for a scenario field, rounded down to its millionths.
json::Value gib_field(uint64_t bytes) {
  const uint64_t micros = scaled(CheckedU64(bytes), Decimal::kScale, kGiB).value_or(0);
  return json::Value::decimal(Decimal::from_micros(micros));
}

/// Whether an engine reads a field of the scenario.
bool has_field(std::string_view key, const std::string& engine) {
  const Field* field = find_field(key);
  return field != nullptr &&
         (field->engines.empty() || field->engines.find(engine) != std::string_view::npos);
}

/// The scenario with what this machine says about everything that it does not name itself.
json::Value on_machine(json::Value scenario, const MeasuredDevice& device,
                       const std::string& engine) {
  scenario.set("gpu", device.gpu);
  if (has_field("host_ram_gib", engine) && scenario.find("host_ram_gib") == nullptr) {
    if (const auto host = available_host_bytes()) scenario.set("host_ram_gib", gib_field(*host));
  }
  return scenario;
}

/// The same, with what others hold on the device. Nothing held is a millionth of a GiB, since 0
/// would let the facade assume what the system of a machine with shared memory takes.
json::Value with_others(json::Value scenario, const MeasuredDevice& device,
                        const std::string& engine) {
  constexpr uint64_t kLeast = kGiB / Decimal::kScale + 1;
  const bool is_open = has_field("held_gib", engine) && scenario.find("held_gib") == nullptr;
  const uint64_t held = device.usable_bytes - std::min(device.usable_bytes, device.free_bytes);
  if (is_open) scenario.set("held_gib", gib_field(std::max(held, kLeast)));
  return scenario;
}

/// One predicted device beside a real one; the host when there is none.
json::Value compare(const json::Value& predicted, const MeasuredDevice* device) {
  const json::Value& total = member(predicted, "total");
  const uint64_t usable = number_of(member(predicted, "usable_bytes"));
  const uint64_t available = device == nullptr ? usable : std::min(usable, device->free_bytes);
  const uint64_t needed = number_of(member(total, "bytes"));
  std::string state = "does_not_fit";
  if (needed <= available) state = "tight";
  if (number_of(member(total, "high_bytes")) <= available) state = "fits";
  json::Value out = json::Value::object();
  out.set("index", device == nullptr ? json::Value::null() : json::Value::integer(device->index));
  out.set("name", device == nullptr ? std::string("host") : device->name);
  out.set("uuid", device == nullptr ? json::Value::null() : json::Value::string(device->uuid));
  out.set("state", state);
  out.set("margin_bytes", json::Value::signed_integer(static_cast<int64_t>(available) -
                                                      static_cast<int64_t>(needed)));
  out.set("available_bytes", available);
  out.set("free_bytes", device == nullptr ? usable : device->free_bytes);
  out.set("usable_bytes", usable);
  out.set("needed_bytes", needed);
  out.set("low_bytes", member(total, "low_bytes"));
  out.set("high_bytes", member(total, "high_bytes"));
  json::Value terms = json::Value::object();
  for (const json::Value& term : items(member(predicted, "terms")))
    terms.set(text_of(member(term, "id")), member(term, "bytes"));
  out.set("terms", std::move(terms));
  return out;
}

/// Every rank beside its device, groups of equal ranks taken apart.
json::Value compare_all(const json::Value& estimate, const std::vector<MeasuredDevice>& devices) {
  json::Value out = json::Value::array();
  for (const json::Value& predicted : items(member(estimate, "devices"))) {
    const uint64_t first = number_of(member(predicted, "first_rank"));
    const bool is_host = text_of(member(predicted, "name")) == "host";
    for (uint64_t i = 0; i < number_of(member(predicted, "count")); ++i) {
      if (is_host)
        out.push(compare(predicted, nullptr));
      else if (first + i < devices.size())
        out.push(compare(predicted, &devices[first + i]));
    }
  }
  return out;
}

/// The verdict on the device that is worst off, or the engine's own when that is worse.
json::Value verdict_of(const json::Value& devices, const json::Value& engine_verdict) {
  json::Value out = json::Value::object();
  std::string state = text_of(member(engine_verdict, "state"));
  out.set("engine_state", state);
  const json::Value* worst = nullptr;
  for (const json::Value& device : items(devices)) {
    state = worse(state, text_of(member(device, "state")));
    const auto margin = [](const json::Value& of) {
      const json::Number* number = member(of, "margin_bytes").as_number();
      return number == nullptr ? 0.0 : number->real;
    };
    if (worst == nullptr || margin(device) < margin(*worst)) worst = &device;
  }
  out.set("state", state);
  if (worst == nullptr) return out;
  out.set("worst_device", member(*worst, "index"));
  for (const char* key : {"margin_bytes", "needed_bytes", "available_bytes"})
    out.set(key, member(*worst, key));
  return out;
}

json::Value too_few(uint64_t wanted, std::size_t found) {
  return error_envelope(
      {"validate.too_few_devices",
       fmt::format("The scenario uses {} GPUs; this machine shows {}", wanted, found),
       "Give the process more devices, or change gpu_count"});
}

/// The first `count` devices, as engines take them.
std::vector<MeasuredDevice> first_devices(std::vector<MeasuredDevice> devices, uint64_t count) {
  devices.resize(std::min<std::size_t>(devices.size(), count));
  return devices;
}

const MeasuredDevice& smallest(const std::vector<MeasuredDevice>& devices) {
  return *std::min_element(devices.begin(), devices.end(), [](const auto& a, const auto& b) {
    return std::min(a.usable_bytes, a.free_bytes) < std::min(b.usable_bytes, b.free_bytes);
  });
}

json::Value estimate(Program& program, const json::Value& scenario) {
  return program.call("estimate", request_with("scenario", scenario));
}

/// Predictions on a kind of device: what is needed, as on an empty card, since each device is held
/// against its own free memory; and the engine's verdict where others hold some of it.
struct Predictions {
  json::Value envelope;
  json::Value engine_verdict;
};

Predictions predict_on(Program& program, const json::Value& scenario,
                       const MeasuredDevice& device) {
  // Which engine is meant, only the facade knows: it fills in the defaults.
  json::Value first = scenario;
  first.set("gpu", device.gpu);
  Predictions out;
  out.envelope = estimate(program, first);
  if (!is_ok(out.envelope)) return out;
  const std::string engine =
      text_of(member(member(member(out.envelope, "result"), "scenario"), "engine"));
  const json::Value asked = on_machine(scenario, device, engine);
  out.envelope = estimate(program, asked);
  if (!is_ok(out.envelope)) return out;
  const json::Value shared = estimate(program, with_others(asked, device, engine));
  const json::Value& best = is_ok(shared) ? shared : out.envelope;
  out.engine_verdict = member(member(best, "result"), "verdict");
  return out;
}

std::string device_line(const json::Value& device) {
  const auto gib = [&](const char* key) {
    return gib_text(static_cast<double>(number_of(member(device, key))));
  };
  const json::Value& index = member(device, "index");
  const std::string title = index.is_null() ? std::string("Host")
                                            : fmt::format("GPU {}: {}", number_of(index),
                                                          text_of(member(device, "name")));
  return fmt::format("{}\n  needs {} ({} .. {}), available {} of {} free: {}\n", title,
                     gib("needed_bytes"), gib("low_bytes"), gib("high_bytes"),
                     gib("available_bytes"), gib("free_bytes"), text_of(member(device, "state")));
}

std::string verdict_line(const json::Value& verdict) {
  const std::string state = text_of(member(verdict, "state"));
  const json::Number* margin = member(verdict, "margin_bytes").as_number();
  const double bytes = margin == nullptr ? 0 : margin->real;
  const std::string where = bytes < 0 ? fmt::format("{} short", gib_text(-bytes))
                                      : fmt::format("{} left", gib_text(bytes));
  if (state == "fits") return "Fits: " + where;
  if (state == "tight") return "Tight: " + where + " by the central value";
  return bytes < 0 ? "Does not fit: " + where : "Does not fit by the engine's own rules";
}

}  // namespace

json::Value validate_scenario(Program& program, json::Value scenario, const json::Value& probe) {
  const auto measured = measured_devices(probe);
  if (!measured || !program.add_to_catalogue(request_with("gpus", member(probe, "gpus")))) {
    return error_envelope({"validate.bad_probe", "The machine's document cannot be read",
                           "Take what vramgauge probe --json writes"});
  }
  Predictions first = predict_on(program, scenario, measured->front());
  if (!is_ok(first.envelope)) return std::move(first.envelope);
  const uint64_t count =
      number_of(member(member(member(first.envelope, "result"), "scenario"), "gpu_count"));
  if (count > measured->size()) return too_few(count, measured->size());
  const std::vector<MeasuredDevice> devices = first_devices(*measured, count);
  Predictions predictions = predict_on(program, scenario, smallest(devices));
  json::Value envelope = std::move(predictions.envelope);
  if (!is_ok(envelope)) return envelope;

  const json::Value& estimated = member(envelope, "result");
  json::Value compared = compare_all(estimated, devices);
  json::Value result = json::Value::object();
  result.set("verdict", verdict_of(compared, predictions.engine_verdict));
  result.set("devices", std::move(compared));
  for (const char* key : {"scenario", "model", "weights"})
    result.set(key, member(estimated, key));
  envelope.set("result", std::move(result));
  return envelope;
}

std::string validate_text(const json::Value& result) {
  std::string out = verdict_line(member(result, "verdict")) + "\n";
  for (const json::Value& device : items(member(result, "devices")))
    out += device_line(device);
  return out;
}

int exit_code_of(const json::Value& result) {
  constexpr int kCodes[] = {0, 2, 1};
  return kCodes[rank_of(text_of(member(member(result, "verdict"), "state")))];
}

}  // namespace vramgauge::tools
