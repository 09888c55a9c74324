#include "api/plan_formats.h"

#include "plan/short_sort.h"
#include "specs/cache_type.h"

namespace vramgauge::api {
namespace {

constexpr uint64_t kSixteenBits = 16 * Decimal::kScale;
/// Scales of a few tensors may lift a 16-bit format above 16 bits.
constexpr uint64_t kSlack = Decimal::kScale / 10;
constexpr uint64_t kBitsPerByte = 8;

}  // namespace

void sort_widest_first(std::vector<Choice>& choices) {
  short_sort(choices, [](const Choice& a, const Choice& b) { return a.micro_bits > b.micro_bits; });
}

bool is_of_files(const WeightFormat& format) {
  return format.layout && !std::holds_alternative<IdealLayout>(*format.layout) &&
         !std::holds_alternative<GgufBlockLayout>(*format.layout);
}

namespace {

uint64_t micro_bits_in(const PlanContext& context, const Scenario& scenario) {
  const auto resolved = resolve(context.catalogue, context.models, scenario, kScenarioPath);
  return resolved ? micro_bits_of(*resolved->model, *resolved->weights) : 0;
}

}  // namespace

uint64_t micro_bits_of(const LoadedModel& model, const FormattedWeights& weights) {
  const uint64_t parameters =
      model.spec.num_parameters.value_or(model.parameters.total.value_or(0));
  const CheckedU64 bits = checked(weights.total) * kBitsPerByte;
  return scaled(bits, Decimal::kScale, parameters).value_or(0);
}

std::vector<Choice> format_choices(const PlanContext& context, const Scenario& scenario) {
  Scenario at = scenario;
  at.weight_format = kOwnFormat;
  const uint64_t own = micro_bits_in(context, at);
  const uint64_t widest = (own == 0 ? kSixteenBits : own) + kSlack;
  std::vector<Choice> choices;
  for (const CatalogueEntry& entry : context.catalogue.formats().entries()) {
    const auto format = parse_weight_format(entry.facts);
    if (!format || !is_of_files(*format)) continue;
    at.weight_format = entry.id;
    const uint64_t bits = micro_bits_in(context, at);
    if (bits != 0 && bits <= widest) choices.push_back({entry.id, bits});
  }
  sort_widest_first(choices);
  return choices;
}

std::vector<Choice> cache_type_choices(const PlanContext& context) {
  std::vector<Choice> choices;
  for (const CatalogueEntry& entry : context.catalogue.cache_types().entries()) {
    const auto type = parse_cache_type(entry.facts);
    if (!type || entry.id == kOwnFormat || !type->refused.empty() ||
        type->layout != CacheType::Layout::blocks)
      continue;
    const uint64_t bits =
        scaled(CheckedU64(type->block_bytes * kBitsPerByte), Decimal::kScale, type->block_elements)
            .value_or(0);
    if (bits <= kSixteenBits) choices.push_back({entry.id, bits});
  }
  return choices;
}

}  // namespace vramgauge::api
