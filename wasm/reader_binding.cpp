// Foreign formats for JavaScript: what the other module asks for with import.reader_needed.
#include <cstdint>
#include <string>

#include <emscripten/bind.h>

#include "api/converter.h"
#include "api/reader.h"

namespace {

using vramgauge::api::Converter;
using vramgauge::api::Reader;

std::string load_catalogue(Converter& converter, const std::string& document) {
  return converter.load_catalogue(document);
}

std::string import(Converter& converter, const std::string& request) {
  return converter.import(request);
}

std::string compile(Converter& converter, const std::string& document) {
  return converter.compile(document);
}

std::string load_reader_catalogue(Reader& reader, const std::string& document) {
  return reader.load_catalogue(document);
}

std::string open_files(Reader& reader, const std::string& request) { return reader.open(request); }

/// A number as JavaScript has it; what is no count is more than any file has.
uint64_t count(double number) {
  constexpr double kMaxExact = 9007199254740992.0;
  return number >= 0 && number <= kMaxExact ? static_cast<uint64_t>(number) : UINT64_MAX;
}

std::string feed(Reader& reader, double file, double offset_bytes, const std::string& bytes) {
  return reader.feed(count(file), count(offset_bytes), bytes);
}

std::string set_size(Reader& reader, double file, double size_bytes) {
  return reader.set_size(count(file), count(size_bytes));
}

}  // namespace

EMSCRIPTEN_BINDINGS(vramgauge_reader) {
  emscripten::class_<Converter>("Converter")
      .constructor<>()
      .function("load_catalogue", &load_catalogue)
      .function("import", &import)
      .function("compile", &compile);
  emscripten::class_<Reader>("Reader")
      .constructor<>()
      .function("load_catalogue", &load_reader_catalogue)
      .function("open", &open_files)
      .function("feed", &feed)
      .function("set_size", &set_size)
      .function("finish", &Reader::finish);
}
