// A configuration object read by canonical names: aliases, class defaults, bounds and notes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "units/json.h"

namespace vramgauge::hf {

/// Bounds that no real model comes near; beyond them a value is a mistake.
inline constexpr json::Range kLayerRange{1, 10'000};
inline constexpr json::Range kDimRange{1, uint64_t{1} << 24};
inline constexpr json::Range kHeadRange{1, uint64_t{1} << 16};
inline constexpr json::Range kExpertRange{1, uint64_t{1} << 16};
/// Zero means "none" for these.
inline constexpr json::Range kCountRange{0, uint64_t{1} << 24};
inline constexpr json::Range kTokenRange{0, uint64_t{1} << 40};

/// Warnings and assumptions that reading leaves behind.
struct ImportNotes {
  Diagnostics warnings;
  std::vector<std::pair<std::string, std::string>> assumptions;
};

/// One object of a configuration. Every getter takes the canonical key and also finds its aliases
/// (n_embd for hidden_size); an absent key takes the class default of the model type, with a note.
/// An explicit null is "not given" and takes no class default.
class ConfigView {
 public:
  ConfigView(const json::Value& object, std::string path, Diagnostics& errors, ImportNotes& notes);

  /// The model type for messages and the object of its defaults (may be null).
  void set_model_type(std::string model_type, const json::Value* defaults);
  const std::string& model_type() const { return model_type_; }

  /// Present under its name or an alias, and not null.
  bool given(std::string_view key);
  std::optional<uint64_t> u64(std::string_view key, json::Range range = kCountRange);
  uint64_t u64_or(std::string_view key, uint64_t fallback, json::Range range = kCountRange);
  /// Without a value: model.missing_dimension, and range.min (at least 1) stands in.
  uint64_t require(std::string_view key, json::Range range = kDimRange);
  std::optional<bool> boolean(std::string_view key);
  bool flag(std::string_view key, bool fallback);
  std::optional<double> real(std::string_view key);
  std::optional<std::string> string(std::string_view key);
  /// A list of integers of exactly `size` items, when the member is a list; one number is repeated.
  std::optional<std::vector<uint64_t>> per_layer(std::string_view key, uint64_t size,
                                                 json::Range range = kCountRange);
  std::optional<std::vector<uint64_t>> list(std::string_view key, json::Range range = kCountRange);
  std::optional<std::vector<std::string>> strings(std::string_view key);
  /// The raw member (or its class default), marked as read; null pointer when absent or null.
  const json::Value* raw(std::string_view key);

  /// Marks the member and its aliases as known.
  void ignore(std::string_view key);
  json::ObjectReader& reader() { return reader_; }
  /// Pointer to the member as the user wrote it (alias resolved).
  std::string path_to(std::string_view key);
  void error(ErrorCode code, std::string_view key, ErrorArgs args = {});
  /// Reports model.bad_pattern for a list or pattern.
  void bad_pattern(std::string_view key, uint64_t layers, std::string detail);
  void warn(ErrorCode code, std::string_view key, ErrorArgs args = {});
  /// Notes that `value` was taken for the absent `key`.
  void assume(std::string_view key, std::string value);
  ImportNotes& notes() { return notes_; }

 private:
  /// Name under which the member is present (not null), else empty; marks every alias as read.
  std::string_view resolve(std::string_view key);
  /// Class default; nothing when the key is written as null or has none.
  const json::Value* default_of(std::string_view key);
  bool written(std::string_view key) const;
  void check_agreement(std::string_view key, std::string_view first, std::string_view second);

  const json::Value& object_;
  json::ObjectReader reader_;
  ImportNotes& notes_;
  std::string model_type_;
  const json::Value* defaults_ = nullptr;
};

/// Other names of a canonical key, ended by an empty view.
const std::string_view* aliases_of(std::string_view key);
/// A key that does not change a size: token ids, dropout, rope, initialisation and the like.
bool is_irrelevant_key(std::string_view key);
/// A key whose name speaks of a shape: layer, head, dim, rank, window, state and the like.
bool looks_structural(std::string_view key);

}  // namespace vramgauge::hf
