#include "api/write.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "model/cache_bytes.h"

namespace vramgauge::api {
namespace {

json::Value count(CheckedU64 value) {
  return value.valid() ? json::Value::integer(value.value_or(0)) : json::Value::null();
}

json::Value optional_count(const std::optional<uint64_t>& value) {
  return value ? json::Value::integer(*value) : json::Value::null();
}

json::Value line_json(const ArithmeticLine& line) {
  json::Value out = json::Value::object();
  out.set("label", line.label);
  out.set("formula", line.formula);
  out.set("substituted", line.substituted);
  out.set("result", line.result);
  return out;
}

json::Value term_json(const Term& term) {
  json::Value lines = json::Value::array();
  for (const ArithmeticLine& line : term.lines)
    lines.push(line_json(line));
  json::Value out = json::Value::object();
  out.set("id", term_name(term.id));
  out.set("bytes", term.bytes);
  out.set("low_bytes", term.low);
  out.set("high_bytes", term.high);
  out.set("basis", basis_name(term.basis));
  out.set("lines", std::move(lines));
  out.set("source", term.source);
  return out;
}

json::Value device_json(const DeviceBreakdown& device) {
  json::Value total = json::Value::object();
  total.set("bytes", device.total.bytes);
  total.set("low_bytes", device.total.low);
  total.set("high_bytes", device.total.high);
  total.set("basis", basis_name(device.total.basis));
  json::Value terms = json::Value::array();
  for (const Term& term : device.terms)
    terms.push(term_json(term));
  json::Value out = json::Value::object();
  out.set("name", device.name);
  out.set("count", device.count);
  out.set("first_rank", device.first_rank);
  out.set("last_rank", device.first_rank + device.count - 1);
  out.set("capacity_bytes", device.capacity);
  out.set("usable_bytes", device.usable);
  out.set("total", std::move(total));
  out.set("terms", std::move(terms));
  return out;
}

json::Value verdict_json(const Verdict& verdict) {
  json::Value out = json::Value::object();
  out.set("state", verdict_name(verdict.state));
  out.set("margin_bytes", json::Value::signed_integer(verdict.margin.count()));
  out.set("needed_bytes", verdict.needed);
  out.set("usable_bytes", verdict.usable);
  out.set("worst_device", verdict.worst_device);
  return out;
}

json::Value segment_json(const CacheSegment& segment) {
  json::Value out = json::Value::object();
  out.set("kind", cache_kind_name(segment.kind));
  out.set("mixer", segment.mixer);
  out.set("layers", segment.layers);
  out.set("fixed_bytes", segment.fixed_bytes);
  out.set("entry_bytes", segment.entry_bytes);
  out.set("tokens_per_entry", segment.tokens_per_entry);
  out.set("saturation_tokens", segment.saturation_tokens);
  out.set("basis", basis_name(segment.basis));
  return out;
}

json::Value segments_json(const CacheLayout& layout) {
  json::Value list = json::Value::array();
  for (const CacheSegment& segment : layout.segments)
    list.push(segment_json(segment));
  return list;
}

json::Value cache_json(const CacheSummary& cache, const CacheLayout& layout) {
  json::Value out = json::Value::object();
  out.set("bytes_per_token", cache.bytes_per_token);
  out.set("fixed_bytes_per_request", cache.fixed_bytes_per_request);
  out.set("bytes_per_request", cache.bytes_per_request);
  out.set("total_bytes", cache.total);
  out.set("segments", segments_json(layout));
  return out;
}

json::Value answers_json(const Answers& answers, const ModelSpec& spec) {
  json::Value out = json::Value::object();
  out.set("max_requests", optional_count(answers.max_requests));
  out.set("max_context_tokens", optional_count(answers.max_context_tokens));
  out.set("max_cached_tokens", optional_count(answers.max_cached_tokens));
  out.set("model_max_context_tokens", spec.max_context_tokens == 0
                                          ? json::Value::null()
                                          : json::Value::integer(spec.max_context_tokens));
  return out;
}

json::Value facts_json(const std::vector<EngineFact>& facts) {
  json::Value list = json::Value::array();
  for (const EngineFact& fact : facts) {
    json::Value item = json::Value::object();
    item.set("id", fact.id);
    item.set("value", fact.value);
    item.set("unit", fact.unit);
    list.push(std::move(item));
  }
  return list;
}

json::Value parameters_json(const ParameterCount& parameters) {
  json::Value roles = json::Value::object();
  for (uint64_t i = 0; i < kNumRoleGroups; ++i) {
    const auto group = static_cast<RoleGroup>(i);
    if (parameters.of(group).value_or(1) != 0)
      roles.set(role_group_name(group), count(parameters.of(group)));
  }
  json::Value out = json::Value::object();
  out.set("total", count(parameters.total));
  out.set("text", count(parameters.text));
  out.set("towers", count(parameters.towers));
  out.set("mtp", count(parameters.mtp));
  out.set("active", count(parameters.active));
  out.set("by_role", std::move(roles));
  return out;
}

json::Value kv_json(const ModelSpec& spec) {
  const Result<CacheLayout> layout =
      cache_layout(spec, sixteen_bit_cache(), sixteen_bit_cache(), 1);
  if (!layout) return json::Value::null();
  json::Value out = json::Value::object();
  out.set("bytes_per_token", count(bytes_per_token(*layout)));
  out.set("long_context_bytes_per_token", count(long_context_bytes_per_token(*layout)));
  out.set("fixed_bytes_per_request", count(fixed_bytes_per_request(*layout)));
  out.set("segments", segments_json(*layout));
  return out;
}

/// What kind of mixer, with the numbers that people know it by, as many as have a name.
struct MixerKind {
  std::string_view name;
  std::array<std::string_view, 5> keys{};
  std::array<uint64_t, 5> numbers{};

