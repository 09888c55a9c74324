// A small pattern matcher for dotted names: linear in the name, whatever the pattern.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "units/error.h"

namespace vramgauge {

/// A pattern over names such as "model.layers.0.mlp.up_proj".
class NamePattern {
 public:
  /// Compiles a regular expression that is matched from the beginning of a name and need not reach
  /// its end (Python's re.match). Understood: alternatives, groups, character classes, \d \w \s and
  /// escaped punctuation, . * + ? {m,n}, ^ and $. Otherwise the construct that is not.
  static tl::expected<NamePattern, std::string> expression(std::string_view text);
  /// Compiles a file-name pattern (* ? [...]) that stands for whole modules: it must end where the
  /// name does, or in front of a dot.
  static tl::expected<NamePattern, std::string> file_name(std::string_view text);

  bool matches(std::string_view name) const;

 private:
  friend class NamePatternCompiler;

  using CharSet = std::bitset<256>;
  /// Jumps are relative to the instruction.
  struct Instruction {
    enum class Op { one_of, split, jump, at_start, at_end, accept };
    Op op = Op::accept;
    int64_t first = 1;
    int64_t second = 1;
    CharSet set;
  };
  using Code = std::vector<Instruction>;

  class Run;

  Code code_;
  /// What every name that matches begins with.
  std::string prefix_;
};

}  // namespace vramgauge
