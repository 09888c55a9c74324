#include "engine/llama_cpp_fit_launcher.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "units/index.h"

namespace vramgauge {
namespace {

constexpr double kMaxConstant = 1e9;

/// Looks whole numbers up by key.
class Constants {
 public:
  explicit Constants(const json::Value& entry) {
    const json::Value* list = entry.find("constants");
    rows_ = list == nullptr ? nullptr : list->as_array();
  }

  double number(std::string_view key) {
    for (size_t i = 0; rows_ != nullptr && i < rows_->size(); ++i) {
      const json::Value* name = (*rows_)[i].find("key");
      const json::Value* value = (*rows_)[i].find("value");
      if (name == nullptr || name->as_string() == nullptr || *name->as_string() != key) continue;
      const json::Number* number = value == nullptr ? nullptr : value->as_number();
      if (number == nullptr || !std::isfinite(number->real)) break;
      return std::clamp(number->real, 0.0, kMaxConstant);
    }
    errors_.push_back({ErrorCode::json_missing_key, "/constants", {{"key", key}}, std::nullopt});
    return 0;
  }

  uint64_t count(std::string_view key) { return static_cast<uint64_t>(number(key)); }

  Decimal fraction(std::string_view key) {
    return Decimal::from_micros(static_cast<uint64_t>(std::llround(number(key) * 1e6)));
  }

  LlamaCppLauncherTiers tiers(const std::string& unit) {
    return {count("small_" + unit), count("medium_" + unit), count("large_" + unit)};
  }

  Bytes mebibytes(std::string_view key) { return MiB(count(key)); }
  Diagnostics take_errors() { return std::move(errors_); }

