#include "engine/llama_cpp_placement.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "engine/llama_cpp_cache.h"
#include "import/gguf_tensors.h"
#include "units/index.h"
#include "units/name_pattern.h"

namespace vramgauge {
namespace {

constexpr uint64_t kHost = LlamaCppPlacement::kHost;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// What --n-cpu-moe's pattern finds: ffn_(up|down|gate|gate_up)_(ch)exps.
bool is_moved_expert(std::string_view rest) {
  constexpr std::string_view kKinds[] = {"ffn_up_", "ffn_down_", "ffn_gate_", "ffn_gate_up_"};
  return std::any_of(std::begin(kKinds), std::end(kKinds), [rest](std::string_view kind) {
    if (!starts_with(rest, kind)) return false;
    const std::string_view tail = rest.substr(kind.size());
    return starts_with(tail, "exps") || starts_with(tail, "chexps");
  });
}

/// The user's patterns, and --n-cpu-moe's behind them.
class Overrides {
 public:
  static Result<Overrides> compile(const LlamaCppOptions& options) {
    Overrides overrides;
    overrides.num_cpu_moe_ = options.n_cpu_moe;
    for (const LlamaCppOverride& row : options.overrides) {
      if (row.device != kHost && row.device >= options.devices.size()) {
        return fail(ErrorCode::value_out_of_range, "",
                    {{"key", "override_tensor"},
                     {"value", row.device},
                     {"min", uint64_t{0}},
                     {"max", uint64_t{options.devices.size()}}});
      }
      // The engine looks for the pattern anywhere in a name.
      auto pattern = NamePattern::expression(".*(" + row.pattern + ")");
      if (!pattern) {
        return fail(ErrorCode::llama_cpp_bad_pattern, "",
                    {{"pattern", row.pattern}, {"construct", pattern.error()}});
      }
      overrides.rows_.push_back({std::move(*pattern), row.device});
    }
    return overrides;
  }

  bool empty() const { return rows_.empty() && num_cpu_moe_ == 0; }

  /// Where a tensor is sent; `otherwise` when nothing names it.
  uint64_t device_of(std::string_view name, uint64_t otherwise) const {
    for (const Row& row : rows_) {
      if (row.pattern.matches(name)) return row.device;
    }
    const auto in_layer = split_gguf_layer(name);
    const bool is_moved =
        in_layer && in_layer->layer < num_cpu_moe_ && is_moved_expert(in_layer->rest);
    return is_moved ? kHost : otherwise;
  }

 private:
  struct Row {
    NamePattern pattern;
    uint64_t device;
  };
  std::vector<Row> rows_;
  uint64_t num_cpu_moe_ = 0;
};

/// Divides the layers over devices by their shares. The engine computes with 32-bit floats, and so
/// does this: a rounding decides where a layer goes.
class LayerSplit {
 public:
  LayerSplit(const LlamaCppOptions& options, uint64_t num_layers) : num_slots_(num_layers + 1) {
    const uint64_t asked =
        options.n_gpu_layers < 0 ? num_slots_ : static_cast<uint64_t>(options.n_gpu_layers);
    num_offloaded_ = options.devices.empty() ? 0 : std::min(asked, num_slots_);
    const bool by_memory = std::all_of(options.tensor_split.begin(), options.tensor_split.end(),
                                       [](float share) { return share == 0; });
    float sum = 0;
    for (size_t i = 0; i < options.devices.size(); ++i) {
      sum += by_memory ? static_cast<float>(options.devices[i].free.count()) : share_of(options, i);
      shares_.push_back(sum);
    }
    for (float& share : shares_)
      share /= sum;
  }

  bool offloads_everything() const { return num_offloaded_ == num_slots_; }

  /// The device of a layer; the output counts as the layer behind the last.
  uint64_t device_of(uint64_t layer) const {
    const uint64_t first = num_slots_ - num_offloaded_;
    if (layer < first) return kHost;
    const float at = static_cast<float>(layer - first) / static_cast<float>(num_offloaded_);
    const auto found = std::upper_bound(shares_.begin(), shares_.end(), at);
    const auto device = static_cast<uint64_t>(found - shares_.begin());
    return std::min<uint64_t>(device, shares_.size() - 1);
  }

 private:
  static float share_of(const LlamaCppOptions& options, size_t device) {
    return device < options.tensor_split.size() ? options.tensor_split[device] : 0;
  }

