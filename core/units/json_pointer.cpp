#include "units/json_pointer.h"

#include <optional>
#include <string>

#include "units/decimal.h"
#include "units/index.h"

namespace vramgauge::json {
namespace {

/// The key that a reference token stands for.
std::string unescaped(std::string_view token) {
  std::string key;
  for (auto i = token.begin(); i != token.end(); ++i) {
    const bool is_escape = *i == '~' && i + 1 != token.end();
    key += !is_escape ? *i : *++i == '1' ? '/' : '~';
  }
  return key;
}

const Value* child_of(const Value& parent, std::string_view token) {
  const Value::Array* items = parent.as_array();
  if (items == nullptr) return parent.find(unescaped(token));
  const std::optional<uint64_t> index = parse_count(token);
  return index && *index < items->size() ? &(*items)[index_of(*index)] : nullptr;
}

}  // namespace

const Value* value_at(const Value& root, std::string_view pointer) {
  const Value* at = &root;
  while (!pointer.empty() && at != nullptr) {
    pointer.remove_prefix(1);
    const std::string_view token = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(token.size());
    at = child_of(*at, token);
  }
  return at;
}

}  // namespace vramgauge::json
