#include "import/hf_towers_builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace vramgauge::hf {
namespace {

constexpr uint64_t kMaxDim = uint64_t{1} << 20;
constexpr uint64_t kMaxFew = 4096;
constexpr uint64_t kMaxPixels = uint64_t{1} << 14;
constexpr uint64_t kMaxListItems = 64;

struct RoleOfName {
  std::string_view part;
  TensorRole role;
};

/// Roles of an encoder's tensors, which count like a decoder's.
constexpr RoleOfName kEncoderRoles[] = {
    {"attn.q_proj", TensorRole::attention_q},
    {"attn.k_proj", TensorRole::attention_k},
    {"attn.v_proj", TensorRole::attention_v},
    {"attn.qkv", TensorRole::attention_qkv},
    {"attn.o_proj", TensorRole::attention_output},
    {"mlp.gate_proj", TensorRole::mlp_gate},
    {"mlp.up_proj", TensorRole::mlp_up},
    {"mlp.down_proj", TensorRole::mlp_down},
    {"norm", TensorRole::norm},
    {"positions", TensorRole::position_embedding},
    {"attention_bias", TensorRole::attention_other},
};

TensorRole encoder_role(std::string_view name) {
  const auto* row =
      std::find_if(std::begin(kEncoderRoles), std::end(kEncoderRoles),
                   [&](const RoleOfName& r) { return name.find(r.part) != name.npos; });
  return row == std::end(kEncoderRoles) ? TensorRole::other : row->role;
}

}  // namespace

TowerDims::TowerDims(const json::Value* object, std::string path, Diagnostics& errors)
    : reader_(object != nullptr ? *object : empty_, std::move(path), errors) {}

uint64_t TowerDims::absent(std::string_view key, std::optional<uint64_t> fallback) {
  if (fallback) return *fallback;
  if (missing_.empty()) missing_ = key;
  return 1;
}

std::optional<uint64_t> TowerDims::square(std::string_view key, uint64_t most) {
  const json::Value* value = reader_.raw(key);
  if (value == nullptr || value->as_array() == nullptr) return std::nullopt;
  const json::Value::Array& items = *value->as_array();
  const std::optional<uint64_t> first = items.empty() ? std::nullopt : items.front().as_u64();
  const bool is_square = std::all_of(
      items.begin(), items.end(), [&](const json::Value& item) { return item.as_u64() == first; });
  if (first && *first >= 1 && *first <= most && is_square) return first;
  return absent(key, std::nullopt);
}

uint64_t TowerDims::read(std::initializer_list<std::string_view> keys,
                         std::optional<uint64_t> fallback, uint64_t most) {
  for (const std::string_view key : keys) {
    if (const auto side = square(key, most)) return *side;
    if (const auto value = reader_.u64(key, {1, most})) return *value;
  }
  return absent(*keys.begin(), fallback);
}

uint64_t TowerDims::dim(std::initializer_list<std::string_view> keys,
                        std::optional<uint64_t> fallback) {
  return read(keys, fallback, kMaxDim);
}

uint64_t TowerDims::few(std::initializer_list<std::string_view> keys,
                        std::optional<uint64_t> fallback) {
  return read(keys, fallback, kMaxFew);
}

uint64_t TowerDims::side(std::string_view key, std::optional<uint64_t> fallback) {
  return read({key}, fallback, kMaxPixels);
}

bool TowerDims::flag(std::string_view key, bool fallback) {
  return reader_.boolean(key).value_or(fallback);
}

std::string TowerDims::text(std::string_view key) { return reader_.string(key).value_or(""); }

bool TowerDims::has(std::string_view key) { return reader_.has(key); }

uint64_t TowerDims::length(std::string_view key, uint64_t fallback) {
  const json::Value* value = reader_.raw(key);
  if (value == nullptr || value->as_array() == nullptr) return fallback;
  return std::min<uint64_t>(value->as_array()->size(), kMaxListItems);
}

