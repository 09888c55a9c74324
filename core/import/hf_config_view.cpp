#include "import/hf_config_view.h"

#include <algorithm>

namespace vramgauge::hf {
namespace {

std::string text_of(const json::Value& value) { return json::write(value); }

bool in_range(uint64_t value, json::Range range) {
  return value >= range.min && value <= range.max;
}

}  // namespace

ConfigView::ConfigView(const json::Value& object, std::string path, Diagnostics& errors,
                       ImportNotes& notes)
    : object_(object), reader_(object, std::move(path), errors), notes_(notes) {}

void ConfigView::set_model_type(std::string model_type, const json::Value* defaults) {
  model_type_ = std::move(model_type);
  defaults_ = defaults;
}

bool ConfigView::written(std::string_view key) const { return object_.find(key) != nullptr; }

std::string_view ConfigView::resolve(std::string_view key) {
  std::string_view found;
  if (reader_.has(key)) found = key;
  for (const std::string_view* alias = aliases_of(key); !alias->empty(); ++alias) {
    reader_.ignore(*alias);
    if (!reader_.has(*alias)) continue;
    if (found.empty()) {
      found = *alias;
    } else {
      check_agreement(key, found, *alias);
    }
  }
  return found;
}

void ConfigView::check_agreement(std::string_view key, std::string_view first,
                                 std::string_view second) {
  if (key == "max_position_embeddings") return;  // several lengths side by side are common
  const auto a = object_.find(first)->as_u64();
  const auto b = object_.find(second)->as_u64();
  if (!a || !b || *a == *b) return;
  const Diagnostics& errors = reader_.errors();
  const std::string path = reader_.path_to(second);
  const bool known = std::any_of(errors.begin(), errors.end(),
                                 [&](const Diagnostic& e) { return e.path == path; });
  if (known) return;
  reader_.error(ErrorCode::model_inconsistent, second,
                {{"key", second},
                 {"other", first},
                 {"detail", std::to_string(*b) + " and " + std::to_string(*a)}});
}

const json::Value* ConfigView::default_of(std::string_view key) {
  if (written(key)) return nullptr;
  for (const std::string_view* alias = aliases_of(key); !alias->empty(); ++alias) {
    if (written(*alias)) return nullptr;
  }
  if (defaults_ == nullptr) return nullptr;
  const json::Value* value = defaults_->find(key);
  for (const std::string_view* alias = aliases_of(key); value == nullptr && !alias->empty();
       ++alias) {
    value = defaults_->find(*alias);
  }
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool ConfigView::given(std::string_view key) { return !resolve(key).empty(); }

std::optional<uint64_t> ConfigView::u64(std::string_view key, json::Range range) {
  const std::string_view name = resolve(key);
  if (!name.empty()) return reader_.u64(name, range);
  const json::Value* value = default_of(key);
  if (value == nullptr) return std::nullopt;
  const auto number = value->as_u64();
  if (!number || !in_range(*number, range)) return std::nullopt;
  assume(key, text_of(*value));
  return number;
}

uint64_t ConfigView::u64_or(std::string_view key, uint64_t fallback, json::Range range) {
  return u64(key, range).value_or(fallback);
}

uint64_t ConfigView::require(std::string_view key, json::Range range) {
  const uint64_t stand_in = std::max<uint64_t>(range.min, 1);
  const bool is_given = given(key);
  if (const auto value = u64(key, range)) return *value;
  if (!is_given) {
    error(ErrorCode::model_missing_dimension, key, {{"key", key}, {"model_type", model_type_}});
  }
  return stand_in;
}

std::optional<bool> ConfigView::boolean(std::string_view key) {
  const std::string_view name = resolve(key);
  if (!name.empty()) return reader_.boolean(name);
  const json::Value* value = default_of(key);
  if (value == nullptr || value->as_boolean() == nullptr) return std::nullopt;
  return *value->as_boolean();
}

bool ConfigView::flag(std::string_view key, bool fallback) {
  return boolean(key).value_or(fallback);
}

std::optional<double> ConfigView::real(std::string_view key) {
  const std::string_view name = resolve(key);
  if (!name.empty()) return reader_.real(name);
  const json::Value* value = default_of(key);
  if (value == nullptr || value->as_number() == nullptr) return std::nullopt;
  assume(key, text_of(*value));
  return value->as_number()->real;
}

std::optional<std::string> ConfigView::string(std::string_view key) {
  const std::string_view name = resolve(key);
  if (!name.empty()) return reader_.string(name);
  const json::Value* value = default_of(key);
  if (value == nullptr || value->as_string() == nullptr) return std::nullopt;
  return *value->as_string();
}

std::optional<std::vector<uint64_t>> ConfigView::per_layer(std::string_view key, uint64_t size,
                                                           json::Range range) {
  const json::Value* value = raw(key);
  if (value == nullptr) return std::nullopt;
  if (value->as_array() == nullptr) {
    const auto number = u64(key, range);
    if (!number) return std::nullopt;
    return std::vector<uint64_t>(static_cast<size_t>(size), *number);
  }
  auto items = list(key, range);
  if (items && items->size() != size) {
    bad_pattern(key, size, "it has " + std::to_string(items->size()) + " items");
    return std::nullopt;
  }
  return items;
}

std::optional<std::vector<uint64_t>> ConfigView::list(std::string_view key, json::Range range) {
  const std::string_view name = resolve(key);
  if (!name.empty()) return reader_.u64_list(name, range);
  const json::Value* value = default_of(key);
  if (value == nullptr || value->as_array() == nullptr) return std::nullopt;
  std::vector<uint64_t> items;
  for (const json::Value& item : *value->as_array()) {
    const auto number = item.as_u64();
    if (!number || !in_range(*number, range)) return std::nullopt;
    items.push_back(*number);
  }
  assume(key, text_of(*value));
  return items;
}

std::optional<std::vector<std::string>> ConfigView::strings(std::string_view key) {
  const std::string_view name = resolve(key);
  if (name.empty()) return std::nullopt;
  return reader_.string_list(name);
}

const json::Value* ConfigView::raw(std::string_view key) {
  const std::string_view name = resolve(key);
  return name.empty() ? default_of(key) : reader_.raw(name);
}

void ConfigView::ignore(std::string_view key) {
  reader_.ignore(key);
  for (const std::string_view* alias = aliases_of(key); !alias->empty(); ++alias)
    reader_.ignore(*alias);
}

std::string ConfigView::path_to(std::string_view key) {
  const std::string_view name = resolve(key);
  return reader_.path_to(name.empty() ? key : name);
}

void ConfigView::error(ErrorCode code, std::string_view key, ErrorArgs args) {
  const std::string_view name = resolve(key);
  reader_.error(code, name.empty() ? key : name, std::move(args));
}

void ConfigView::bad_pattern(std::string_view key, uint64_t layers, std::string detail) {
  error(ErrorCode::model_bad_pattern, key,
        {{"key", key}, {"layers", layers}, {"detail", std::move(detail)}});
}

void ConfigView::warn(ErrorCode code, std::string_view key, ErrorArgs args) {
  notes_.warnings.push_back({code, path_to(key), std::move(args), std::nullopt});
}

void ConfigView::assume(std::string_view key, std::string value) {
  for (const auto& [known, unused] : notes_.assumptions) {
    if (known == key) return;
  }
  warn(ErrorCode::model_assumed_default, key,
       {{"key", key}, {"model_type", model_type_}, {"value", value}});
  notes_.assumptions.emplace_back(std::string(key), std::move(value));
}

}  // namespace vramgauge::hf
