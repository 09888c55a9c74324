// The parts of a document in the form they have on paper: tables and runs, not yet multiplied.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "import/spec_fields.h"
#include "specs/model_spec.h"
#include "specs/stored_model.h"

namespace vramgauge::spec {

inline constexpr uint64_t kMaxLayers = 10'000;
inline constexpr uint64_t kMaxTensors = uint64_t{1} << 20;

/// Different layers, and the order they come in.
struct LayerTable {
  std::vector<Layer> kinds;
  std::vector<uint64_t> order;
};

/// Stored tensors that are alike but for their layer, whose number "{}" in the name stands for.
struct StoredRow {
  StoredWeight tensor;
  /// First layer and number of layers, in turn; empty for a tensor that is in no layer.
  std::vector<uint64_t> layers;
};

struct StoredTable {
  StoredModel::Container container = StoredModel::Container::gguf;
  std::string architecture;
  std::vector<StoredRow> rows;
};

/// `schemes_of` has a number per tensor: native, mixed, and then the schemes.
struct QuantizationTable {
  ResolvedQuantization quantization;
  std::vector<uint64_t> scheme_of;
};
inline constexpr uint64_t kNativeNumber = 0;
inline constexpr uint64_t kMixedNumber = 1;
inline constexpr uint64_t kFirstScheme = 2;

struct Document {
  std::string marker;
  uint64_t version = 0;
  /// Without its layers.
  ModelSpec spec;
  std::optional<LayerTable> layers;
  std::optional<LayerTable> mtp_layers;
  std::vector<std::string> assumptions;
  Diagnostics warnings;
  std::optional<StoredTable> stored;
  std::optional<QuantizationTable> quantization;
};

// spec_layers.cpp
void describe(Fields& fields, Layer& layer);
void describe(Fields& fields, ExtraTensor& extra);
void describe(Fields& fields, Tower& tower);
void describe(Fields& fields, RotaryTable& table);
void describe(Fields& fields, LayerTable& table);
// spec_document.cpp
void describe(Fields& fields, StoredRow& row);
void describe(Fields& fields, Document& document);

/// Bytes of a GGUF tensor by its type and dims; nothing when they do not give any.
std::optional<uint64_t> gguf_bytes_of(const StoredWeight& tensor);

}  // namespace vramgauge::spec
