// One of the files that a model is read from: what it is, and how far it has been read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/gguf_reader.h"
#include "import/model_files_pieces.h"
#include "import/safetensors.h"
#include "units/error.h"
#include "units/json.h"

namespace vramgauge::files {

/// What a file is.
enum class Kind {
  unknown,       ///< not known by its name; its beginning will tell
  gguf,          ///< model in GGUF, whole or one of several
  projector,     ///< GGUF of a vision tower, by its name
  safetensors,   ///< weights
  consolidated,  ///< the same weights once more, in their publisher's own layout
  index,         ///< which weights are in which file
  config,        ///< config.json, or a model as JSON
  quantization,  ///< quantisation beside a configuration
  json,          ///< JSON that is none of these by its name
  pickle,        ///< weights in a format that is not read
  side,          ///< tokenizers, texts and the like: says nothing about memory
  other,         ///< none of these, by its content
};

/// Kind by the name alone, without folders and in any case.
Kind kind_by_name(std::string_view name);
/// Kind by the first bytes of the file too, which settle what its name leaves open; a file that
/// begins as GGUF is one whatever its name.
Kind kind_by_content(Kind by_name, std::string_view head);
/// Kind of a parsed JSON document whose name said nothing.
Kind kind_by_members(const json::Value& document);

/// Bytes after which kind_by_content() knows.
inline constexpr uint64_t kHeadBytes = 16;

/// True for what stands in place of a file in a Git repository.
bool is_lfs_pointer(std::string_view head);

/// A file on its way.
struct File {
  enum class Phase { beginning, body, done, failed };

  std::string name;
  std::optional<uint64_t> size_bytes;
  Kind kind = Kind::unknown;
  Phase phase = Phase::beginning;
  /// Everything before this has been taken in.
  uint64_t next = 0;
  /// End of what is wanted now.
  uint64_t window_end = 0;
  Pieces pieces;
  /// The beginning, a text, or a header of known length.
  std::string content;
  std::optional<GgufReader> gguf_reader;

  // What it held, once done.
  GgufHeader gguf;
  SafetensorsHeader safetensors;
  SafetensorsIndex index;
  json::Value document;
  /// Why the phase is failed.
  Diagnostics errors;

  bool is_at_end() const { return size_bytes && next >= *size_bytes; }
  bool is_gguf() const { return kind == Kind::gguf || kind == Kind::projector; }
  bool is_safetensors() const { return kind == Kind::safetensors || kind == Kind::consolidated; }
  bool is_ended() const { return phase == Phase::done || phase == Phase::failed; }
};

/// Which kinds are among the files, as far as that decides what is read.
struct Present {
  bool gguf = false;
  bool safetensors = false;
};
Present present_in(const std::vector<File>& files);
/// Whether files of a kind are read: not beside others that say the same, or more.
bool is_read(Kind kind, const Present& present);

/// The stretch that is wanted after `file.next`, its end.
uint64_t window_end(const File& file);
/// Goes on from what is there: identifies the file, reads its header, or finds that it cannot.
void advance(File& file);
/// Whether a file that has been read holds what its header lists, once its size is known.
Diagnostics check_length(const File& file);
/// Takes the bytes from file.next on.
void take(File& file, std::string_view bytes);

}  // namespace vramgauge::files
