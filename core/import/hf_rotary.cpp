// Tables of cosines and sines that engines compute when they load a model: how many rows and
// columns follow from the rotary settings of the configuration. Rules as in
// vllm/model_executor/layers/rotary_embedding (vLLM 0.19), which other engines share for the most
// part: one table per distinct setting, whatever the number of layers.
#include <algorithm>
#include <cmath>

#include "import/hf_families.h"

namespace vramgauge::hf {
namespace {

/// One rotary setting, as far as sizes depend on it.
struct RotarySetting {
  std::string type = "default";
  double factor = 1;
  uint64_t original_tokens = 0;
  double partial = 1;
  bool has_sections = false;
};

/// Factors beyond this are mistakes.
constexpr double kMaxFactor = 4096;

double real_or(const json::Value& object, std::string_view key, double fallback) {
  const json::Value* value = object.find(key);
  const json::Number* number = value == nullptr ? nullptr : value->as_number();
  return number == nullptr ? fallback : number->real;
}

void read_setting(const json::Value& object, RotarySetting& setting) {
  for (std::string_view key : {"type", "rope_type"}) {
    const json::Value* value = object.find(key);
    if (value != nullptr && value->as_string() != nullptr) setting.type = *value->as_string();
  }
  const double factor = real_or(object, "factor", setting.factor);
  if (factor >= 1 && factor <= kMaxFactor) setting.factor = factor;
  const double partial = real_or(object, "partial_rotary_factor", setting.partial);
  if (partial > 0 && partial <= 1) setting.partial = partial;
  setting.has_sections = setting.has_sections || object.find("mrope_section") != nullptr;
  const json::Value* original = object.find("original_max_position_embeddings");
  if (original != nullptr) setting.original_tokens = original->as_u64().value_or(0);
}

CheckedU64 times(uint64_t tokens, double factor) {
  constexpr uint64_t kFixedPoint = uint64_t{1} << 20;
  return scaled(tokens, static_cast<uint64_t>(std::llround(factor * kFixedPoint)), kFixedPoint);
}

CheckedU64 table_rows(const RotarySetting& setting, uint64_t max_tokens) {
  const uint64_t original = setting.original_tokens != 0 ? setting.original_tokens : max_tokens;
  if (setting.type == "linear" || setting.type == "dynamic")
    return times(max_tokens, setting.factor);
  if (setting.type == "yarn" || setting.type == "deepseek_yarn")
    return times(original, setting.factor);
  // One half for short, one for long contexts.
  if (setting.type == "longrope" || setting.type == "su") return CheckedU64(original) + max_tokens;
  // Positions of images run ahead of those of the text.
  constexpr uint64_t kMropeReserve = 4;
  if (setting.has_sections || setting.type == "mrope")
    return CheckedU64(max_tokens) * kMropeReserve;
  return max_tokens;
}

const json::Value* object_member(ConfigView& view, std::string_view key) {
  const json::Value* value = view.raw(key);
  return value != nullptr && value->as_object() != nullptr ? value : nullptr;
}

/// The setting of all layers, or of those that see the whole context.
RotarySetting global_setting(ConfigView& view) {
  RotarySetting setting;
  for (std::string_view key : {"partial_rotary_factor", "rotary_pct", "rope_pct"}) {
    const json::Value* value = view.raw(key);
    const json::Number* number = value == nullptr ? nullptr : value->as_number();
    if (number != nullptr && number->real > 0 && number->real <= 1) setting.partial = number->real;
  }
  for (std::string_view key : {"rope_scaling", "rope_parameters"}) {
    const json::Value* object = object_member(view, key);
    if (object == nullptr) continue;
    const json::Value* full = object->find("full_attention");
    read_setting(full != nullptr && full->as_object() != nullptr ? *full : *object, setting);
  }
  return setting;
}

/// The setting of windowed layers, where they have one of their own.
std::optional<RotarySetting> local_setting(ConfigView& view) {
  if (const json::Value* parameters = object_member(view, "rope_parameters")) {
    const json::Value* local = parameters->find("sliding_attention");
    if (local != nullptr && local->as_object() != nullptr) {
      RotarySetting setting;
      read_setting(*local, setting);
      return setting;
    }
  }
  const bool has_own_base =
      view.raw("rope_local_base_freq") != nullptr || view.raw("swa_rope_theta") != nullptr;
  if (has_own_base) return RotarySetting{};
  return std::nullopt;
}

/// Families whose positions have sections even where the configuration leaves them to the class
/// (transformers, Qwen3VLTextRotaryEmbedding).
bool has_sections_by_class(const ModelSpec& spec) {
  return spec.model_type == "qwen3_vl_text" || spec.model_type == "qwen3_vl_moe_text";
}

bool has_rotary(Import& import) {
  ModelSpec& spec = import.spec;
  constexpr std::string_view kOtherPositions[] = {"bloom", "mpt", "jamba", "nemotron_h"};
  if (spec.position_embeddings != 0 || import.text().flag("alibi", false)) return false;
  // The larger of the two Baichuan models biases scores by distance instead.
  if (spec.model_type == "baichuan" && spec.hidden_size != 4096) return false;
  return std::find(std::begin(kOtherPositions), std::end(kOtherPositions), spec.model_type) ==
         std::end(kOtherPositions);
}

/// Width that may be rotated, and whether the mixer sees only a window; nothing for recurrent ones.
struct RotaryUse {
  uint64_t dim = 0;
  bool is_whole_head = false;
  bool is_local = false;
};

std::optional<RotaryUse> use_of(const Mixer& mixer) {
  if (const auto* a = std::get_if<Attention>(&mixer)) {
    if (a->is_cross) return std::nullopt;
    return RotaryUse{a->head_dim, true, a->window_tokens != 0};
  }
  if (const auto* a = std::get_if<LatentAttention>(&mixer)) return RotaryUse{a->qk_rope_head_dim};
  if (const auto* a = std::get_if<CompressedAttention>(&mixer)) return RotaryUse{a->rope_head_dim};
  return std::nullopt;
}

/// Proportional tables hold what is not rotated as well (gemma4_rope.py).
uint64_t table_width(const RotarySetting& setting, const RotaryUse& use) {
  const bool is_partial = use.is_whole_head && setting.type != "proportional";
  return is_partial ? times(use.dim, setting.partial).value_or(0) : use.dim;
}

}  // namespace

void add_rotary_tables(Import& import) {
  ModelSpec& spec = import.spec;
  if (!has_rotary(import) || spec.max_context_tokens == 0) return;
  ConfigView& view = import.text();
  RotarySetting global = global_setting(view);
  if (has_sections_by_class(spec)) global.has_sections = true;
  const std::optional<RotarySetting> local = local_setting(view);
  const auto add = [&](const RotarySetting& setting, uint64_t dim, bool is_local) {
    const RotaryTable table{table_rows(setting, spec.max_context_tokens).value_or(0), dim,
                            is_local};
    if (table.rows == 0 || table.dim == 0) return;
    const auto same = [&](const RotaryTable& other) {
      return other.rows == table.rows && other.dim == table.dim && other.is_local == table.is_local;
    };
    if (std::none_of(spec.rotary_tables.begin(), spec.rotary_tables.end(), same))
      spec.rotary_tables.push_back(table);
  };
  for (const Layer& layer : spec.layers) {
    for (const Mixer& mixer : layer.mixers) {
      const auto use = use_of(mixer);
      if (!use) continue;
      const bool is_local = use->is_local && local.has_value();
      const RotarySetting& setting = is_local ? *local : global;
      add(setting, table_width(setting, *use), is_local);
    }
  }
}

}  // namespace vramgauge::hf