 private:
  const json::Value::Array* rows_ = nullptr;
  Diagnostics errors_;
};

CheckedU64 sum_of_gpus(const LlamaCppMachine& machine, Bytes less_each) {
  CheckedU64 sum;
  for (const HardwareSpec& gpu : machine.gpus)
    sum += gpu.usable.count() - std::min(gpu.usable.count(), less_each.count());
  return sum;
}

uint64_t context_by_memory(const LlamaCppLauncher& launcher, const LlamaCppMachine& machine) {
  const uint64_t memory = sum_of_gpus(machine, Bytes()).value_or(0);
  if (memory >= launcher.large_context_from.count()) return launcher.context_tokens.large;
  if (memory >= launcher.medium_context_from.count()) return launcher.context_tokens.medium;
  return launcher.context_tokens.small;
}

uint64_t context_of(const LlamaCppLauncher& launcher, const LlamaCppModel& model,
                    const LlamaCppMachine& machine, const LlamaCppOptions& options) {
  const uint64_t longest = model.spec.max_context_tokens;
  // Where requests share the cells, the context of one is that of all.
  const uint64_t shares = options.kv_unified ? 1 : options.n_seq_max;
  uint64_t tokens = options.ctx_tokens / shares;
  if (options.ctx_tokens == 0) tokens = context_by_memory(launcher, machine);
  if (longest != 0) tokens = std::min(tokens, longest);
  return (CheckedU64(tokens) * CheckedU64(shares)).value_or(kMaxApiBytes);
}

CheckedU64 file_bytes(const LlamaCppModel& model) {
  CheckedU64 sum;
  for (const LlamaCppTensor& tensor : model.tensors) {
    sum += row_bytes(tensor.type, tensor.dims[0]) * CheckedU64(tensor.dims[1]) *
           CheckedU64(tensor.dims[2]) * CheckedU64(tensor.dims[3]);
  }
  return sum;
}

/// Keys and values at 16 bit, as if every layer had the fewest KV heads and plain head dimensions.
CheckedU64 supposed_cache(const LlamaCppModel& model, uint64_t ctx_tokens) {
  uint64_t heads = 0;
  uint64_t kv_heads = ~uint64_t{0};
  for (const LlamaCppLayer& layer : model.layers) {
    heads = std::max(heads, layer.num_heads);
    kv_heads = std::min(kv_heads, layer.num_kv_heads);
  }
  const uint64_t head_dim = heads == 0 ? 0 : model.spec.hidden_size / heads;
  return CheckedU64(uint64_t{4}) * CheckedU64(uint64_t{model.layers.size()}) *
         CheckedU64(std::max<uint64_t>(1, kv_heads)) * CheckedU64(head_dim) *
         CheckedU64(ctx_tokens);
}

uint64_t share_of(uint64_t bytes, Decimal frac) { return (CheckedU64(bytes) * frac).value_or(0); }

uint64_t batch_of(const LlamaCppLauncher& launcher, uint64_t ctx_tokens, uint64_t predicted,
                  uint64_t available) {
  const uint64_t room = share_of(available, launcher.room_frac);
  const auto fits = [&](Decimal room_frac, Bytes cost) {
    if (available == 0) return true;
    return predicted <= share_of(available, room_frac) && predicted <= room &&
           cost.count() <= room - predicted;
  };
  if (ctx_tokens > launcher.large_batch_above_tokens &&
      fits(launcher.large_batch_room_frac, launcher.large_batch_cost))
    return launcher.batch_tokens.large;
  if (ctx_tokens > launcher.medium_batch_above_tokens &&
      fits(launcher.medium_batch_room_frac, launcher.medium_batch_cost))
    return launcher.batch_tokens.medium;
  return launcher.batch_tokens.small;
}

/// The largest GPU alone, if the model is thought to fit there well.
void choose_gpus(const LlamaCppLauncher& launcher, uint64_t predicted, Bytes context,
                 LlamaCppMachine& machine) {
  const auto largest = std::max_element(
      machine.gpus.begin(), machine.gpus.end(),
      [](const HardwareSpec& a, const HardwareSpec& b) { return a.usable < b.usable; });
  if (machine.gpus.size() < 2) return;
  const uint64_t usable = largest->usable.count();
  const uint64_t available = usable - std::min(usable, context.count());
  if (predicted > share_of(available, launcher.single_gpu_frac)) return;
  machine.gpus = {*largest};
}

}  // namespace

Result<LlamaCppLauncher> llama_cpp_launcher(const json::Value& entry) {
  Constants constants(entry);
  LlamaCppLauncher launcher;
  launcher.context_tokens = constants.tiers("context_tokens");
  launcher.medium_context_from = constants.mebibytes("medium_context_from_mib");
  launcher.large_context_from = constants.mebibytes("large_context_from_mib");
  launcher.num_parallel = std::max<uint64_t>(1, constants.count("num_parallel"));
  launcher.kv_unified = constants.count("kv_unified") != 0;
  launcher.batch_tokens = constants.tiers("batch_tokens");
  launcher.medium_batch_above_tokens = constants.count("medium_batch_above_tokens");
  launcher.large_batch_above_tokens = constants.count("large_batch_above_tokens");
  launcher.medium_batch_room_frac = constants.fraction("medium_batch_room_frac");
  launcher.large_batch_room_frac = constants.fraction("large_batch_room_frac");
  launcher.room_frac = constants.fraction("room_frac");
  launcher.medium_batch_cost = constants.mebibytes("medium_batch_cost_mib");
  launcher.large_batch_cost = constants.mebibytes("large_batch_cost_mib");
  launcher.single_gpu_frac = constants.fraction("single_gpu_frac");
  launcher.projector_margin = constants.mebibytes("projector_margin_mib");
  const json::Value* source = entry.find("source");
  if (source != nullptr && source->as_string() != nullptr) launcher.source = *source->as_string();
  Diagnostics errors = constants.take_errors();
  if (!errors.empty()) return fail(std::move(errors));
  return launcher;
}

LlamaCppLaunch llama_cpp_launch(const LlamaCppLauncher& launcher, const LlamaCppModel& model,
                                LlamaCppOptions options, const LlamaCppMachine& machine,
                                const LlamaCppExtras& extras, const LlamaCppConstants& constants) {
  LlamaCppLaunch launch;
  launch.machine = machine;
  options.program = LlamaCppProgram::server;
  if (options.n_seq_max == 0) options.n_seq_max = launcher.num_parallel;
  options.kv_unified = launcher.kv_unified;
  options.ctx_tokens = context_of(launcher, model, machine, options);
  const Bytes cuda = constants.cuda_context.value;
  const uint64_t predicted =
      (file_bytes(model) + supposed_cache(model, options.ctx_tokens)).value_or(kMaxApiBytes);
  choose_gpus(launcher, predicted, cuda, launch.machine);
  const uint64_t available = sum_of_gpus(launch.machine, cuda).value_or(0);
  options.n_batch = batch_of(launcher, options.ctx_tokens, predicted, available);
  options.n_ubatch = options.n_batch;
  if (extras.projector != Bytes()) {
    launch.targets.margin = bytes_of(checked(extras.projector) + checked(launcher.projector_margin))
                                .value_or(Bytes(kMaxApiBytes));
  }
  launch.options = std::move(options);
  return launch;
}

}  // namespace vramgauge
