// What the commands share: the session over the catalogue inside the program, and how a scenario is
// put together from what was typed.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/session.h"
#include "commands.h"
#include "units/json.h"

namespace vramgauge::tools {

inline constexpr std::size_t kMaxInputBytes = std::size_t{64} << 20;

void print(std::FILE* stream, std::string_view text);
/// Prints a line to the error stream; returns the exit code of wrong usage.
int usage(const std::string& message);

/// A whole file, or standard input for "-"; nothing when it cannot be read or is too large.
std::optional<std::string> read_input(const std::string& path);
bool write_file(const std::string& path, std::string_view text);

/// A session over the catalogue inside the program.
class Program {
 public:
  Program();

  const std::string& catalogue() const { return catalogue_; }
  /// Adds a document to the catalogue; false when it is not sound.
  bool add_to_catalogue(const json::Value& document);

  std::string call_text(const std::string& method, std::string_view request);
  json::Value call(const std::string& method, const json::Value& request);

 private:
  std::string catalogue_;
  api::Session session_;
};

/// Whether an envelope holds a result.
bool is_ok(const json::Value& envelope);
/// Prints warnings and errors to the error stream; returns the result or nothing.
const json::Value* report(const json::Value& envelope);
/// Prints an envelope as JSON, or its result as text; returns the exit code.
int finish(const json::Value& envelope, bool as_json, std::string (*to_text)(const json::Value&));

/// An object with one member.
json::Value request_with(const char* key, json::Value value);

/// The envelope of a model's files, or an exit code.
std::optional<json::Value> read_files(const Program& program, const std::vector<std::string>& files,
                                      int& exit_code);
/// The scenario as given, or an exit code. A measured machine of `source` enters the catalogue.
std::optional<json::Value> read_scenario(Program& program, const ScenarioSource& source,
                                         int& exit_code);

}  // namespace vramgauge::tools