  std::vector<float> shares_;
  uint64_t num_slots_;
  uint64_t num_offloaded_ = 0;
};

bool is_copied(const LlamaCppWeight& weight) {
  return weight.place == LlamaCppPlace::every_layer ||
         weight.place == LlamaCppPlace::every_full_layer;
}

/// Where a weight lies that no pattern names.
uint64_t natural_device(const LlamaCppWeight& weight, const LlamaCppPlacement& placement) {
  if (weight.place == LlamaCppPlace::host) return kHost;
  if (weight.place == LlamaCppPlace::output) return placement.output_device;
  return placement.layer_device[index_of(is_copied(weight) ? 0 : weight.layer)];
}

/// Sums of one quantity by buffer.
class Sums {
 public:
  explicit Sums(uint64_t num_devices) { bytes_.gpus.resize(index_of(num_devices)); }

  void add_weight(const LlamaCppWeight& weight, uint64_t device) {
    LlamaCppWeightBytes bytes;
    bytes.add(weight);
    add_weights(bytes, device);
  }

  void add_weights(const LlamaCppWeightBytes& weights, uint64_t device) {
    if (device != kHost) {
      bytes_.gpus[index_of(device)] += weights.gpu;
    } else if (!bytes_.gpus.empty()) {
      bytes_.pinned += weights.pinned;
    } else {
      bytes_.cpu += weights.cpu;
      bytes_.cpu_repack += weights.cpu_repack;
    }
  }

  /// A cache in host memory is never pinned.
  void add_cache(CheckedU64 bytes, uint64_t device) {
    (device == kHost ? bytes_.cpu : bytes_.gpus[index_of(device)]) += bytes;
  }

  void add_pinned(CheckedU64 bytes) { bytes_.pinned += bytes; }

  LlamaCppBufferBytes take() { return std::move(bytes_); }

 private:
  LlamaCppBufferBytes bytes_;
};

/// Devices that hold a layer that uses the weight, each once.
std::vector<uint64_t> devices_of_copies(const LlamaCppWeight& weight, const LlamaCppModel& model,
                                        const LlamaCppPlacement& placement) {
  std::vector<uint64_t> devices;
  for (uint64_t layer = 0; layer < model.num_layers; ++layer) {
    const bool is_windowed = model.layers[index_of(layer)].is_windowed;
    if (is_windowed && weight.place == LlamaCppPlace::every_full_layer) continue;
    const uint64_t device = placement.layer_device[index_of(layer)];
    if (std::find(devices.begin(), devices.end(), device) == devices.end())
      devices.push_back(device);
  }
  return devices;
}

void add_one_by_one(Sums& sums, const LlamaCppModel& model, const LlamaCppPlacement& placement) {
  for (size_t i = 0; i < model.weights.size(); ++i) {
    const LlamaCppWeight& weight = model.weights[i];
    if (!is_copied(weight)) sums.add_weight(weight, placement.weight_device[i]);
  }
}

void add_by_layer(Sums& sums, const LlamaCppModel& model, const LlamaCppPlacement& placement) {
  const LlamaCppGroups& groups = model.groups;
  for (size_t layer = 0; layer < groups.layers.size(); ++layer)
    sums.add_weights(groups.layers[layer].bytes, placement.layer_device[layer]);
  sums.add_weights(groups.host, kHost);
  sums.add_weights(groups.output, placement.output_device);
}

LlamaCppBufferBytes weight_sums(const LlamaCppModel& model, const LlamaCppPlacement& placement,
                                uint64_t num_devices) {
  Sums sums(num_devices);
  if (placement.weight_device.empty())
    add_by_layer(sums, model, placement);
  else
    add_one_by_one(sums, model, placement);
  for (const uint32_t i : model.groups.outside) {
    const LlamaCppWeight& weight = model.weights[i];
    if (!is_copied(weight)) continue;
    for (const uint64_t device : devices_of_copies(weight, model, placement))
      sums.add_weight(weight, device);
  }
  return sums.take();
}

/// Layers of each kind on each device, the host's last.
class LayerCounts {
 public:
  LayerCounts(const LlamaCppModel& model, const LlamaCppPlacement& placement, uint64_t num_devices)
      : num_columns_(index_of(num_devices + 1)), counts_(model.groups.kinds.size() * num_columns_) {
    for (size_t layer = 0; layer < model.layers.size(); ++layer)
      ++counts_[cell(model.groups.kind_of_layer[layer], placement.cache_device(layer))];
  }

  uint64_t of(size_t kind, uint64_t device) const { return counts_[cell(kind, device)]; }

 private:
  size_t cell(size_t kind, uint64_t device) const {
    return kind * num_columns_ + (device == kHost ? num_columns_ - 1 : index_of(device));
  }

