// The weight formats and cache types that a scenario may choose from, by their width.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/plan_probe.h"

namespace vramgauge::api {

/// A name that one or more fields can take.
struct Choice {
  std::string id;
  /// Bits of an element on average, in millionths, scales and what stays at 16 bits included.
  uint64_t micro_bits = 0;
};

/// Formats of files and checkpoints, widest first: none wider than what the model itself has, no
/// averages and none that no engine loads.
std::vector<Choice> format_choices(const PlanContext& context, const Scenario& scenario);

/// Whether files are made in it: not an average, nor one type for every tensor.
bool is_of_files(const WeightFormat& format);

/// In place; equal ones keep their order.
void sort_widest_first(std::vector<Choice>& choices);

/// Cache types of at most 16 bits, in the order of the catalogue.
std::vector<Choice> cache_type_choices(const PlanContext& context);

/// Bits per parameter of a model's weights, in millionths; 0 = not known.
uint64_t micro_bits_of(const LoadedModel& model, const FormattedWeights& weights);

}  // namespace vramgauge::api