uint64_t TowerDims::area(std::string_view key, std::optional<uint64_t> fallback) {
  if (!reader_.has(key)) return absent(key, fallback);
  constexpr uint64_t kMaxSide = 64;
  const auto sides = reader_.u64_list(key, {1, kMaxSide});
  if (!sides || sides->size() != 2) return absent(key, std::nullopt);
  return sides->front() * sides->back();
}

void TowerBuilder::section(std::string prefix, TensorRole role) {
  prefix_ = std::move(prefix);
  role_ = role;
  times_ = 1;
}

void TowerBuilder::add(std::string_view name, uint64_t rows, uint64_t cols, bool is_matrix) {
  if (times_ == 0) return;
  WeightTensor tensor;
  tensor.name = prefix_ + "." + std::string(name);
  tensor.role = role_ == TensorRole::other ? encoder_role(name) : role_;
  tensor.rows = rows;
  tensor.cols = cols;
  tensor.count = times_;
  tensor.active_count = times_;
  tensor.is_matrix = is_matrix;
  tensors_.push_back(std::move(tensor));
}

void TowerBuilder::linear(std::string_view name, uint64_t in, uint64_t out, bool has_bias) {
  add(name, out, in, true);
  if (has_bias) vector(std::string(name) + ".bias", out);
}

void TowerBuilder::conv(std::string_view name, uint64_t out, uint64_t filter_elements,
                        bool has_bias) {
  add(name, out, filter_elements, false);
  if (has_bias) vector(std::string(name) + ".bias", out);
}

void TowerBuilder::table(std::string_view name, uint64_t rows, uint64_t cols) {
  add(name, rows, cols, false);
}

void TowerBuilder::vector(std::string_view name, uint64_t width) { add(name, 1, width, false); }

void TowerBuilder::norm(std::string_view name, uint64_t width, bool has_bias) {
  vector(name, width);
  if (has_bias) vector(std::string(name) + ".bias", width);
}

namespace {

void add_attention(TowerBuilder& builder, const EncoderLayer& layer) {
  const uint64_t hidden = layer.hidden_size;
  const uint64_t q_width = layer.q_width != 0 ? layer.q_width : hidden;
  const uint64_t kv_width = layer.kv_width != 0 ? layer.kv_width : hidden;
  if (layer.fused_qkv) {
    builder.linear("layers.*.attn.qkv", hidden, q_width + 2 * kv_width, layer.qkv_bias);
  } else {
    builder.linear("layers.*.attn.q_proj", hidden, q_width, layer.qkv_bias);
    builder.linear("layers.*.attn.k_proj", hidden, kv_width, layer.qkv_bias && layer.has_k_bias);
    builder.linear("layers.*.attn.v_proj", hidden, kv_width, layer.qkv_bias);
  }
  builder.linear("layers.*.attn.o_proj", q_width, hidden, layer.o_bias);
}

void add_mlp(TowerBuilder& builder, const EncoderLayer& layer) {
  if (layer.is_gated) {
    builder.linear("layers.*.mlp.gate_proj", layer.hidden_size, layer.intermediate_size,
                   layer.mlp_bias);
  }
  builder.linear("layers.*.mlp.up_proj", layer.hidden_size, layer.intermediate_size,
                 layer.mlp_bias);
  builder.linear("layers.*.mlp.down_proj", layer.intermediate_size, layer.hidden_size,
                 layer.mlp_bias);
}

}  // namespace

void add_encoder_layers(TowerBuilder& builder, const EncoderLayer& layer, uint64_t times) {
  builder.repeat(times);
  add_attention(builder, layer);
  add_mlp(builder, layer);
  for (uint64_t norm = 1; norm <= layer.num_norms; ++norm) {
    builder.norm("layers.*.norm" + std::to_string(norm), layer.hidden_size, layer.norm_bias);
  }
  builder.repeat(1);
}

}  // namespace vramgauge::hf
