// A model read from files of any size, for those who hold the files: the page, the command line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace vramgauge::api {

/// Says which bytes of a model's files are wanted, and what they say in the end. Answers are
/// envelopes, as those of Session. In order: open(); feed() what is wanted until nothing is;
/// finish(). Of files with weights only the headers are wanted, whatever their size.
class Reader {
 public:
  Reader();
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Takes class_defaults from a catalogue document; they hold for what is read after it.
  std::string load_catalogue(std::string_view document);

  /// Begins anew: {"files": [{"name", "size_bytes"?}], "name"?}, "name" being what a model is
  /// called that has no name of its own. Result, here and from the next two: {"wanted": [{"file",
  /// "offset_bytes", "length_bytes"}], "received_bytes"}; files are numbered as given.
  std::string open(std::string_view request);
  /// Takes some or all bytes of a wanted range, as they lie in the file; no bytes at its beginning
  /// say that the file ends there.
  std::string feed(uint64_t file, uint64_t offset_bytes, std::string_view bytes);
  /// Says how long a file is, once that is known.
  std::string set_size(uint64_t file, uint64_t size_bytes);

  /// What the method import answers for a configuration, and "stored" where headers were read:
  /// {"container", "total_bytes", "num_tensors", "is_total_only"}.
  std::string finish();
  /// finish() without the summary, for those who have a session to ask for it: {"text", "name",
  /// "stored"}, the first two being a request for its method import.
  std::string finish_document();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vramgauge::api
