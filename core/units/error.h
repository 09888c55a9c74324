// Errors as values: a stable code, the place in what the user gave, arguments and a hint.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

namespace vramgauge {

enum class Severity { error, warning };

enum class ErrorCode {
#define X(enumerator, code, severity, text, hint) enumerator,
#include "units/error_codes.def"
#undef X
};

/// One row of error_codes.def.
struct ErrorInfo {
  ErrorCode code;
  std::string_view name;
  Severity severity;
  std::string_view text;
  std::string_view hint;
};

/// The whole table, in the order of the enumerators.
struct ErrorTable {
  const ErrorInfo* rows;
  uint64_t size;
};
ErrorTable error_table();

/// The table row of a code.
const ErrorInfo& error_info(ErrorCode code);

/// A place in a text, counted from 1.
struct TextPosition {
  uint64_t line = 0;
  uint64_t column = 0;
};

/// A named value that a message mentions.
struct ErrorArg {
  std::string_view name;
  std::variant<std::string, uint64_t> value;
};

/// The same before it is stored: owns nothing, so that the hundreds of places that report an error
/// stay small. It lives only in the expression that reports.
struct ErrorArgView {
  constexpr ErrorArgView(std::string_view arg_name, std::string_view arg_text)
      : name(arg_name), text(arg_text), is_text(true) {}
  constexpr ErrorArgView(std::string_view arg_name, uint64_t arg_number)
      : name(arg_name), number(arg_number) {}

  std::string_view name;
  std::string_view text;
  uint64_t number = 0;
  bool is_text = false;
};

/// The values of one message. Special members are out of line, here and below, for the same reason.
class ErrorArgs {
 public:
  ErrorArgs();
  ErrorArgs(std::initializer_list<ErrorArgView> args);
  ErrorArgs(const ErrorArgs&);
  ErrorArgs(ErrorArgs&&) noexcept;
  ErrorArgs& operator=(const ErrorArgs&);
  ErrorArgs& operator=(ErrorArgs&&) noexcept;
  ~ErrorArgs();

  void push_back(const ErrorArgView& arg);
  const ErrorArg& front() const { return list_.front(); }
  std::vector<ErrorArg>::const_iterator begin() const { return list_.begin(); }
  std::vector<ErrorArg>::const_iterator end() const { return list_.end(); }

 private:
  std::vector<ErrorArg> list_;
};

/// One error or warning.
struct Diagnostic {
  Diagnostic(ErrorCode error_code, std::string error_path, ErrorArgs error_args = {},
             std::optional<TextPosition> position = std::nullopt);
  Diagnostic(const Diagnostic&);
  Diagnostic(Diagnostic&&) noexcept;
  Diagnostic& operator=(const Diagnostic&);
  Diagnostic& operator=(Diagnostic&&) noexcept;
  ~Diagnostic();

  ErrorCode code;
  /// RFC 6901 pointer into what the user gave (configuration, scenario, link key).
  std::string path;
  ErrorArgs args;
  std::optional<TextPosition> at;
};

using Diagnostics = std::vector<Diagnostic>;

/// A value, or the errors that explain why there is none.
template <typename T>
using Result = tl::expected<T, Diagnostics>;

/// Errors as the unexpected side of a Result.
inline tl::unexpected<Diagnostics> fail(Diagnostics errors) {
  return tl::unexpected<Diagnostics>(std::move(errors));
}
tl::unexpected<Diagnostics> fail(ErrorCode code, std::string path, ErrorArgs args = {});

/// The English message: the code's template with the arguments filled in.
std::string message_of(const Diagnostic& diagnostic);
/// The English hint: the code's hint with the arguments filled in.
std::string hint_of(const Diagnostic& diagnostic);

}  // namespace vramgauge
