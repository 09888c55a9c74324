#include "allocate_plan.h"

#include <algorithm>
#include <string_view>

#include "probe_json.h"
#include "units/checked.h"

namespace vramgauge::tools {
namespace {

/// Weight matrices of a role that one layer has; 0 = one for the whole model.
struct RoleTensors {
  std::string_view role;
  uint64_t per_layer;
};
// Small tensors share blocks of the engines' allocator, so norms and routers count as one.
constexpr RoleTensors kRoles[] = {
    {"attention", 4},  // query, key, value, output
    {"mlp", 3},        // gate, up, down
    {"expert", 2},     // gate and up of all experts, down of all experts
    {"recurrent", 2},  // in, out
};

uint64_t tensors_of(std::string_view role, uint64_t num_layers) {
  for (const RoleTensors& known : kRoles) {
    if (known.role == role) return std::max<uint64_t>(1, known.per_layer * num_layers);
  }
  return 1;
}

/// `total` in so many nearly equal parts, none of them empty; their sum is exactly `total`.
void split(uint64_t total, uint64_t parts, std::vector<uint64_t>& out) {
  for (uint64_t left = std::max<uint64_t>(1, parts); left > 0 && total > 0; --left) {
    const uint64_t part = (total + left - 1) / left;
    out.push_back(part);
    total -= part;
  }
}

/// The part of `total` that `part` is of `whole`, rounded down.
uint64_t share(uint64_t total, uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : scaled(CheckedU64(total), part, whole).value_or(0);
}

std::vector<uint64_t> weight_buffers(const json::Value& validation, uint64_t device_bytes) {
  std::vector<uint64_t> out;
  const uint64_t num_layers = number_of(member(member(validation, "model"), "num_layers"));
  const json::Value& weights = member(validation, "weights");
  const uint64_t all = number_of(member(weights, "total_bytes"));
  uint64_t left = device_bytes;
  if (const json::Value::Object* roles = member(weights, "bytes_by_role").as_object()) {
    for (const json::Member& role : *roles) {
      const uint64_t bytes = std::min(left, share(device_bytes, number_of(role.value), all));
      split(bytes, tensors_of(role.key, num_layers), out);
      left -= bytes;
    }
  }
  split(left, 1, out);
  return out;
}

AllocationStage stage_of(const json::Value& validation, const std::string& term,
                         uint64_t term_bytes, bool takes_whole_terms) {
  AllocationStage stage;
  stage.term = term;
  stage.is_scratch = term == "activations";
  if (term == "weights" && !takes_whole_terms) {
    stage.buffers_bytes = weight_buffers(validation, term_bytes);
    return stage;
  }
  const uint64_t num_layers = number_of(member(member(validation, "model"), "num_layers"));
  split(term_bytes, term == "kv_cache" && !takes_whole_terms ? num_layers : 1, stage.buffers_bytes);
  return stage;
}

}  // namespace

uint64_t AllocationStage::total_bytes() const {
  uint64_t total = 0;
  for (const uint64_t bytes : buffers_bytes)
    total += bytes;
  return total;
}

uint64_t AllocationPlan::total_bytes() const {
  uint64_t total = 0;
  for (const AllocationStage& stage : stages)
    total += stage.total_bytes();
  return total;
}

std::vector<AllocationPlan> allocation_plans(const json::Value& validation) {
  const bool takes_whole_terms =
      text_of(member(member(validation, "scenario"), "engine")) == "llama_cpp";
  std::vector<AllocationPlan> plans;
  for (const json::Value& device : items(member(validation, "devices"))) {
    if (member(device, "index").is_null()) continue;
    AllocationPlan plan;
    plan.ordinal = static_cast<int>(number_of(member(device, "index")));
    for (const char* term : {"weights", "kv_cache", "activations"}) {
      const uint64_t bytes = number_of(member(member(device, "terms"), term));
      if (bytes > 0) plan.stages.push_back(stage_of(validation, term, bytes, takes_whole_terms));
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace vramgauge::tools
