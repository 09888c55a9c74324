#include "import/safetensors_members.h"

namespace vramgauge {

void MemberSplitter::skip_space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
    ++at_;
  }
}

bool MemberSplitter::open() {
  skip_space();
  const bool is_object = at_ < text_.size() && text_[at_] == '{';
  state_ = is_object ? State::first : State::wrong;
  if (is_object) ++at_;
  return is_object;
}

/// Takes the closing brace, behind which only space may follow.
bool MemberSplitter::close() {
  if (at_ >= text_.size() || text_[at_] != '}') return false;
  ++at_;
  skip_space();
  state_ = at_ == text_.size() ? State::end : State::wrong;
  return true;
}

void MemberSplitter::skip_string() {
  for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    if (text_[at_] == '\\') ++at_;
  }
}

std::string_view MemberSplitter::scan_member() {
  const auto begin = at_;
  uint64_t depth = 0;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '"') {
      skip_string();
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (depth == 0 && (c == ',' || c == '}')) {
      return text_.substr(begin, at_ - begin);
    } else if (c == '}' || c == ']') {
      if (depth == 0) break;
      --depth;
    }
  }
  state_ = State::wrong;
  at_ = text_.size() < at_ ? text_.size() : at_;
  return {};
}

std::optional<std::string_view> MemberSplitter::next() {
  if (state_ == State::start && !open()) return std::nullopt;
  if (state_ == State::end || state_ == State::wrong) return std::nullopt;
  skip_space();
  if (close()) return std::nullopt;
  if (state_ == State::after_member) {
    if (at_ >= text_.size() || text_[at_] != ',') {
      state_ = State::wrong;
      return std::nullopt;
    }
    ++at_;
    skip_space();
  }
  if (at_ >= text_.size() || text_[at_] != '"') {
    state_ = State::wrong;
    return std::nullopt;
  }
  state_ = State::after_member;
  const std::string_view member = scan_member();
  if (state_ == State::wrong) return std::nullopt;
  return member;
}

}  // namespace vramgauge
