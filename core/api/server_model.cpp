#include "api/server_model.h"

#include <algorithm>

#include "engine/state_precision.h"
#include "units/index.h"
#include "units/text_list.h"

namespace vramgauge::api {
namespace {

constexpr std::string_view kOn = "on";
/// Taken where the catalogue does not know better.
constexpr uint64_t kUsualCapability = 90;
constexpr uint64_t kUsualMultiprocessors = 132;

tl::unexpected<Diagnostics> missing(std::string_view key) {
  return fail(ErrorCode::json_missing_key, "/" + std::string(key), {{"key", key}});
}

/// "20,22" as numbers.
Result<std::vector<uint64_t>> stage_layers(const std::string& text) {
  std::vector<uint64_t> layers;
  for (const std::string_view part : parts_of(text)) {
    const auto count = parse_count(part);
    if (!count) {
      return fail(ErrorCode::value_unreadable, "/stage_layers",
                  {{"key", "stage_layers"},
                   {"value", std::string_view(text).substr(0, 80)},
                   {"expected", "numbers separated by commas"}});
    }
    layers.push_back(*count);
  }
  return layers;
}

/// GPUs that split every layer: what the other ranks leave when the scenario does not say.
Result<uint64_t> tensor_ranks(const Scenario& scenario) {
  // Replicas of attention alone live on the ranks that split the rest.
  const uint64_t replicas = scenario.dp_attention == kOn ? 1 : scenario.data_ranks;
  const CheckedU64 others = CheckedU64(scenario.pipeline_stages) * replicas;
  const uint64_t left = (CheckedU64(scenario.gpu_count) / others).value_or(0);
  const uint64_t ranks =
      scenario.tensor_ranks == 0 ? std::max<uint64_t>(left, 1) : scenario.tensor_ranks;
  if (const CheckedU64 needed = others * ranks; !(needed == CheckedU64(scenario.gpu_count))) {
    return fail(ErrorCode::engine_plan_mismatch, "/gpu_count",
                {{"tensor_ranks", ranks},
                 {"pipeline_stages", scenario.pipeline_stages},
                 {"data_ranks", replicas},
                 {"needed", needed.value_or(UINT64_MAX)},
                 {"gpu_count", scenario.gpu_count}});
  }
  return ranks;
}

Result<ParallelPlan> plan_of(const Scenario& scenario, const ServerRules& rules) {
  auto ranks = tensor_ranks(scenario);
  if (!ranks) return fail(std::move(ranks.error()));
  auto layers = stage_layers(scenario.stage_layers);
  if (!layers) return fail(std::move(layers.error()));
  ParallelPlan plan;
  plan.tensor_ranks = *ranks;
  plan.pipeline_stages = scenario.pipeline_stages;
  plan.data_ranks = scenario.dp_attention == kOn ? 1 : scenario.data_ranks;
  plan.is_expert_parallel = scenario.expert_parallel == kOn;
  plan.replicates_towers = rules.replicates_towers;
  plan.stage_layers = std::move(*layers);
  return plan;
}

void note_assumed(ServerModel& model, std::string_view fact, std::string_view value) {
  model.notes.push_back({ErrorCode::engine_device_fact_assumed,
                         "/gpu",
                         {{"fact", fact}, {"value", value}},
                         std::nullopt});
}

bool names_a100(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return name.find("a100") != std::string::npos;
}

Result<void> set_device(ServerModel& model, const Resolved& resolved, const ServerRules& rules) {
  const HardwareSpec& hardware = resolved.hardware;
  if (!hardware.vendor.empty() && !lists(rules.vendors, hardware.vendor)) {
    return fail(ErrorCode::engine_device_not_served, "/gpu",
                {{"engine", rules.engine}, {"vendor", hardware.vendor}});
  }
  VllmDevice& device = model.device;
  device.name = hardware.name;
  device.total = hardware.usable;
  device.held_by_others = hardware.held;
  device.is_rocm = hardware.vendor == "AMD";
  // The engine itself looks for it in the name of the device.
  device.is_a100 = names_a100(hardware.name);
  const bool has_cuda = hardware.vendor.empty() || hardware.vendor == "NVIDIA";
  device.capability =
      has_cuda && hardware.compute_capability == 0 ? kUsualCapability : hardware.compute_capability;
  if (has_cuda && hardware.compute_capability == 0)
    note_assumed(model, "compute capability", "9.0");
  device.multiprocessors = hardware.multiprocessors;
  if (hardware.multiprocessors == 0) {
    device.multiprocessors = kUsualMultiprocessors;
    note_assumed(model, "number of multiprocessors", std::to_string(kUsualMultiprocessors));
  }
  return {};
}

Result<void> set_cache_type(ServerModel& model, const Resolved& resolved,
                            const ServerRules& rules) {
  const CacheType& type = resolved.cache_type_k;
  if (type.id != resolved.cache_type_v.id) {
    return fail(ErrorCode::value_not_a_choice, "/cache_type_v",
                {{"key", "cache_type_v"},
                 {"value", resolved.cache_type_v.id},
                 {"choices", resolved.cache_type_k.id}});
  }
  // 32 bits only where the model itself has them.
  const bool is_wide = type.id == "fp32" && model.dtype_bytes == 4;
  if (!is_wide && !lists(rules.cache_types, type.id)) {
    return fail(ErrorCode::engine_cache_type_not_served, "/cache_type_k",
                {{"engine", rules.engine}, {"id", type.id}, {"choices", rules.cache_types}});
  }
  model.cache_type = type;
  // Engines copy it for every layer; its texts are for people.
  model.cache_type.aliases.clear();
  for (std::string* text :
       {&model.cache_type.name, &model.cache_type.source, &model.cache_type.notes})
    *text = std::string();
  return {};
}

/// Layers and tokens of speculative decoding.
Result<void> set_speculation(ServerModel& model, const Resolved& resolved) {
  const Scenario& scenario = resolved.scenario;
  if (scenario.speculative == "off") return {};
  const uint64_t own_layers = resolved.model->spec.mtp_layers.size();
  const bool is_mtp = scenario.speculative == "mtp";
  if (is_mtp && own_layers == 0) return fail(ErrorCode::engine_no_draft_layers, "/speculative", {});
  model.draft_tokens = scenario.draft_tokens;
  // As many as the model's configuration has layers for.
  if (is_mtp && model.draft_tokens == 0) model.draft_tokens = own_layers;
  if (model.draft_tokens == 0) return missing("draft_tokens");
  if (resolved.draft != nullptr) {
    auto spec = spec_with_model(*resolved.model, *resolved.draft);
    if (!spec) return fail(below("/draft_model", std::move(spec.error())));
    model.spec = *spec;
    model.draft = resolved.draft;
    model.loads_drafts = true;
    return {};
  }
  model.loads_drafts = model.plan.loads_drafts = scenario.speculative != "ngram";
  if (scenario.speculative != "eagle") return {};
  auto drafted = spec_with_draft(*resolved.model);
  if (drafted == nullptr) return fail(ErrorCode::engine_no_draft_layers, "/speculative", {});
  model.spec = drafted;
  model.notes.push_back({ErrorCode::engine_draft_assumed, "/speculative", {}, std::nullopt});
  return {};
}

Result<void> set_lengths(ServerModel& model, const Scenario& scenario) {
  model.max_model_len =
      scenario.max_model_len == 0 ? scenario.context_tokens : scenario.max_model_len;
  if (model.max_model_len < scenario.context_tokens) {
    return fail(ErrorCode::value_out_of_range, "/max_model_len",
                {{"key", "max_model_len"},
                 {"value", std::to_string(model.max_model_len)},
                 {"min", std::to_string(scenario.context_tokens)},
                 {"max", std::to_string(kMaxApiBytes)}});
  }
  const uint64_t limit = model.spec->max_context_tokens;
  if (limit != 0 && scenario.max_model_len > limit) {
    model.notes.push_back({ErrorCode::engine_context_beyond_model,
                           "/max_model_len",
                           {{"context", scenario.max_model_len}, {"max", limit}},
                           std::nullopt});
  }
  model.requests_per_replica = requests_per_replica(scenario);
  return {};
}

Result<void> check_stages(const ServerModel& model) {
  auto counts = stage_layer_counts(model.spec->layers.size(), model.plan);
  if (!counts) {
    const std::string_view key =
        model.plan.stage_layers.empty() ? "/pipeline_stages" : "/stage_layers";
    return fail(below(std::string(key), std::move(counts.error())));
  }
  return {};
}

}  // namespace

uint64_t requests_per_replica(const Scenario& scenario) {
  return ceil_div(scenario.num_requests, scenario.data_ranks).value_or(1);
}

Result<ServerModel> server_model(const Resolved& resolved, const ServerRules& rules,
                                 const std::string& path) {
  ServerModel model;
  const auto located = [&path](Diagnostics errors) { return fail(below(path, std::move(errors))); };
  model.spec = &resolved.model->spec;
  model.dtype_bytes = resolved.format.id == "fp32" ? 4 : 2;
  model.state_precision = server_state_precision(*model.spec, model.dtype_bytes);
  auto plan = plan_of(resolved.scenario, rules);
  if (!plan) return located(std::move(plan.error()));
  model.plan = std::move(*plan);
  if (auto set = check_stages(model); !set) return located(std::move(set.error()));
  if (auto set = set_device(model, resolved, rules); !set) return located(std::move(set.error()));
  if (auto set = set_speculation(model, resolved); !set) return located(std::move(set.error()));
  if (auto set = set_cache_type(model, resolved, rules); !set)
    return located(std::move(set.error()));
  if (auto set = set_lengths(model, resolved.scenario); !set)
    return located(std::move(set.error()));
  model.notes = below(path, std::move(model.notes));
  return model;
}

}  // namespace vramgauge::api
