#include "specs/cache_type.h"

#include <utility>

namespace vramgauge {
namespace {

constexpr json::Range kSmall = {1, uint64_t{1} << 20};
constexpr json::Range kSmallOrZero = {0, uint64_t{1} << 20};

uint64_t required(json::ObjectReader& reader, std::string_view key, json::Range range) {
  if (!reader.has(key)) {
    reader.error(ErrorCode::json_missing_key, key, {{"key", key}});
    return 0;
  }
  return reader.u64(key, range).value_or(0);
}

std::string required_text(json::ObjectReader& reader, std::string_view key) {
  if (!reader.has(key)) reader.error(ErrorCode::json_missing_key, key, {{"key", key}});
  return reader.string(key).value_or("");
}

PackedVector read_packed_vector(json::ObjectReader& entry, std::string_view key) {
  PackedVector packed;
  const json::Value* object = entry.object(key);
  if (object == nullptr) {
    if (!entry.has(key)) entry.error(ErrorCode::json_missing_key, key, {{"key", key}});
    return packed;
  }
  json::ObjectReader reader(*object, entry.path_to(key), entry.errors());
  packed.bits = required(reader, "bits", {1, 32});
  packed.extra_bytes = required(reader, "extra_bytes", kSmallOrZero);
  return packed;
}

void read_packed_latent(json::ObjectReader& reader, CacheType& type) {
  type.layout = CacheType::Layout::packed_latent;
  type.latent_bytes = required(reader, "mla_bytes_per_token_layer", kSmall);
  type.latent_elements = required(reader, "mla_elements", kSmall);
}

void read_packed_slot(json::ObjectReader& reader, CacheType& type) {
  type.layout = CacheType::Layout::packed_slot;
  type.key = read_packed_vector(reader, "key");
  type.value = read_packed_vector(reader, "value");
  type.slot_align_bytes = required(reader, "slot_align_bytes", kSmall);
  type.edge_layers_unquantised = reader.u64("edge_layers_unquantised", kSmallOrZero).value_or(0);
}

void read_blocks(json::ObjectReader& reader, CacheType& type) {
  type.block_elements = required(reader, "block_elements", kSmall);
  type.block_bytes = required(reader, "block_bytes", kSmall);
  type.extra_bytes_per_token_head =
      reader.u64("extra_bytes_per_token_head", kSmallOrZero).value_or(0);
}

void read_layout(json::ObjectReader& reader, CacheType& type) {
  if (reader.has("refused")) {
    type.refused = required_text(reader, "refused");
  } else if (reader.has("mla_bytes_per_token_layer")) {
    read_packed_latent(reader, type);
  } else if (reader.has("key")) {
    read_packed_slot(reader, type);
  } else {
    read_blocks(reader, type);
  }
}

void refuse_unread_keys(json::ObjectReader& reader, const std::string& id) {
  for (const std::string& key : reader.unread_keys()) {
    reader.error(ErrorCode::catalogue_bad_entry, key, {{"id", id}});
  }
}

tl::unexpected<Diagnostics> row_overflow() {
  return fail(ErrorCode::value_overflow, "", {{"what", "a cached row"}});
}

CheckedU64 packed_bytes(const PackedVector& packed, uint64_t elements) {
  return ceil_div(CheckedU64(elements) * packed.bits, uint64_t{8}) + packed.extra_bytes;
}

}  // namespace

Result<CacheType> parse_cache_type(const json::Value& entry) {
  Diagnostics errors;
  json::ObjectReader reader(entry, "", errors);
  CacheType type;
  type.id = required_text(reader, "id");
  type.name = required_text(reader, "name");
  type.source = required_text(reader, "source");
  type.notes = reader.string("notes").value_or("");
  type.aliases = reader.string_list("aliases").value_or(std::vector<std::string>());
  read_layout(reader, type);
  refuse_unread_keys(reader, type.id);
  if (!errors.empty()) return fail(std::move(errors));
  return type;
}

Result<uint64_t> row_bytes(const CacheType& type, uint64_t elements, std::string_view path) {
  if (type.block_elements == 0) return row_overflow();
  if (elements % type.block_elements != 0) {
    return fail(ErrorCode::cache_row_not_divisible, std::string(path),
                {{"id", type.id}, {"block", type.block_elements}, {"row", elements}});
  }
  const CheckedU64 bytes = CheckedU64(elements / type.block_elements) * type.block_bytes +
                           type.extra_bytes_per_token_head;
  if (!bytes.valid()) return row_overflow();
  return bytes.value_or(0);
}

Result<uint64_t> slot_bytes(const CacheType& type, uint64_t k_elements, uint64_t v_elements) {
  const CheckedU64 data = packed_bytes(type.key, k_elements) + packed_bytes(type.value, v_elements);
  const CheckedU64 slot = round_up(data, type.slot_align_bytes);
  if (!slot.valid()) return row_overflow();
  return slot.value_or(0);
}

CacheType sixteen_bit_cache() {
  CacheType type;
  type.id = "fp16";
  type.name = "FP16";
  type.source = "2 bytes an element, all engines";
  type.block_bytes = 2;
  return type;
}

}  // namespace vramgauge
