// Any method with any request: the first line names the method, the rest is the request.
#include "fuzz_session.h"

using namespace vramgauge;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  const size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos) return 0;
  fuzz::checked_call(fuzz::session_with_catalogue(), text.substr(0, line_end),
                     text.substr(line_end + 1));
  return 0;
}
