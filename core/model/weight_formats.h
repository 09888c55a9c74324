// Weight formats by rule: what a list of weight tensors takes in one way of storing them.
// Sizes are exact integers per tensor: groups, tiles, scales, zeros and padding included; nothing
// is multiplied by a quoted number of bits per weight.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/gguf_mix.h"
#include "model/parameters.h"
#include "specs/breakdown.h"
#include "specs/model_spec.h"
#include "units/bytes.h"
#include "units/decimal.h"
#include "units/error.h"
#include "units/ggml_types.h"
#include "units/json.h"

namespace vramgauge {

/// The parts of a model that a format may leave alone or store differently.
enum class FormatPart {
  embedding,
  output,
  norm,
  router,
  attention,
  recurrent,
  mlp,
  expert,
  shared_expert,
  vision,
  audio,
  mtp,
  other,
};
inline constexpr size_t kNumFormatParts = 13;

std::string_view format_part_name(FormatPart part);
std::optional<FormatPart> find_format_part(std::string_view name);
FormatPart format_part_of(TensorRole role);

/// Every parameter at the same width: parameters x bits / 8, norms and embeddings included.
struct IdealLayout {
  Decimal bits;
};

/// What a quantiser does with a matrix whose features are not the multiples it needs.
enum class RaggedRule {
  refuse,  ///< gives up on the model
  keep,    ///< leaves the matrix as it is
  pad,     ///< stores it with zeros up to the next multiples
};

/// Weights of one width with scales, zeros and tables beside them. All widths in bits; 0 = none.
struct GroupedLayout {
  uint64_t bits = 0;
  /// Input features that share a scale; with `flat`, consecutive elements of the whole tensor.
  uint64_t group_size = 0;
  uint64_t scale_bits = 0;
  /// Zero point or bias per group; when as wide as a weight it is packed into words along the rows.
  uint64_t zero_bits = 0;
  /// Weights are packed into words of this many bits; a partly filled word is stored whole.
  uint64_t word_bits = 8;
  /// Words run along output features instead of input features.
  bool packs_outputs = false;
  /// Groups ignore rows.
  bool flat = false;
  /// Scales that share a second scale.
  uint64_t super_group = 0;
  uint64_t super_scale_bits = 0;
  /// Beside each output feature, each input feature, each tensor.
  uint64_t per_row_bits = 0;
  uint64_t per_column_bits = 0;
  uint64_t per_tensor_bits = 0;
  /// Tiles that share one scale; ragged edges have a scale of their own.
  uint64_t block_rows = 0;
  uint64_t block_cols = 0;
  uint64_t codebook_bytes = 0;
  /// Input and output features must be multiples of these; 1 = no such rule.
  uint64_t in_multiple = 1;
  uint64_t out_multiple = 1;
  RaggedRule ragged = RaggedRule::refuse;
};

/// One GGUF type for every matrix that the engine quantises.
struct GgufBlockLayout {
  GgmlType type = GgmlType::f32;
};

/// A GGUF file type, whose tensors get their types from the engine's chooser.
struct GgufMixLayout {
  GgufMix mix = GgufMix::f16;
};

using WeightLayout = std::variant<IdealLayout, GroupedLayout, GgufBlockLayout, GgufMixLayout>;

/// A part that is stored in another format of the list.
struct PartFormat {
  FormatPart part = FormatPart::other;
  std::string id;
  /// Filled by resolve_part_formats.
  std::optional<GroupedLayout> layout;
};

/// One entry of presets/formats.json.
struct WeightFormat {
  std::string id;
  std::string name;
  std::string family;
  /// Nothing when no layout is known; `refused` then says why.
  std::optional<WeightLayout> layout;
  std::optional<std::string> refused;
  std::array<bool, kNumFormatParts> left_unquantised{};
  std::vector<PartFormat> part_formats;
};

/// Reads one entry; errors carry pointers below `path`.
Result<WeightFormat> parse_weight_format(const json::Value& entry, std::string path = {});

/// A format that is only an average, such as "4.85bpw": every parameter at that many bits, 0 to 64.
/// Nothing for any other text.
std::optional<WeightFormat> parse_bits_per_weight(std::string_view id);

/// Fills the layouts of parts that are stored in another format of `formats`. An entry that names
/// an unknown format, or one that is not grouped, is reported.
Diagnostics resolve_part_formats(std::vector<WeightFormat>& formats);

/// Tensors that are stored alike: one line of the arithmetic.
struct StorageLine {
  /// How: "int4 g128", "Q4_K", "16-bit".
  std::string storage;
  /// What, in the order of RoleGroup.
  std::vector<RoleGroup> groups;
  uint64_t elements = 0;
  Bytes bytes;
};

/// Size of a list of tensors in one format. Bits per weight are bytes x 8 / elements, divided only
/// where text is made.
struct FormattedWeights {
  Bytes total;
  uint64_t elements = 0;
  std::array<Bytes, kNumRoleGroups> bytes_by_group{};
  std::array<uint64_t, kNumRoleGroups> elements_by_group{};
  std::vector<StorageLine> lines;
  Diagnostics warnings;
  Basis basis = Basis::exact;
};

/// Bytes of `tensors` (those of `spec`) in a format. What a format leaves alone keeps the model's
/// own dtype (GGUF: what the converter writes). Errors: a format without a layout, a matrix that
/// the quantiser refuses, sizes beyond kMaxApiBytes. An ideal format needs only
/// spec.num_parameters, and uses it when there are no tensors.
Result<FormattedWeights> format_weights(const std::vector<WeightTensor>& tensors,
                                        const ModelSpec& spec, const WeightFormat& format);

/// Bytes of one rows x cols matrix in a grouped layout; poisoned on overflow.
CheckedU64 grouped_bytes(const GroupedLayout& layout, uint64_t rows, uint64_t cols);

/// What each of `tensors` is stored in when `layout` is that of `format`: the layout, that of its
/// part, or the model's own dtype. Error: format.not_divisible, as format_weights().
Result<std::vector<GroupedLayout>> grouped_layouts(const std::vector<WeightTensor>& tensors,
                                                   const ModelSpec& spec,
                                                   const WeightFormat& format,
                                                   const GroupedLayout& layout);

}  // namespace vramgauge