  /// Keys go with the name.
  bool operator==(const MixerKind& other) const {
    return numbers == other.numbers && name == other.name;
  }
};

MixerKind kind_of(const Mixer& mixer) {
  if (const auto* attention = std::get_if<Attention>(&mixer)) {
    return {"attention",
            {"num_heads", "num_kv_heads", "head_dim", "window_tokens", "chunk_tokens"},
            {attention->num_heads, attention->num_kv_heads, attention->head_dim,
             attention->window_tokens, attention->chunk_tokens}};
  }
  if (const auto* latent = std::get_if<LatentAttention>(&mixer)) {
    return {"latent",
            {"num_heads", "kv_lora_rank", "qk_rope_head_dim"},
            {latent->num_heads, latent->kv_lora_rank, latent->qk_rope_head_dim}};
  }
  return {std::holds_alternative<CompressedAttention>(mixer) ? "compressed" : "recurrent"};
}

json::Value mixer_json(const MixerKind& kind, uint64_t layers) {
  json::Value out = json::Value::object();
  out.set("kind", kind.name);
  for (std::size_t i = 0; i < kind.keys.size() && !kind.keys[i].empty(); ++i)
    out.set(kind.keys[i], kind.numbers[i]);
  out.set("layers", layers);
  return out;
}

/// Equal mixers counted, in the order in which the first of each occurs.
json::Value mixers_json(const ModelSpec& spec) {
  std::vector<std::pair<MixerKind, uint64_t>> counted;
  for (const Layer& layer : spec.layers) {
    for (const Mixer& mixer : layer.mixers) {
      const MixerKind kind = kind_of(mixer);
      const auto known = std::find_if(counted.begin(), counted.end(),
                                      [&](const auto& one) { return one.first == kind; });
      if (known != counted.end()) {
        ++known->second;
      } else {
        counted.emplace_back(kind, 1);
      }
    }
  }
  json::Value list = json::Value::array();
  for (const auto& [kind, layers] : counted)
    list.push(mixer_json(kind, layers));
  return list;
}

json::Value assumptions_json(const ModelSpec& spec) {
  json::Value list = json::Value::array();
  for (const auto& [key, value] : spec.assumptions) {
    json::Value item = json::Value::object();
    item.set("key", key);
    item.set("value", value);
    list.push(std::move(item));
  }
  return list;
}

json::Value weights_json(const Resolved& resolved) {
  json::Value groups = json::Value::object();
  for (uint64_t i = 0; i < kNumRoleGroups; ++i) {
    const Bytes bytes = resolved.weights->bytes_by_group[static_cast<std::size_t>(i)];
    if (bytes.count() != 0) groups.set(role_group_name(static_cast<RoleGroup>(i)), bytes);
  }
  json::Value out = json::Value::object();
  out.set("format", resolved.format.id);
  out.set("name", resolved.format.name);
  out.set("total_bytes", resolved.weights->total);
  out.set("elements", resolved.weights->elements);
  out.set("bytes_by_role", std::move(groups));
  return out;
}

std::string_view container_name(StoredModel::Container container) {
  return container == StoredModel::Container::gguf ? "gguf" : "safetensors";
}

}  // namespace

json::Value write_model(const LoadedModel& model) {
  json::Value out = json::Value::object();
  out.set("id", model.id);
  out.set("name", model.spec.name);
  out.set("family", model.family);
  out.set("source", model.source);
  out.set("verified", model.verified);
  out.set("model_type", model.spec.model_type);
  out.set("dtype", model.spec.dtype);
  out.set("quant_method", model.quantization ? model.quantization->method : std::string());
  out.set("container", model.stored ? container_name(model.stored->container) : std::string_view());
  out.set("num_layers", uint64_t{model.spec.layers.size()});
  out.set("max_context_tokens", model.spec.max_context_tokens);
  out.set("parameters", parameters_json(model.parameters));
  out.set("kv", kv_json(model.spec));
  out.set("mixers", mixers_json(model.spec));
  out.set("assumptions", assumptions_json(model.spec));
  return out;
}

json::Value write_estimate(const Scenario& scenario, const LoadedModel& model,
                           const Resolved& resolved, const EngineAnswer& answer) {
  const Breakdown& breakdown = answer.breakdown;
  json::Value devices = json::Value::array();
  for (const DeviceBreakdown& device : breakdown.devices)
    devices.push(device_json(device));
  json::Value out = json::Value::object();
  out.set("scenario", write_scenario(scenario));
  out.set("model", write_model(model));
  out.set("weights", weights_json(resolved));
  out.set("verdict", verdict_json(breakdown.verdict));
  out.set("devices", std::move(devices));
  out.set("cache", cache_json(breakdown.cache, resolved.cache));
  out.set("answers", answers_json(breakdown.answers, model.spec));
  if (!answer.facts.empty()) out.set("engine", facts_json(answer.facts));
  return out;
}

}  // namespace vramgauge::api
