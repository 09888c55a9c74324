// Shared by the files that read quantization_config.
#pragma once

#include <string>
#include <string_view>

#include "specs/quantization.h"
#include "units/json.h"

namespace vramgauge::quantization {

/// One configuration while it is read.
struct Reading {
  json::ObjectReader& reader;
  QuantizationConfig& config;

  /// The method's sizes do not follow from the configuration.
  void refuse(std::string_view reason, std::string_view key = {});
  void unknown(std::string_view detail, std::string_view key = {});
  /// Adds the names under the first of two keys to `list`; true when one is given.
  bool read_names(ModuleList& list, std::string_view key, std::string_view other_key = {});
  void add_name(ModuleList& list, std::string_view text, ModuleList::Style style,
                const std::string& path);
};

/// How "re:" marks a regular expression in compressed-tensors and Quark.
void add_marked_name(Reading& reading, ModuleList& list, std::string_view text,
                     const std::string& path);

/// FP8 with one scale per matrix, and one for its inputs where those are scaled ahead.
QuantScheme fp8_per_tensor(bool has_input_scale);
QuantScheme fp8_per_channel(uint64_t scale_bits);
QuantScheme fp8_blocks(uint64_t rows, uint64_t cols, uint64_t scale_bits);
QuantScheme nvfp4(bool has_input_scale);
QuantScheme microscaled(uint64_t bits);

void add_linear_rule(QuantizationConfig& config, const QuantScheme& scheme);

void read_compressed_tensors(Reading& reading);
void read_modelopt(Reading& reading);
/// The rules that "quantized_layers" spells out; true when it is there.
bool read_quantized_layers(Reading& reading);
void read_quark(Reading& reading);

}  // namespace vramgauge::quantization
