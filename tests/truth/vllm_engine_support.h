// Rows of the vLLM truth tables, and the models they are about.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/vllm.h"
#include "model/weights.h"
#include "models.h"

namespace vramgauge::test {

using CsvRow = std::map<std::string, std::string>;

/// Fields of a line; a quoted field may hold commas.
inline std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

inline std::vector<CsvRow> csv_rows(const std::string& path) {
  std::istringstream text(read_text(path));
  std::string line;
  std::getline(text, line);
  const std::vector<std::string> columns = csv_fields(line);
  std::vector<CsvRow> rows;
  while (std::getline(text, line)) {
    const std::vector<std::string> fields = csv_fields(line);
    CsvRow row;
    for (size_t i = 0; i < columns.size() && i < fields.size(); ++i)
      row[columns[i]] = fields[i];
    rows.push_back(row);
  }
  return rows;
}

inline double gib(double bytes) { return bytes / (1U << 30U); }
inline double gib(Bytes bytes) { return gib(static_cast<double>(bytes.count())); }
inline double gib(BytesDelta bytes) { return gib(static_cast<double>(bytes.count())); }

inline Bytes bytes_from_gib(double value) {
  return Bytes(static_cast<uint64_t>(value * (uint64_t{1} << 30)));
}

/// A preset as its file says it.
inline const json::Value& preset_document(const std::string& slug) {
  static std::map<std::string, json::Value> presets;
  if (presets.count(slug) == 0)
    presets[slug] = read_json(std::string(VRAMGAUGE_PRESET_DIR "/models/") + slug + ".json");
  return presets[slug];
}

/// The configuration of a preset.
inline const json::Value& preset_config(const std::string& slug) {
  return *preset_document(slug).find("config");
}

inline const ModelSpec& preset_spec(const std::string& slug) {
  static std::map<std::string, ModelSpec> specs;
  if (specs.count(slug) == 0) {
    auto spec = preset_model(slug);
    if (!spec) throw std::runtime_error("no preset " + slug);
    specs[slug] = std::move(*spec);
  }
  return specs[slug];
}

inline VllmProfile vllm_profile_named(const std::string& version, bool is_first_engine = false) {
  static const json::Value entry = read_json(VRAMGAUGE_PRESET_DIR "/engines/vllm.json");
  const auto number = release_number(version);
  if (!number) throw std::runtime_error("no version " + version);
  auto profile = vllm_profile(entry, *number, is_first_engine);
  if (!profile) throw std::runtime_error(first_message(profile.error()));
  return *profile;
}

template <typename T>
T value_or_throw(Result<T> result, const std::string& what) {
  if (!result) throw std::runtime_error(what + ": " + first_message(result.error()));
  return std::move(*result);
}

}  // namespace vramgauge::test
