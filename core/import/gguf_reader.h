// Reads a GGUF header from the first bytes of a file, in pieces of any size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "import/gguf_bytes.h"
#include "import/gguf_header.h"
#include "units/error.h"

namespace vramgauge {

/// A header read as its bytes arrive. Vocabularies and other long lists are passed over without
/// being stored; at most one entry is buffered between two pieces.
class GgufReader {
 public:
  enum class State { needs_more, complete, failed };

  explicit GgufReader(const GgufLimits& limits = {});

  /// Takes the next bytes of the file. Bytes after the header are ignored.
  State feed(std::string_view bytes);

  State state() const { return state_; }
  /// How many bytes must still come at the least; 0 unless more are needed.
  uint64_t min_bytes_needed() const;
  /// Bytes of the file seen so far that belong to the header.
  uint64_t position() const { return position_; }
  /// What is wrong, with the byte it begins at, when the state is failed.
  const Diagnostics& errors() const { return errors_; }
  /// The header, once complete; the reader is then empty.
  GgufHeader take() { return std::move(header_); }

 private:
  enum class Phase { start, entries, elements, tensors };
  /// A list whose elements are passed over one by one.
  struct OpenList {
    uint32_t element = 0;
    uint64_t left = 0;
  };

  // Each reads one thing and returns true; false when its end has not come yet or it is wrong.
  bool step(gguf::Cursor& cursor);
  bool read_start(gguf::Cursor& cursor);
  bool read_version(gguf::Cursor& cursor);
  bool read_counts(gguf::Cursor& cursor);
  bool read_entry(gguf::Cursor& cursor);
  bool read_value(gguf::Cursor& cursor, GgufEntry& entry);
  bool read_number(gguf::Cursor& cursor, GgufEntry& entry, GgufType type);
  bool read_string(gguf::Cursor& cursor, GgufEntry& entry);
  bool read_array(gguf::Cursor& cursor, GgufEntry& entry);
  bool read_elements(gguf::Cursor& cursor, GgufArray& array, uint64_t width);
  bool open_list(gguf::Cursor& cursor, uint32_t element, uint64_t count);
  bool pass_elements(gguf::Cursor& cursor);
  bool pass_strings(gguf::Cursor& cursor, OpenList& list);
  bool pass_array(gguf::Cursor& cursor, OpenList& list);
  bool read_tensor(gguf::Cursor& cursor);
  bool read_name(gguf::Cursor& cursor, std::string& name);
  bool read_dims(gguf::Cursor& cursor, GgufTensorInfo& tensor);
  bool set_size(GgufTensorInfo& tensor, uint32_t type);
  bool check_place(const GgufTensorInfo& tensor);

  /// Takes what it can of the bytes; returns how many.
  uint64_t consume(std::string_view bytes);
  void feed_buffered(std::string_view& bytes);
  void next_phase();
  bool read_alignment();
  bool read_split();
  bool find_duplicates();
  void finish();

  bool skip(gguf::Cursor& cursor, uint64_t bytes);
  bool has(const gguf::Cursor& cursor, uint64_t bytes);
  bool fail_at(ErrorCode code, uint64_t offset, ErrorArgs args = {});
  bool fail_tensor(ErrorCode code, const GgufTensorInfo& tensor, ErrorArgs args = {});

  GgufLimits limits_;
  State state_ = State::needs_more;
  Phase phase_ = Phase::start;
  GgufHeader header_;
  Diagnostics errors_;
  /// The beginning of an entry whose end has not come yet.
  std::string buffer_;
  std::vector<OpenList> lists_;
  uint64_t position_ = 0;
  /// Bytes to pass over before the next entry.
  uint64_t skip_bytes_ = 0;
  /// What the entry under way needs from its beginning on, as far as is known.
  uint64_t entry_needs_ = 4;
  uint64_t entries_left_ = 0;
  uint64_t tensors_left_ = 0;
  uint64_t data_end_ = 0;
};

/// Reads a header that lies whole in `bytes` (which may go on into the data). Error
/// gguf.header_incomplete says how many bytes are missing at the least.
Result<GgufHeader> read_gguf_header(std::string_view bytes, const GgufLimits& limits = {});

/// Puts the headers of a split model together, in any order. A model in one file is returned as it
/// is. Errors: files missing, given twice, or of different models.
Result<GgufHeader> merge_gguf_headers(std::vector<GgufHeader> headers);

/// Error when a file of that length cannot hold the data that its header lists.
Diagnostics check_gguf_length(const GgufHeader& header, uint64_t file_bytes);

}  // namespace vramgauge
