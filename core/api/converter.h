// Foreign formats for those who have a session without importers: the page's second module, and the
// build of the catalogue.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace vramgauge::api {

/// Reads models in foreign formats. Text in, text out, with the envelopes and limits of Session.
class Converter {
 public:
  Converter();
  ~Converter();
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  /// Takes class_defaults from a catalogue document; they hold for what is read after it.
  std::string load_catalogue(std::string_view document);

  /// Answers {"text"}, a configuration in any format, with {"text"}, the same in a form that every
  /// session reads. Errors are those of Session's method import.
  std::string convert(std::string_view request);

  /// A catalogue document with the configurations of its models in the form that sessions read
  /// without importers: {"models": [...]}. Errors name the model: /models/<id>/config/...
  std::string compile(std::string_view document);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vramgauge::api
