// The beginning of a safetensors file, or the index of several, from anywhere.
#include <cstdio>
#include <cstdlib>

#include "fuzz_session.h"
#include "import/safetensors.h"

using namespace vramgauge;

namespace {

[[noreturn]] void broken(const char* what) {
  std::fprintf(stderr, "safetensors: %s\n", what);
  std::abort();
}

void check_messages(const Diagnostics& errors) {
  if (errors.empty()) broken("a failure without an error");
  for (const Diagnostic& error : errors) {
    if (message_of(error).empty()) broken("an error without a message");
  }
}

void use(const SafetensorsHeader& header) {
  uint64_t bytes = 0;
  for (const SafetensorsTensor& tensor : header.tensors)
    bytes += tensor.bytes();
  if (bytes != header.data_bytes) broken("tensors do not cover the data");
  const auto checkpoint = join_safetensors({{"model.safetensors", header}}, nullptr, {1, true});
  if (!checkpoint) return check_messages(checkpoint.error());
  if (checkpoint->total_bytes > bytes) broken("more bytes than the file has");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  const auto header = read_safetensors_header(text);
  if (header) {
    use(*header);
  } else {
    check_messages(header.error());
  }
  const auto index = read_safetensors_index(text);
  if (!index) {
    check_messages(index.error());
  } else if (join_safetensors({}, &*index)) {
    broken("an index is satisfied without files");
  }
  return 0;
}
