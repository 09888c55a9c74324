#include "probe_json.h"

namespace vramgauge::tools {

const json::Value& member(const json::Value& value, std::string_view key) {
  static const json::Value kNothing;
  const json::Value* found = value.find(key);
  return found == nullptr ? kNothing : *found;
}

const json::Value::Array& items(const json::Value& value) {
  static const json::Value::Array kNone;
  return value.as_array() == nullptr ? kNone : *value.as_array();
}

std::string text_of(const json::Value& value) {
  return value.as_string() == nullptr ? std::string() : *value.as_string();
}

uint64_t number_of(const json::Value& value) { return value.as_u64().value_or(0); }

bool is_true(const json::Value& value) {
  return value.as_boolean() != nullptr && *value.as_boolean();
}

}  // namespace vramgauge::tools
