// Presets and truth tables as the tests read them: a file that is missing or broken fails the test.
#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "specs/cache_type.h"
#include "units/json.h"

namespace vramgauge::test {

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The first error as text, for a failing assertion.
inline std::string first_message(const Diagnostics& errors) {
  if (errors.empty()) return "no error";
  return std::string(error_info(errors.front().code).name) + " at " + errors.front().path + ": " +
         message_of(errors.front());
}

inline json::Value parse_or_throw(std::string_view text, const std::string& what) {
  auto value = json::parse(text);
  if (!value) throw std::runtime_error(what + ": " + first_message(value.error()));
  return std::move(*value);
}

inline json::Value read_json(const std::string& path) {
  return parse_or_throw(read_text(path), path);
}

/// A cache type of presets/cache_types.json by its id.
inline CacheType cache_type_named(std::string_view id) {
  static const json::Value document = read_json(VRAMGAUGE_PRESET_DIR "/cache_types.json");
  for (const json::Value& entry : *document.find("cache_types")->as_array()) {
    if (*entry.find("id")->as_string() != id) continue;
    auto type = parse_cache_type(entry);
    if (!type) throw std::runtime_error(std::string(id) + ": " + first_message(type.error()));
    return *type;
  }
  throw std::runtime_error("no cache type " + std::string(id));
}

}  // namespace vramgauge::test
