#include "units/error.h"

#include <iterator>

namespace vramgauge {
namespace {

constexpr ErrorInfo kTable[] = {
#define X(enumerator, code, severity, text, hint) \
  {ErrorCode::enumerator, code, Severity::severity, text, hint},
#include "units/error_codes.def"
#undef X
};

std::string text_of(const ErrorArg& arg) {
  if (const auto* text = std::get_if<std::string>(&arg.value)) return *text;
  const auto* number = std::get_if<uint64_t>(&arg.value);
  return number == nullptr ? std::string() : std::to_string(*number);
}

std::string argument(const ErrorArgs& args, std::string_view name) {
  for (const ErrorArg& arg : args) {
    if (arg.name == name) return text_of(arg);
  }
  return std::string(name);
}

std::string fill(std::string_view text, const ErrorArgs& args) {
  std::string out;
  while (!text.empty()) {
    const auto open = text.find('{');
    const auto close = text.find('}', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    out.append(text.substr(0, open));
    out += argument(args, text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
  out.append(text);
  return out;
}

}  // namespace

ErrorArgs::ErrorArgs() = default;
ErrorArgs::ErrorArgs(std::initializer_list<ErrorArgView> args) {
  list_.reserve(args.size());
  for (const ErrorArgView& arg : args)
    push_back(arg);
}
ErrorArgs::ErrorArgs(const ErrorArgs&) = default;
ErrorArgs::ErrorArgs(ErrorArgs&&) noexcept = default;
ErrorArgs& ErrorArgs::operator=(const ErrorArgs&) = default;
ErrorArgs& ErrorArgs::operator=(ErrorArgs&&) noexcept = default;
ErrorArgs::~ErrorArgs() = default;
void ErrorArgs::push_back(const ErrorArgView& arg) {
  if (arg.is_text) {
    list_.push_back({arg.name, std::string(arg.text)});
  } else {
    list_.push_back({arg.name, arg.number});
  }
}

Diagnostic::Diagnostic(ErrorCode error_code, std::string error_path, ErrorArgs error_args,
                       std::optional<TextPosition> position)
    : code(error_code), path(std::move(error_path)), args(std::move(error_args)), at(position) {}
Diagnostic::Diagnostic(const Diagnostic&) = default;
Diagnostic::Diagnostic(Diagnostic&&) noexcept = default;
Diagnostic& Diagnostic::operator=(const Diagnostic&) = default;
Diagnostic& Diagnostic::operator=(Diagnostic&&) noexcept = default;
Diagnostic::~Diagnostic() = default;

ErrorTable error_table() { return {kTable, std::size(kTable)}; }

const ErrorInfo& error_info(ErrorCode code) { return kTable[static_cast<uint32_t>(code)]; }

tl::unexpected<Diagnostics> fail(ErrorCode code, std::string path, ErrorArgs args) {
  return fail({Diagnostic{code, std::move(path), std::move(args), std::nullopt}});
}

std::string message_of(const Diagnostic& diagnostic) {
  return fill(error_info(diagnostic.code).text, diagnostic.args);
}

std::string hint_of(const Diagnostic& diagnostic) {
  return fill(error_info(diagnostic.code).hint, diagnostic.args);
}

}  // namespace vramgauge
