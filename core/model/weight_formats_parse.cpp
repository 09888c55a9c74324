#include <algorithm>
#include <utility>

#include "model/weight_formats.h"

namespace vramgauge {
namespace {

constexpr std::string_view kPartNames[] = {
    "embedding", "output",        "norm",   "router", "attention", "recurrent", "mlp",
    "expert",    "shared_expert", "vision", "audio",  "mtp",       "other"};
static_assert(std::size(kPartNames) == kNumFormatParts);

/// The value of a key that must be there.
template <typename T>
T required(json::ObjectReader& reader, std::string_view key, std::optional<T> value) {
  if (!value && !reader.has(key)) {
    reader.error(ErrorCode::json_missing_key, key, {{"key", key}});
  }
  return value.value_or(T{});
}

void report_unread(json::ObjectReader& reader) {
  for (const std::string& key : reader.unread_keys()) {
    reader.error(ErrorCode::api_unknown_key, key, {{"key", key}});
  }
}

void not_a_choice(json::ObjectReader& reader, std::string_view key, std::string value,
                  std::string choices) {
  reader.error(ErrorCode::value_not_a_choice, key,
               {{"key", key}, {"value", std::move(value)}, {"choices", std::move(choices)}});
}

IdealLayout parse_ideal(json::ObjectReader& reader) {
  return {Decimal::from_micros(required(reader, "bits", reader.u64("bits", {1, 64})) *
                               Decimal::kScale)};
}

RaggedRule parse_ragged(json::ObjectReader& reader) {
  const std::string rule = reader.string("ragged").value_or("refuse");
  if (rule == "keep") return RaggedRule::keep;
  if (rule == "pad") return RaggedRule::pad;
  if (rule != "refuse") not_a_choice(reader, "ragged", rule, "refuse, keep, pad");
  return RaggedRule::refuse;
}

GroupedLayout parse_grouped(json::ObjectReader& reader) {
  constexpr json::Range kWidth{1, 1024};
  constexpr json::Range kCount{1, uint64_t{1} << 20};
  GroupedLayout layout;
  layout.bits = required(reader, "bits", reader.u64("bits", {1, 64}));
  layout.group_size = reader.u64("group_size", kCount).value_or(0);
  layout.scale_bits = reader.u64("scale_bits", kWidth).value_or(0);
  layout.zero_bits = reader.u64("zero_bits", kWidth).value_or(0);
  layout.word_bits = reader.u64("word_bits", kWidth).value_or(layout.word_bits);
  layout.flat = reader.boolean("flat").value_or(false);
  layout.super_group = reader.u64("super_group", kCount).value_or(0);
  layout.super_scale_bits = reader.u64("super_scale_bits", kWidth).value_or(0);
  layout.per_row_bits = reader.u64("per_row_bits", kWidth).value_or(0);
  layout.per_column_bits = reader.u64("per_column_bits", kWidth).value_or(0);
  layout.per_tensor_bits = reader.u64("per_tensor_bits", kWidth).value_or(0);
  layout.block_rows = reader.u64("block_rows", kCount).value_or(0);
  layout.block_cols = reader.u64("block_cols", kCount).value_or(layout.block_rows);
  layout.codebook_bytes = reader.u64("codebook_bytes", {1, uint64_t{1} << 30}).value_or(0);
  layout.in_multiple = reader.u64("in_multiple", kCount).value_or(1);
  layout.out_multiple = reader.u64("out_multiple", kCount).value_or(1);
  const std::string axis = reader.string("pack_axis").value_or("in");
  if (axis != "in" && axis != "out") not_a_choice(reader, "pack_axis", axis, "in, out");
  layout.packs_outputs = axis == "out";
  layout.ragged = parse_ragged(reader);
  return layout;
}

GgufBlockLayout parse_block(json::ObjectReader& reader) {
  const std::string name = required(reader, "ggml_type", reader.string("ggml_type"));
  const GgmlTypeInfo* info = find_ggml_type(std::string_view(name));
  if (info == nullptr) {
    not_a_choice(reader, "ggml_type", name, "the ggml types");
    return {};
  }
  // The entry repeats the block so that it can be read alone; it must repeat it rightly.
  const auto agrees = [&reader](std::string_view key, uint64_t expected) {
    const uint64_t found = reader.u64(key).value_or(0);
    if (found == expected) return;
    reader.error(ErrorCode::value_out_of_range, key,
                 {{"key", key}, {"value", found}, {"min", expected}, {"max", expected}});
  };
  agrees("block_weights", info->block_elements);
  agrees("block_bytes", info->block_bytes);
  agrees("row_bytes", info->row_bytes);
  return {info->type};
}

GgufMixLayout parse_mix(json::ObjectReader& reader) {
  const std::string name = required(reader, "mix", reader.string("mix"));
  const std::optional<GgufMix> mix = find_gguf_mix(name);
  if (!mix) {
    not_a_choice(reader, "mix", name, "the GGUF file types");
    return {};
  }
  const std::string base = required(reader, "base_type", reader.string("base_type"));
  const std::string_view expected = ggml_type_info(gguf_mix_base(*mix)).name;
  if (base != expected) not_a_choice(reader, "base_type", base, std::string(expected));
  return {*mix};
}

std::optional<WeightLayout> parse_layout(json::ObjectReader& entry, const std::string& kind) {
  const json::Value* object = entry.object("layout");
  if (object == nullptr) return std::nullopt;
  json::ObjectReader reader(*object, entry.path_to("layout"), entry.errors());
  std::optional<WeightLayout> layout;
  if (kind == "ideal") layout = parse_ideal(reader);
  if (kind == "weight") layout = parse_grouped(reader);
  if (kind == "gguf_block") layout = parse_block(reader);
  if (kind == "gguf_mix") layout = parse_mix(reader);
  if (!layout) {
    not_a_choice(entry, "kind", kind, "ideal, weight, gguf_block, gguf_mix");
    return std::nullopt;
  }
  report_unread(reader);
  return layout;
}

std::string part_choices() {
  std::string choices;
  for (const std::string_view name : kPartNames) {
    if (!choices.empty()) choices += ", ";
    choices += name;
  }
  return choices;
}

void parse_left_unquantised(json::ObjectReader& reader, WeightFormat& format) {
  for (const std::string& name :
       reader.string_list("left_unquantised").value_or(std::vector<std::string>{})) {
    const std::optional<FormatPart> part = find_format_part(name);
    if (part) {
      format.left_unquantised[static_cast<size_t>(*part)] = true;
    } else {
      not_a_choice(reader, "left_unquantised", name, part_choices());
    }
  }
}

void parse_part_formats(json::ObjectReader& reader, WeightFormat& format) {
  const json::Value* object = reader.object("role_formats");
  if (object == nullptr) return;
  json::ObjectReader roles(*object, reader.path_to("role_formats"), reader.errors());
  for (const json::Member& member : *object->as_object()) {
    const std::optional<FormatPart> part = find_format_part(member.key);
    const std::optional<std::string> id = roles.string(member.key);
    if (!part) {
      not_a_choice(reader, "role_formats", member.key, part_choices());
    } else if (id) {
      format.part_formats.push_back({*part, *id, std::nullopt});
    }
  }
}

}  // namespace

std::string_view format_part_name(FormatPart part) { return kPartNames[static_cast<size_t>(part)]; }

std::optional<FormatPart> find_format_part(std::string_view name) {
  for (size_t i = 0; i < kNumFormatParts; ++i) {
    if (kPartNames[i] == name) return static_cast<FormatPart>(i);
  }
  return std::nullopt;
}

FormatPart format_part_of(TensorRole role) {
  switch (role) {
    case TensorRole::embedding:
    case TensorRole::position_embedding: return FormatPart::embedding;
    case TensorRole::output: return FormatPart::output;
    case TensorRole::norm: return FormatPart::norm;
    case TensorRole::attention_q:
    case TensorRole::attention_k:
    case TensorRole::attention_v:
    case TensorRole::attention_qkv:
    case TensorRole::attention_output:
    case TensorRole::attention_other: return FormatPart::attention;
    case TensorRole::recurrent: return FormatPart::recurrent;
    case TensorRole::mlp_gate:
    case TensorRole::mlp_up:
    case TensorRole::mlp_down: return FormatPart::mlp;
    case TensorRole::expert_gate:
    case TensorRole::expert_up:
    case TensorRole::expert_down: return FormatPart::expert;
    case TensorRole::shared_expert_gate:
    case TensorRole::shared_expert_up:
    case TensorRole::shared_expert_down: return FormatPart::shared_expert;
    case TensorRole::router: return FormatPart::router;
    case TensorRole::vision:
    case TensorRole::projector: return FormatPart::vision;
    case TensorRole::audio: return FormatPart::audio;
    case TensorRole::mtp: return FormatPart::mtp;
    case TensorRole::other: break;
  }
  return FormatPart::other;
}

Result<WeightFormat> parse_weight_format(const json::Value& entry, std::string path) {
  Diagnostics errors;
  json::ObjectReader reader(entry, std::move(path), errors);
  WeightFormat format;
  format.id = required(reader, "id", reader.string("id"));
  format.name = reader.string("name").value_or(format.id);
  format.family = reader.string("family").value_or(std::string());
  format.refused = reader.string("refused");
  const std::string kind = required(reader, "kind", reader.string("kind"));
  parse_left_unquantised(reader, format);
  parse_part_formats(reader, format);
  // A refused entry may describe its blocks all the same; they are not a way to store weights.
  if (!format.refused) {
    format.layout = parse_layout(reader, kind);
    if (!format.layout && !reader.has("layout")) {
      reader.error(ErrorCode::json_missing_key, "layout", {{"key", "layout"}});
    }
  }
  if (!errors.empty()) return fail(std::move(errors));
  return format;
}

std::optional<WeightFormat> parse_bits_per_weight(std::string_view id) {
  constexpr std::string_view kSuffix = "bpw";
  constexpr uint64_t kMaxBits = 64;
  if (id.size() <= kSuffix.size() || id.substr(id.size() - kSuffix.size()) != kSuffix)
    return std::nullopt;
  const std::optional<Decimal> bits = Decimal::parse(id.substr(0, id.size() - kSuffix.size()));
  if (!bits || bits->is_zero() || bits->micros() > kMaxBits * Decimal::kScale) return std::nullopt;
  WeightFormat format;
  format.id = bits->text() + std::string(kSuffix);
  format.name = bits->text() + " bits per weight";
  format.family = "ideal";
  format.layout = IdealLayout{*bits};
  return format;
}

Diagnostics resolve_part_formats(std::vector<WeightFormat>& formats) {
  Diagnostics errors;
  for (WeightFormat& format : formats) {
    for (PartFormat& part : format.part_formats) {
      const auto found =
          std::find_if(formats.begin(), formats.end(),
                       [&part](const WeightFormat& other) { return other.id == part.id; });
      const auto* grouped = found != formats.end() && found->layout
                                ? std::get_if<GroupedLayout>(&*found->layout)
                                : nullptr;
      if (grouped == nullptr) {
        errors.push_back({ErrorCode::catalogue_bad_entry, {}, {{"id", format.id}}, {}});
      } else {
        part.layout = *grouped;
      }
    }
  }
  return errors;
}

}  // namespace vramgauge
