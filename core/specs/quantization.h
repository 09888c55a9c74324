// How a checkpoint is quantised, as its own configuration says: which modules, and how each is
// stored. Sizes follow in model/checkpoint_format.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "units/error.h"
#include "units/name_pattern.h"

namespace vramgauge {

/// One way of storing a matrix: codes, and what lies beside them.
struct QuantScheme {
  enum class Kind {
    gptq,          ///< words along the inputs, packed zeros, a group index per input
    awq,           ///< words along the outputs, packed zeros
    packed_int,    ///< words along the inputs, scales; zeros when asymmetric
    bytes,         ///< one byte per weight: int8 or FP8
    nvfp4,         ///< 4-bit floats, FP8 scales per group, one scale per matrix
    microscaled,   ///< 4- or 8-bit floats, 8-bit exponents per group
    bnb_4bit,      ///< flat blocks of 64
    affine,        ///< codes with a 16-bit scale and a 16-bit zero (or bias) per group
    exl3,          ///< trellis codes with sign vectors
    modelopt_awq,  ///< 4-bit integers with scales and one factor per input
    bitnet,        ///< ternary codes, four to a byte
  };
  /// What one scale covers.
  enum class Span { tensor, channel, group, block };

  Kind kind = Kind::bytes;
  uint64_t bits = 8;
  /// Input features that share a scale; 0 = the whole row.
  uint64_t group_size = 0;
  Span span = Span::tensor;
  uint64_t scale_bits = 16;
  uint64_t block_rows = 0;
  uint64_t block_cols = 0;
  bool has_zeros = false;
  /// A 32-bit index per input feature; GPTQ writes it whether activations are reordered or not.
  bool has_group_index = false;
  /// Activations are reordered, so that engines keep the index.
  bool is_act_ordered = false;
  /// Zeros that are all alike: stored, but nothing reads them.
  bool is_symmetric = false;
  /// Scales are quantised themselves (bitsandbytes).
  bool has_double_scales = false;
  /// A scale of the activations is stored with each matrix.
  bool has_input_scale = false;

  friend bool operator==(const QuantScheme&, const QuantScheme&) = default;
};

/// Names of modules, as the lists of a quantisation configuration write them.
class ModuleList {
 public:
  enum class Style {
    /// Whole parts of a name ("lm_head", "model.layers.3.mlp"); with a star, a file-name pattern.
    names,
    /// A regular expression from the beginning of the name, as Python's re.match.
    expression,
  };

  /// Adds an entry; nothing, or the construct in it that is not understood.
  std::optional<std::string> add(std::string_view text, Style style);
  bool empty() const { return texts_.empty(); }
  /// Position of an entry that means this module.
  std::optional<uint64_t> find(std::string_view module) const;
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  struct Pattern {
    uint64_t index = 0;
    NamePattern matcher;
  };

  std::vector<std::string> texts_;
  std::map<std::string, uint64_t, std::less<>> names_;
  std::vector<Pattern> patterns_;
};

/// Modules that are stored alike.
struct QuantRule {
  ModuleList targets;
  /// Every linear layer that no rule names.
  bool takes_linear = false;
  /// Only routed experts (MXFP4, and FP8 checkpoints with 4-bit experts).
  bool only_experts = false;
  QuantScheme scheme;
};

/// A quantisation configuration in any dialect.
struct QuantizationConfig {
  /// As the configuration names it: "fp8", "compressed-tensors".
  std::string method;
  /// Id of the cache type that it has scales for; empty = none.
  std::string cache_type;
  /// Modules that keep the checkpoint's dtype; they win over rules.
  ModuleList ignored;
  /// The first that names a module counts; then the first that takes what it is.
  std::vector<QuantRule> rules;
  /// Whether these count as linear layers where nothing names them.
  bool takes_head = false;
  bool takes_embeddings = false;
  bool takes_routers = false;
  bool takes_towers = false;
  Diagnostics warnings;
};

}  // namespace vramgauge
