// All members of the structs that describe a model, as tuples: a member that is added to a struct
// and not here does not compile, so nothing that walks over them can forget one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "import/spec_json.h"

namespace vramgauge::testing {

template <typename T, typename S>
concept Is = std::is_same_v<std::remove_const_t<T>, S>;

// clang-format off
template <Is<Indexer> T> auto members(T& v) {
  auto& [a, b, c, d, e] = v;
  return std::tie(a, b, c, d, e);
}
template <Is<Attention> T> auto members(T& v) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = v;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);
}
template <Is<LatentAttention> T> auto members(T& v) {
  auto& [a, b, c, d, e, f, g, h, i] = v;
  return std::tie(a, b, c, d, e, f, g, h, i);
}
template <Is<CompressedAttention> T> auto members(T& v) {
  auto& [a, b, c, d, e, f, g, h, i] = v;
  return std::tie(a, b, c, d, e, f, g, h, i);
}
template <Is<Mamba1> T> auto members(T& v) {
  auto& [a, b, c, d, e, f, g] = v;
  return std::tie(a, b, c, d, e, f, g);
}
template <Is<Mamba2> T> auto members(T& v) {
  auto& [a, b, c, d, e, f, g, h] = v;
  return std::tie(a, b, c, d, e, f, g, h);
}
template <Is<GatedDelta> T> auto members(T& v) {
  auto& [a, b, c, d, e, f, g, h] = v;
  return std::tie(a, b, c, d, e, f, g, h);
}
template <Is<LinearAttention> T> auto members(T& v) {
  auto& [a, b] = v;
  return std::tie(a, b);
}
template <Is<ShortConv> T> auto members(T& v) {
  auto& [a, b, c, d] = v;
  return std::tie(a, b, c, d);
}
template <Is<Rwkv> T> auto members(T& v) {
  auto& [a, b, c, d, e, f, g, h, i] = v;
  return std::tie(a, b, c, d, e, f, g, h, i);
}
template <Is<GatedLru> T> auto members(T& v) {
  auto& [a, b, c] = v;
  return std::tie(a, b, c);
}
template <Is<DenseFfn> T> auto members(T& v) {
  auto& [a, b, c, d] = v;
  return std::tie(a, b, c, d);
}
template <Is<MoeFfn> T> auto members(T& v) {
  auto& [a, b, c, d, e, f, g, h, i, j] = v;
  return std::tie(a, b, c, d, e, f, g, h, i, j);
}
template <Is<WeightTensor> T> auto members(T& v) {
  auto& [a, b, c, d, e, f, g, h] = v;
  return std::tie(a, b, c, d, e, f, g, h);
}
template <Is<ExtraTensor> T> auto members(T& v) {
  auto& [a, b, c, d, e] = v;
  return std::tie(a, b, c, d, e);
}
template <Is<Layer> T> auto members(T& v) {
  auto& [a, b, c, d, e] = v;
  return std::tie(a, b, c, d, e);
}
template <Is<Tower> T> auto members(T& v) {
  auto& [a, b, c] = v;
  return std::tie(a, b, c);
}
template <Is<RotaryTable> T> auto members(T& v) {
  auto& [a, b, c] = v;
  return std::tie(a, b, c);
}
template <Is<LargestImage> T> auto members(T& v) {
  auto& [a, b, c, d, e, f, g] = v;
  return std::tie(a, b, c, d, e, f, g);
}
template <Is<ModelSpec> T> auto members(T& v) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, w, x] = v;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, w, x);
}
template <Is<QuantScheme> T> auto members(T& v) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = v;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
}
template <Is<StoredWeight> T> auto members(T& v) {
  auto& [a, b, c, d, e, f, g] = v;
  return std::tie(a, b, c, d, e, f, g);
}
template <Is<StoredModel> T> auto members(T& v) {
  auto& [a, b, c] = v;
  return std::tie(a, b, c);
}
template <Is<ResolvedQuantization> T> auto members(T& v) {
  auto& [a, b, c, d, e, f] = v;
  return std::tie(a, b, c, d, e, f);
}
template <Is<ImportedModel> T> auto members(T& v) {
  auto& [a, b] = v;
  return std::tie(a, b);
}
template <Is<SpecDocument> T> auto members(T& v) {
  auto& [a, b, c] = v;
  return std::tie(a, b, c);
}
template <Is<ErrorArg> T> auto members(T& v) {
  auto& [a, b] = v;
  return std::tie(a, b);
}
// clang-format on

template <typename T>
concept HasMembers = requires(const T& v) {
  members(v);
};

inline bool same(std::monostate /*a*/, std::monostate /*b*/) { return true; }
template <typename T>
bool same(const T& a, const T& b);
template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b);
template <typename T>
bool same(const std::optional<T>& a, const std::optional<T>& b);
template <typename... T>
bool same(const std::variant<T...>& a, const std::variant<T...>& b);

/// The same, member by member; a diagnostic's place in a text does not count.
inline bool same(const Diagnostic& a, const Diagnostic& b) {
  return a.code == b.code && a.path == b.path &&
         same(std::vector<ErrorArg>(a.args.begin(), a.args.end()),
              std::vector<ErrorArg>(b.args.begin(), b.args.end()));
}

template <typename T>
bool same(const T& a, const T& b) {
  if constexpr (HasMembers<T>) {
    const auto others = members(b);
    return std::apply(
        [&](const auto&... mine) {
          return std::apply([&](const auto&... theirs) { return (same(mine, theirs) && ...); },
                            others);
        },
        members(a));
  } else {
    return a == b;
  }
}

template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) return false;
  }
  return true;
}

template <typename T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}

template <typename... T>
bool same(const std::variant<T...>& a, const std::variant<T...>& b) {
  return a.index() == b.index() &&
         std::visit(
             [&](const auto& mine) {
               return same(mine, *std::get_if<std::decay_t<decltype(mine)>>(&b));
             },
             a);
}

}  // namespace vramgauge::testing