  size_t num_columns_;
  std::vector<uint64_t> counts_;
};

}  // namespace

uint64_t LlamaCppPlacement::cache_device(uint64_t layer) const {
  return offloads_cache ? layer_device[index_of(layer)] : kHost;
}

uint64_t LlamaCppPlacement::device_of(const LlamaCppModel& model, size_t weight) const {
  return weight_device.empty() ? natural_device(model.weights[weight], *this)
                               : weight_device[weight];
}

bool LlamaCppPlacement::has_host_weights(const LlamaCppModel& model) const {
  const LlamaCppGroups& groups = model.groups;
  const auto is_moved = [&](size_t i) {
    return model.weights[i].place != LlamaCppPlace::host && device_of(model, i) == kHost;
  };
  if (std::any_of(groups.outside.begin(), groups.outside.end(), is_moved)) return true;
  for (size_t layer = 0; layer < groups.layers.size(); ++layer) {
    const auto& weights = groups.layers[layer].list;
    const bool is_any_moved =
        weight_device.empty()
            ? !weights.empty() && layer_device[layer] == kHost
            : std::any_of(weights.begin(), weights.end(),
                          [&](const LlamaCppLayerWeight& one) { return is_moved(one.weight); });
    if (is_any_moved) return true;
  }
  return false;
}

CheckedU64 LlamaCppBufferBytes::sum() const {
  CheckedU64 total = cpu + cpu_repack + pinned;
  for (const CheckedU64 gpu : gpus)
    total += gpu;
  return total;
}

Result<LlamaCppPlacement> llama_cpp_placement(const LlamaCppModel& model,
                                              const LlamaCppOptions& options) {
  if (options.tensor_split.size() > options.devices.size() && !options.devices.empty()) {
    return fail(ErrorCode::value_out_of_range, "",
                {{"key", "tensor_split"},
                 {"value", uint64_t{options.tensor_split.size()}},
                 {"min", uint64_t{0}},
                 {"max", uint64_t{options.devices.size()}}});
  }
  auto overrides = Overrides::compile(options);
  if (!overrides) return fail(std::move(overrides.error()));
  const LayerSplit split(options, model.layers.size());
  LlamaCppPlacement placement;
  placement.layer_device.reserve(model.layers.size());
  for (uint64_t layer = 0; layer < model.layers.size(); ++layer)
    placement.layer_device.push_back(split.device_of(layer));
  placement.output_device = split.device_of(model.layers.size());
  placement.offloads_cache = options.offload_kv;
  placement.is_pipelined = options.devices.size() > 1 && split.offloads_everything() &&
                           options.offload_kv && overrides->empty();
  if (overrides->empty()) return placement;
  placement.weight_device.reserve(model.weights.size());
  for (const LlamaCppWeight& weight : model.weights) {
    placement.weight_device.push_back(
        overrides->device_of(model.tensors[weight.tensor].name, natural_device(weight, placement)));
  }
  return placement;
}

LlamaCppStored llama_cpp_stored(const LlamaCppModel& model, const LlamaCppContext& context,
                                const LlamaCppPlacement& placement, uint64_t num_devices) {
  Sums full(num_devices);
  Sums windowed(num_devices);
  Sums indexer(num_devices);
  Sums state(num_devices);
  Sums output(num_devices);
  const LayerCounts counts(model, placement, num_devices);
  const auto add_caches = [&](size_t kind, uint64_t device) {
    const CheckedU64 count = counts.of(kind, device);
    if (count == CheckedU64(uint64_t{0})) return;
    const LlamaCppLayerBytes bytes =
        llama_cpp_layer_bytes(model, context, model.groups.kinds[kind].first, device != kHost);
    full.add_cache(bytes.full * count, device);
    windowed.add_cache(bytes.windowed * count, device);
    indexer.add_cache(bytes.indexer * count, device);
    state.add_cache(bytes.state * count, device);
  };
  for (size_t kind = 0; kind < model.groups.kinds.size(); ++kind) {
    for (uint64_t device = 0; device < num_devices; ++device)
      add_caches(kind, device);
    add_caches(kind, kHost);
  }
  // The rows of logits are read by the CPU, wherever they are computed.
  const CheckedU64 rows = llama_cpp_output_bytes(model, context);
  if (placement.output_device == kHost)
    output.add_cache(rows, kHost);
  else
    output.add_pinned(rows);
  return {weight_sums(model, placement, num_devices),
          full.take(),
          windowed.take(),
          indexer.take(),
          state.take(),
          output.take()};
}

}  // namespace vramgauge
