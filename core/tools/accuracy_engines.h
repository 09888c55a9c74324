// What the presets say of engines, cache types and cards, as rows of truth files name them.
#pragma once

#include <string>
#include <string_view>

#include "accuracy_models.h"
#include "engine/sglang.h"
#include "engine/trtllm.h"
#include "engine/vllm.h"
#include "import/catalogue.h"
#include "model/weight_formats.h"

namespace vramgauge::tools {

/// A release as a log states it: a number, or the style and date by which a log without one can be
/// told ("V1 (Oct 2025)").
struct StatedRelease {
  uint64_t number = 0;
  /// vLLM's engine before V1.
  bool is_first_engine = false;
};

/// Never fails: what is not understood is taken for the newest release that presets know of.
StatedRelease vllm_release(std::string_view stated);

/// A card as far as engines look at it.
struct TruthCard {
  /// What CUDA reports; a name that stands for several cards is taken for the smallest.
  double total_gib = 0;
  /// Compute capability x 10; 0 for other makers.
  uint64_t capability = 0;
  uint64_t multiprocessors = 0;
  bool is_a100 = false;
  bool is_rocm = false;
};

/// Everything that the presets know.
class EnginePresets {
 public:
  /// A catalogue document with the lists cache_types, formats and gpus, and one with the engines,
  /// whether they are served or not. Documents that are not sound leave their lists empty.
  EnginePresets(json::Value catalogue, json::Value engines) {
    catalogue_.merge(std::move(catalogue));
    catalogue_.merge(std::move(engines));
  }

  Predictable<VllmProfile> vllm(const StatedRelease& release) const;
  Predictable<SglangProfile> sglang(std::string_view version) const;
  Predictable<TrtllmProfile> trtllm(std::string_view version) const;
  Predictable<CacheType> cache_type(std::string_view id) const;
  Predictable<WeightFormat> weight_format(std::string_view id) const;
  /// A card by what a log calls it; "80GB-class" and "24GB GPU" are cards of that size, and
  /// "2 GPUs, 64 GB total" is shared out over `count`.
  Predictable<TruthCard> card(const std::string& name, uint64_t count) const;
  const Catalogue& catalogue() const { return catalogue_; }

 private:
  Predictable<const json::Value*> entry(std::string_view id) const;

  Catalogue catalogue_;
};

inline constexpr double kBytesPerGiB = 1073741824.0;

double gib(Bytes bytes);
double gib(BytesDelta bytes);
/// Nothing below zero and nothing that 64 bits do not hold.
Bytes bytes_from_gib(double value);

bool contains(std::string_view text, std::string_view part);
std::string lower_case(std::string_view text);

}  // namespace vramgauge::tools
