// The beginning of a GGUF file from anywhere. The first byte says in pieces of which size it comes;
// the rest is the file. In pieces and at once it must read the same; what is read goes through
// everything that uses a header.
#include <cstdio>
#include <cstdlib>

#include "fuzz_session.h"
#include "import/gguf_model.h"
#include "import/gguf_reader.h"
#include "import/gguf_tensors.h"
#include "model/cache_layout.h"
#include "model/llama_cpp_weights.h"
#include "model/parameters.h"
#include "model/weights.h"

using namespace vramgauge;

namespace {

[[noreturn]] void broken(const char* what) {
  std::fprintf(stderr, "GGUF: %s\n", what);
  std::abort();
}

void check_messages(const Diagnostics& errors) {
  if (errors.empty()) broken("a failure without an error");
  for (const Diagnostic& error : errors) {
    if (message_of(error).empty()) broken("an error without a message");
  }
}

/// The same file in pieces.
void check_pieces(std::string_view file, uint64_t piece, const Result<GgufHeader>& whole) {
  GgufReader reader;
  for (uint64_t at = 0; at < file.size(); at += piece)
    reader.feed(file.substr(static_cast<size_t>(at), static_cast<size_t>(piece)));
  const bool is_complete = reader.state() == GgufReader::State::complete;
  if (is_complete != whole.has_value()) broken("pieces end otherwise than the whole");
  if (!is_complete) {
    const bool has_failed = reader.state() == GgufReader::State::failed;
    if (has_failed && reader.errors().front().code != whole.error().front().code)
      broken("pieces fail otherwise than the whole");
    return;
  }
  const GgufHeader header = reader.take();
  if (header.tensors.size() != whole->tensors.size() || header.data_bytes != whole->data_bytes ||
      header.entries.size() != whole->entries.size()) {
    broken("pieces hold something else than the whole");
  }
}

void use(const GgufHeader& header) {
  uint64_t bytes = 0;
  for (const StoredTensor& tensor : gguf_stored_tensors(header))
    bytes += tensor.bytes;
  if (bytes > header.data_bytes) broken("tensors are larger than the data");
  check_gguf_length(header, header.data_offset + header.data_bytes);
  llama_cpp_buffers(llama_cpp_weights(header.text("general.architecture").value_or(""),
                                      gguf_layer_counts(header).decoder,
                                      llama_cpp_tensors(header)));
  const auto model = import_gguf(header);
  if (!model) return check_messages(model.error());
  count_parameters(model->spec);
  const auto cache = cache_layout(model->spec, sixteen_bit_cache(), sixteen_bit_cache(), 1);
  if (!cache) check_messages(cache.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view file = fuzz::as_text(data + 1, size - 1);
  const auto header = read_gguf_header(file);
  if (!header) check_messages(header.error());
  check_pieces(file, uint64_t{data[0]} + 1, header);
  if (header) use(*header);
  return 0;
}
