#include "import/model_files_pieces.h"

#include <algorithm>

#include "units/index.h"

namespace vramgauge::files {
namespace {

constexpr uint64_t kMaxSpans = 256;

}  // namespace

bool Pieces::insert(Span span) {
  const auto first = std::find_if(spans_.begin(), spans_.end(),
                                  [&](const Span& each) { return each.end >= span.begin; });
  const auto last =
      std::find_if(first, spans_.end(), [&](const Span& each) { return each.begin > span.end; });
  if (first == last) {
    if (spans_.size() >= kMaxSpans) return false;
    spans_.insert(first, span);
    return true;
  }
  first->begin = std::min(first->begin, span.begin);
  first->end = std::max(std::prev(last)->end, span.end);
  spans_.erase(std::next(first), last);
  return true;
}

void Pieces::hold(uint64_t begin, uint64_t end, uint64_t offset, std::string_view bytes) {
  if (spans_.empty()) {
    base_ = begin;
    data_.resize(index_of(end - begin));
  }
  if (!insert({offset, offset + bytes.size()})) return;
  std::copy(bytes.begin(), bytes.end(),
            data_.begin() + static_cast<std::string::difference_type>(offset - base_));
}

std::string_view Pieces::held_from(uint64_t next) const {
  if (spans_.empty() || spans_.front().begin > next || spans_.front().end <= next) return {};
  return std::string_view(data_).substr(index_of(next - base_),
                                        index_of(spans_.front().end - next));
}

void Pieces::drop_before(uint64_t next) {
  const auto kept = std::find_if(spans_.begin(), spans_.end(),
                                 [next](const Span& span) { return span.end > next; });
  spans_.erase(spans_.begin(), kept);
  if (spans_.empty()) std::string().swap(data_);
}

uint64_t Pieces::first_or(uint64_t otherwise) const {
  return spans_.empty() ? otherwise : spans_.front().begin;
}

}  // namespace vramgauge::files
