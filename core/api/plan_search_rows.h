// The rows of a search: what each says, and the best of millions of them.
#pragma once

#include <cstdint>
#include <vector>

#include "import/catalogue.h"
#include "specs/breakdown.h"
#include "units/json.h"

namespace vramgauge::api {

/// A combination and what comes of it.
struct SearchRow {
  const CatalogueEntry* model = nullptr;
  const CatalogueEntry* gpu = nullptr;
  const CatalogueEntry* format = nullptr;
  uint64_t micro_bits = 0;
  uint64_t parameters = 0;
  uint64_t max_requests = 0;
  VerdictState state = VerdictState::does_not_fit;
  Bytes needed = Bytes();
  Bytes usable = Bytes();

  int64_t margin() const { return (usable - needed).count(); }
};

/// What rows are sorted by.
enum class RowSort { margin, needed, usable, bits, parameters, requests };

/// Which rows are wanted, and in which order.
struct RowOrder {
  RowSort sort = RowSort::margin;
  bool is_descending = false;
  uint64_t limit = 50;
  VerdictState worst = VerdictState::does_not_fit;
  uint64_t min_micro_bits = 0;
  uint64_t max_micro_bits = UINT64_MAX;
};

/// The number that a row is sorted by.
inline int64_t sort_key(const SearchRow& row, RowSort sort) {
  switch (sort) {
    case RowSort::margin: return row.margin();
    case RowSort::needed: return static_cast<int64_t>(row.needed.count());
    case RowSort::usable: return static_cast<int64_t>(row.usable.count());
    case RowSort::bits: return static_cast<int64_t>(row.micro_bits);
    case RowSort::parameters: return static_cast<int64_t>(row.parameters);
    case RowSort::requests: return static_cast<int64_t>(row.max_requests);
  }
  return 0;
}

/// The first `limit` rows by the sort; equal ones in the order in which they came.
class BestRows {
 public:
  explicit BestRows(const RowOrder& order) : order_(order) {}

  void add(const SearchRow& row) {
    ++num_points_;
    const auto state = static_cast<std::size_t>(row.state);
    ++num_by_state_[state];
    if (row.state > order_.worst) return;
    ++num_found_;
    const int64_t value = sort_key(row, order_.sort);
    const int64_t key = order_.is_descending ? -value : value;
    if (rows_.size() == order_.limit) {
      if (key >= rows_.back().key) return;
      rows_.pop_back();
    }
    // Behind those of the same key.
    auto place = rows_.end();
    while (place != rows_.begin() && key < (place - 1)->key)
      --place;
    rows_.insert(place, {key, row});
  }

  /// Counts a combination that the engine or the catalogue refuses.
  void refuse() { ++num_refused_; }

  /// Best first.
  template <typename Visit>
  void each(const Visit& visit) const {
    for (const Ranked& ranked : rows_)
      visit(ranked.row);
  }

  void write_counts(json::Value& out) const {
    out.set("points", num_points_);
    out.set("found", num_found_);
    out.set("fits", num_by_state_[0]);
    out.set("tight", num_by_state_[1]);
    out.set("refused", num_refused_);
  }

 private:
  struct Ranked {
    int64_t key = 0;
    SearchRow row;
  };

  const RowOrder& order_;
  std::vector<Ranked> rows_;
  uint64_t num_points_ = 0;
  uint64_t num_found_ = 0;
  uint64_t num_refused_ = 0;
  uint64_t num_by_state_[3] = {};
};

}  // namespace vramgauge::api
