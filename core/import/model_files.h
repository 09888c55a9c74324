// A model read from files of any size: which bytes are wanted, and what they say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/hf_config.h"
#include "import/model_files_file.h"
#include "specs/quantization.h"
#include "specs/stored_model.h"
#include "units/error.h"

namespace vramgauge {

/// Bytes of one file, counted from 0.
struct FileRange {
  uint64_t file = 0;
  uint64_t offset_bytes = 0;
  uint64_t length_bytes = 0;

  friend bool operator==(const FileRange&, const FileRange&) = default;
};

/// What the files of a model said.
struct ImportedFiles {
  /// Its warnings include those about the files.
  ImportedModel model;
  /// Tensors by the headers of the files; nothing when only a configuration was given.
  std::optional<StoredModel> stored;
  /// `stored` is one entry: the total that an index announces.
  bool is_total_only = false;
  /// How config.json says that the checkpoint is quantised, when it does and is understood.
  std::optional<QuantizationConfig> quantization;
  /// Why it is not understood, and the method that it names.
  Diagnostics refused_quantization;
  std::string refused_method;
  /// The same of a model that was stored as JSON before.
  std::optional<ResolvedQuantization> resolved_quantization;
};

/// Reads a model from the headers of its files, whoever holds them: add the files, then hand over
/// the bytes of wanted() until it is empty, then finish(). Understood are GGUF (one file or all of
/// a split model), safetensors with config.json (and with the index and the file that says how the
/// checkpoint is quantised, where there are any), the index with config.json, and config.json
/// alone; what else lies in a model's folder is not read. Of files with weights only the headers
/// are wanted. Bytes may come in any order and in pieces of any size.
///
/// Errors carry a pointer: the name of the file, when there are several, then the place in it.
class ModelFiles {
 public:
  static constexpr uint64_t kMaxFiles = 4096;

  /// `class_defaults` as for import_hf_config(); must outlive the object, may be null.
  explicit ModelFiles(const json::Value* class_defaults);

  /// Adds a file by its name (folders are cut off) and, when it is known, its size. Files are
  /// numbered from 0 in the order in which they are added.
  void add_file(std::string_view name, std::optional<uint64_t> size_bytes);

  /// What is wanted next, at most one range a file and 8 MiB each, cut to the file's size where
  /// that is known; empty when everything is read or something has failed.
  std::vector<FileRange> wanted() const;

  /// Takes bytes of a wanted range, all or some. No bytes at the beginning of a wanted range say
  /// that the file ends there. Bytes that are there already are passed over. Returns what is wrong
  /// with the file, or import.not_wanted.
  Diagnostics feed(uint64_t file, uint64_t offset_bytes, std::string_view bytes);

  /// Says how long a file is, once that is known. Error: import.wrong_size when it was known to be
  /// another.
  Diagnostics set_size(uint64_t file, uint64_t size_bytes);

  uint64_t num_files() const { return files_.size(); }
  const std::string& name(uint64_t file) const;
  /// Bytes taken in, of all files.
  uint64_t received_bytes() const;

  /// Puts together what has been read; afterwards the object is empty. Errors: those of the files,
  /// import.incomplete while something is wanted, and those of files that do not make one model.
  Result<ImportedFiles> finish();

 private:
  bool has_failed() const;
  void advance(files::File& file);
  Diagnostics end_at(files::File& file, uint64_t size_bytes);
  Diagnostics not_wanted(uint64_t file, uint64_t offset_bytes, uint64_t length_bytes) const;
  Diagnostics located_errors(const files::File& file) const;
  /// Errors of reading, else of files that are not read to their end.
  Diagnostics errors() const;

  const json::Value* class_defaults_;
  std::vector<files::File> files_;
  /// Files beyond the limit.
  uint64_t num_refused_ = 0;
};

}  // namespace vramgauge
