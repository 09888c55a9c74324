#include "probe_report.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "probe_json.h"
#include "text.h"

namespace vramgauge::tools {
namespace {

constexpr std::string_view kKind = "probe";
constexpr uint64_t kVersion = 1;
constexpr uint64_t kMarketingGb = 1'000'000'000;

json::Value number_or_null(const std::optional<uint64_t>& number) {
  return number ? json::Value::integer(*number) : json::Value::null();
}

json::Value text_or_null(const std::string& text) {
  return text.empty() ? json::Value::null() : json::Value::string(text);
}

json::Value process_json(const DeviceProcess& process) {
  json::Value out = json::Value::object();
  out.set("pid", uint64_t{process.pid});
  out.set("used_bytes", number_or_null(process.used_bytes));
  out.set("kind", process.is_graphics ? "graphics" : "compute");
  return out;
}

json::Value slice_json(const MigSlice& slice) {
  json::Value out = json::Value::object();
  out.set("uuid", slice.uuid);
  out.set("total_bytes",
          slice.memory ? json::Value::integer(slice.memory->total_bytes) : json::Value::null());
  out.set("free_bytes",
          slice.memory ? json::Value::integer(slice.memory->free_bytes) : json::Value::null());
  return out;
}

template <typename Item>
json::Value list_json(const std::vector<Item>& items, json::Value (*to_json)(const Item&)) {
  json::Value out = json::Value::array();
  for (const Item& item : items)
    out.push(to_json(item));
  return out;
}

std::string capability(const CudaDevice& device) {
  return fmt::format("{}.{}", device.capability_major, device.capability_minor);
}

json::Value device_json(const ProbedDevice& device, const std::string& gpu) {
  json::Value out = json::Value::object();
  out.set("index", static_cast<uint64_t>(device.cuda.ordinal));
  out.set("name", device.cuda.name);
  out.set("uuid", device.cuda.uuid);
  out.set("pci_bus_id", device.cuda.pci_bus_id);
  out.set("gpu", gpu);
  out.set("compute_capability", capability(device.cuda));
  out.set("multiprocessors", static_cast<uint64_t>(std::max(device.cuda.multiprocessors, 0)));
  out.set("is_integrated", json::Value::boolean(device.cuda.is_integrated));
  out.set("total_bytes", device.total_bytes);
  out.set("usable_bytes", device.cuda.total_bytes);
  out.set("reserved_bytes", number_or_null(device.reserved_bytes));
  out.set("free_bytes", device.free_bytes);
  out.set("is_free_before_context", json::Value::boolean(device.is_free_before_context));
  out.set("context_bytes", number_or_null(device.context_bytes));
  out.set("granularity_bytes", device.cuda.granularity_bytes == 0
                                   ? json::Value::null()
                                   : json::Value::integer(device.cuda.granularity_bytes));
  out.set("largest_allocation_bytes", number_or_null(device.largest_allocation_bytes));
  out.set("ecc", device.ecc);
  out.set("compute_mode", text_or_null(device.compute_mode));
  out.set("has_display",
          device.has_display ? json::Value::boolean(*device.has_display) : json::Value::null());
  out.set("is_mig_slice", json::Value::boolean(device.is_slice));
  out.set("mig_mode", text_or_null(device.mig_mode));
  out.set("mig_slices", list_json(device.slices, slice_json));
  out.set("nvlinks", uint64_t{device.nvlinks});
  out.set("processes", list_json(device.processes, process_json));
  return out;
}

json::Value link_json(const ProbedLink& link) {
  json::Value out = json::Value::object();
  out.set("a", static_cast<uint64_t>(link.a));
  out.set("b", static_cast<uint64_t>(link.b));
  out.set("has_peer_access", json::Value::boolean(link.has_peer_access));
  out.set("nvlinks", uint64_t{link.nvlinks});
  out.set("path", text_or_null(link.path));
  return out;
}

/// The catalogue's entry of the same name whose memory is nearest; null when there is none.
const json::Value* twin_of(const ProbedDevice& device, const json::Value& catalogue_gpus) {
  const json::Value* best = nullptr;
  uint64_t best_distance = UINT64_MAX;
  for (const json::Value& entry : items(catalogue_gpus)) {
    if (text_of(member(entry, "name")) != device.cuda.name) continue;
    const uint64_t total = number_of(member(entry, "total_bytes"));
    const uint64_t distance =
        total > device.total_bytes ? total - device.total_bytes : device.total_bytes - total;
    if (best != nullptr && distance >= best_distance) continue;
    best = &entry;
    best_distance = distance;
  }
  return best;
}

/// A catalogue entry with the measured totals in it.
json::Value gpu_json(const ProbedMachine& machine, const ProbedDevice& device,
                     const std::string& id, const json::Value& catalogue_gpus) {
  const json::Value* twin = twin_of(device, catalogue_gpus);
  json::Value out = twin != nullptr ? *twin : json::Value::object();
  const std::string source = fmt::format("vramgauge probe, driver {}, CUDA {}",
                                         machine.driver_version, machine.cuda_version);
  out.set("id", id);
  out.set("name", device.cuda.name);
  out.set("vendor", "NVIDIA");
  out.set("aliases", json::Value::array());
  if (twin == nullptr)
    out.set("marketing_gb", (device.total_bytes + kMarketingGb / 2) / kMarketingGb);
  out.set("total_bytes", device.total_bytes);
  out.set("usable_bytes", device.cuda.total_bytes);
  out.set("usable_basis", "measured");
  out.set("usable_source", source);
  out.set("basis", "measured");
  out.set("source", source);
  out.set("compute_capability", capability(device.cuda));
  return out;
}

/// Entries of the catalogue, one per kind of device, and which device is of which kind.
struct Kinds {
  json::Value gpus = json::Value::array();
  std::vector<std::string> ids;
};

Kinds kinds_of(const ProbedMachine& machine, const json::Value& catalogue_gpus) {
  Kinds kinds;
  std::vector<const ProbedDevice*> seen;
  for (const ProbedDevice& device : machine.devices) {
    const auto same = std::find_if(seen.begin(), seen.end(), [&](const ProbedDevice* other) {
      return other->cuda.name == device.cuda.name && other->total_bytes == device.total_bytes &&
             other->cuda.total_bytes == device.cuda.total_bytes;
    });
    const std::string id = fmt::format("measured-{}", same - seen.begin());
    if (same == seen.end()) {
      seen.push_back(&device);
      kinds.gpus.push(gpu_json(machine, device, id, catalogue_gpus));
    }
    kinds.ids.push_back(id);
  }
  return kinds;
}

std::string gib_or_unknown(const json::Value& bytes) {
  return bytes.is_null() ? "not known" : gib_text(static_cast<double>(number_of(bytes)));
}

std::string process_text(const json::Value& process) {
  return fmt::format("  process      {} ({}), {}\n", number_of(member(process, "pid")),
                     text_of(member(process, "kind")),
                     gib_or_unknown(member(process, "used_bytes")));
}

std::string device_text(const json::Value& device) {
  const auto gib = [&](const char* key) { return gib_or_unknown(member(device, key)); };
  const auto word = [&](const char* key) {
    const std::string text = text_of(member(device, key));
    return text.empty() ? std::string("not known") : text;
  };
  std::string out = fmt::format("GPU {}: {}\n", number_of(member(device, "index")), word("name"));
  out += fmt::format("  id           {}, {}\n", word("uuid"), word("pci_bus_id"));
  out += fmt::format("  memory       {} free of {}; CUDA offers {}\n", gib("free_bytes"),
                     gib("total_bytes"), gib("usable_bytes"));
  out += fmt::format("  context      {}\n", gib("context_bytes"));
  out += fmt::format("  allocations  in units of {} KiB, the largest single one {}\n",
                     number_of(member(device, "granularity_bytes")) / 1024,
                     gib("largest_allocation_bytes"));
  out +=
      fmt::format("  state        compute capability {}, ECC {}, compute mode {}, display {}{}\n",
                  word("compute_capability"), word("ecc"), word("compute_mode"),
                  is_true(member(device, "has_display")) ? "on" : "off",
                  is_true(member(device, "is_mig_slice")) ? ", a MIG slice" : "");
  for (const json::Value& slice : items(member(device, "mig_slices")))
    out += fmt::format("  MIG slice    {}, {} free of {}\n", text_of(member(slice, "uuid")),
                       gib_or_unknown(member(slice, "free_bytes")),
                       gib_or_unknown(member(slice, "total_bytes")));
  for (const json::Value& process : items(member(device, "processes")))
    out += process_text(process);
  return out;
}

std::string link_text(const json::Value& link) {
  const uint64_t nvlinks = number_of(member(link, "nvlinks"));
  const std::string path = text_of(member(link, "path"));
  return fmt::format("GPU {} - GPU {}: {}{}{}\n", number_of(member(link, "a")),
                     number_of(member(link, "b")),
                     nvlinks > 0 ? fmt::format("{} NVLinks, ", nvlinks) : std::string(),
                     path.empty() ? std::string() : path + ", ",
                     is_true(member(link, "has_peer_access")) ? "peer access" : "no peer access");
}

}  // namespace

json::Value probe_json(const ProbedMachine& machine, const json::Value& catalogue_gpus) {
  Kinds kinds = kinds_of(machine, catalogue_gpus);
  json::Value out = json::Value::object();
  out.set("kind", kKind);
  out.set("version", kVersion);
  out.set("driver_version", text_or_null(machine.driver_version));
  out.set("cuda_version", machine.cuda_version);
  out.set("nvml_version", text_or_null(machine.nvml_version));
  out.set("visible_devices", machine.visible_devices ? json::Value::string(*machine.visible_devices)
                                                     : json::Value::null());
  json::Value devices = json::Value::array();
  for (std::size_t i = 0; i < machine.devices.size(); ++i)
    devices.push(device_json(machine.devices[i], kinds.ids[i]));
  out.set("devices", std::move(devices));
  out.set("links", list_json(machine.links, link_json));
  out.set("gpus", std::move(kinds.gpus));
  return out;
}

std::string probe_text(const json::Value& probe) {
  const auto word = [&](const char* key) {
    const std::string text = text_of(member(probe, key));
    return text.empty() ? std::string("not known") : text;
  };
  std::string out = fmt::format("Driver {}, CUDA {}, NVML {}\n", word("driver_version"),
                                word("cuda_version"), word("nvml_version"));
  if (!member(probe, "visible_devices").is_null())
    out +=
        fmt::format("CUDA_VISIBLE_DEVICES is \"{}\"\n", text_of(member(probe, "visible_devices")));
  for (const json::Value& device : items(member(probe, "devices")))
    out += "\n" + device_text(device);
  if (!items(member(probe, "links")).empty()) out += "\n";
  for (const json::Value& link : items(member(probe, "links")))
    out += link_text(link);
  return out;
}

std::optional<std::vector<MeasuredDevice>> measured_devices(const json::Value& probe) {
  if (text_of(member(probe, "kind")) != kKind || number_of(member(probe, "version")) != kVersion)
    return std::nullopt;
  std::vector<MeasuredDevice> out;
  for (const json::Value& device : items(member(probe, "devices"))) {
    MeasuredDevice entry;
    entry.index = number_of(member(device, "index"));
    entry.uuid = text_of(member(device, "uuid"));
    entry.name = text_of(member(device, "name"));
    entry.gpu = text_of(member(device, "gpu"));
    entry.total_bytes = number_of(member(device, "total_bytes"));
    entry.usable_bytes = number_of(member(device, "usable_bytes"));
    entry.free_bytes = number_of(member(device, "free_bytes"));
    entry.is_free_before_context = is_true(member(device, "is_free_before_context"));
    entry.context_bytes = number_of(member(device, "context_bytes"));
    if (entry.gpu.empty() || entry.usable_bytes == 0) return std::nullopt;
    out.push_back(std::move(entry));
  }
  if (out.empty()) return std::nullopt;
  return out;
}

}  // namespace vramgauge::tools
