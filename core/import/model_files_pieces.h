// Bytes that arrive in any order, put into the file's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramgauge::files {

/// Pieces of one stretch of a file that came before their turn. Holds at most the stretch, once.
class Pieces {
 public:
  /// Keeps a piece of the stretch from `begin` to `end`, in which it lies. Beyond 256 gaps a piece
  /// is dropped: it will be wanted again.
  void hold(uint64_t begin, uint64_t end, uint64_t offset, std::string_view bytes);
  /// What is held from `next` on, or nothing. The bytes stay until drop_before().
  std::string_view held_from(uint64_t next) const;
  void drop_before(uint64_t next);
  /// Where the first piece that is held begins, or `otherwise`.
  uint64_t first_or(uint64_t otherwise) const;

 private:
  struct Span {
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  /// Puts a span among the others, joined with those that it touches; false beyond the limit.
  bool insert(Span span);

  uint64_t base_ = 0;
  std::string data_;
  /// Sorted, apart from each other.
  std::vector<Span> spans_;
};

}  // namespace vramgauge::files
