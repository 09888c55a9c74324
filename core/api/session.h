// The facade: everything that the page, the command line, the tests and links ask passes through
// it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace vramgauge::api {

struct Parts;

/// A catalogue and the questions asked over it. Text in, text out; never throws, never aborts on
/// input. See core/api/README.md for the methods.
class Session {
 public:
  /// A session with every part (parts.h).
  Session();
  /// A session with these parts, which must outlive it. What needs another part is answered with
  /// import.reader_needed or engine.module_needed.
  explicit Session(const Parts& parts);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Merges a catalogue document (JSON text); returns an envelope whose result counts the entries.
  std::string load_catalogue(std::string_view document);

  /// Calls a method with a JSON request; returns an envelope.
  std::string call(std::string_view method, std::string_view request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vramgauge::api
