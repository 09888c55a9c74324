// Shell text as commands of words: quotes, line continuations, variables before a command, here
// documents. Nothing is expanded or run.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "units/error.h"

namespace vramgauge {

/// A file that a command writes with a here document.
struct HereDocument {
  std::string file;
  std::string text;
};

/// One command.
struct ShellCommand {
  /// NAME=value before it.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> words;
  std::vector<HereDocument> documents;
};

/// Longest text that is read, and most words in it.
inline constexpr uint64_t kMaxCommandBytes = uint64_t{1} << 20;
inline constexpr uint64_t kMaxCommandWords = 20'000;

/// Reads a text. A line that begins with a flag belongs to the command before it, as texts lose
/// their continuations when they are copied. Redirections are dropped. Errors:
/// command.unreadable (no closing quote, too long).
Result<std::vector<ShellCommand>> shell_commands(std::string_view text);

}  // namespace vramgauge
