// The members of a large JSON object one by one, so that the whole is never held as a document.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vramgauge {

/// Splits the text of an object at its outermost commas. The members themselves are not checked:
/// each is JSON for a parser to judge.
class MemberSplitter {
 public:
  explicit MemberSplitter(std::string_view text) : text_(text) {}

  /// The text of the next member ("key": value); nothing at the end or at a mistake.
  std::optional<std::string_view> next();
  /// True when the object ended as it should.
  bool is_complete() const { return state_ == State::end; }
  /// How far the text has been read.
  uint64_t offset() const { return at_; }

 private:
  enum class State { start, first, after_member, end, wrong };

  void skip_space();
  bool open();
  bool close();
  std::string_view scan_member();
  void skip_string();

  std::string_view text_;
  std::string_view::size_type at_ = 0;
  State state_ = State::start;
};

}  // namespace vramgauge
