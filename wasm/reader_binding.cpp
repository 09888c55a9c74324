// Foreign formats for JavaScript: what the other module asks for with import.reader_needed.
#include <cstdint>
#include <string>

#include <emscripten/bind.h>
#include <emscripten/val.h>

#include "api/converter.h"
#include "api/reader.h"

namespace {

using emscripten::val;
using vramgauge::api::Converter;
using vramgauge::api::Reader;

std::string load_catalogue(Converter& converter, const std::string& document) {
  return converter.load_catalogue(document);
}

std::string convert(Converter& converter, const std::string& request) {
  return converter.convert(request);
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

/// `bytes` is a Uint8Array. It is copied into the module's memory a part at a time, so that a
/// header of any length needs no more of it.
std::string feed(Reader& reader, double file, double offset_bytes, const val& bytes) {
  constexpr uint32_t kPartBytes = 1U << 18;
  const auto length = bytes["length"].as<uint32_t>();
  std::string part;
  std::string answer;
  uint32_t begin = 0;
  do {
    const uint32_t end = length - begin < kPartBytes ? length : begin + kPartBytes;
    part.resize(end - begin);
    val(emscripten::typed_memory_view(part.size(), reinterpret_cast<uint8_t*>(part.data())))
        .call<void>("set", bytes.call<val>("subarray", begin, end));
    answer = reader.feed(count(file), count(offset_bytes) + begin, part);
    begin = end;
  } while (begin < length && answer.rfind("{\"ok\":true", 0) == 0);
  return answer;
}

std::string set_size(Reader& reader, double file, double size_bytes) {
  return reader.set_size(count(file), count(size_bytes));
}

}  // namespace

EMSCRIPTEN_BINDINGS(vramgauge_reader) {
  emscripten::class_<Converter>("Converter")
      .constructor<>()
      .function("load_catalogue", &load_catalogue)
      .function("convert", &convert)
      .function("compile", &compile);
  emscripten::class_<Reader>("Reader")
      .constructor<>()
      .function("load_catalogue", &load_reader_catalogue)
      .function("open", &open_files)
      .function("feed", &feed)
      .function("set_size", &set_size)
      .function("finish_document", &Reader::finish_document);
}
