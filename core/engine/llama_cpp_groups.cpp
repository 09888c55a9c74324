#include "engine/llama_cpp_groups.h"

#include <algorithm>
#include <variant>

#include "engine/llama_cpp_compute_graph.h"
#include "engine/llama_cpp_model.h"
#include "import/gguf_tensors.h"
#include "units/index.h"

namespace vramgauge {
namespace {

uint64_t ffn_print(const Ffn& ffn) {
  if (const auto* plain = std::get_if<DenseFfn>(&ffn)) return plain->intermediate_size;
  if (const auto* moe = std::get_if<MoeFfn>(&ffn))
    return mix_print(moe->num_experts, moe->moe_intermediate_size);
  return 0;
}

/// What of a layer's kind makes its graph another one.
uint64_t rules_print(const LlamaCppModel& model, size_t index) {
  using Rules = LlamaCppGraphRules;
  const LlamaCppGraphRules* rules = llama_cpp_graph_rules(model.architecture);
  const uint32_t flags = rules == nullptr ? 0 : rules->flags;
  const bool ropes_by_window = (flags & Rules::kRopeInWindowOnly) != 0;
  const bool skips_fourth = (flags & Rules::kSkipsFourthRope) != 0;
  const bool is_deep = (flags & Rules::kDeepstack) != 0 && index < Rules::kDeepstackLayers;
  return (ropes_by_window && model.layers[index].is_windowed ? 1 : 0) +
         (skips_fourth && index % 4 == 3 ? 2 : 0) + (is_deep ? 4 : 0);
}

uint64_t size_print(const LlamaCppModel& model, size_t index) {
  const LlamaCppLayer& layer = model.layers[index];
  const Layer& spec = model.spec.layers[index];
  uint64_t print = mix_print(layer.k_elements, layer.v_elements);
  print = mix_print(print, mix_print(layer.head_dim_k, layer.head_dim_v));
  print = mix_print(print, layer.num_heads * 2 + (layer.cache == LlamaCppCacheKind::none ? 1 : 0));
  print = mix_print(print, layer.state_elements + layer.conv_elements);
  print = mix_print(print,
                    spec.mixers.size() * 16 + (spec.mixers.empty() ? 0 : spec.mixers[0].index()));
  return mix_print(mix_print(print, ffn_print(spec.ffn)), rules_print(model, index));
}

uint64_t graph_print(const LlamaCppModel& model, size_t index) {
  const LlamaCppLayer& layer = model.layers[index];
  return mix_print(size_print(model, index),
                   static_cast<uint64_t>(layer.cache) * 2 + (layer.is_windowed ? 1 : 0));
}

/// Groups the layers and weights of one model.
class Grouper {
 public:
  explicit Grouper(const LlamaCppModel& model) : model_(model) {}

  LlamaCppGroups group() {
    for (uint64_t layer = 0; layer < model_.layers.size(); ++layer)
      add_layer(layer);
    const size_t num_layers = index_of(model_.num_layers);
    made_.layers.resize(num_layers);
    made_.weight_prints.resize(num_layers);
    for (size_t layer = 0; layer < num_layers; ++layer) {
      made_.size_prints.push_back(size_print(model_, layer));
      made_.graph_prints.push_back(graph_print(model_, layer));
    }
    for (uint32_t i = 0; i < model_.weights.size(); ++i)
      add_weight(i);
    return std::move(made_);
  }

 private:
  void add_layer(uint64_t layer) {
    const auto found = std::find_if(
        made_.kinds.begin(), made_.kinds.end(),
        [this, layer](const LlamaCppLayerKind& kind) { return is_alike(kind.first, layer); });
    made_.kind_of_layer.push_back(static_cast<uint32_t>(found - made_.kinds.begin()));
    if (found == made_.kinds.end())
      made_.kinds.push_back({layer, 1});
    else
      ++found->count;
  }

  /// Layers behind the decoder may be without a cache, whatever their sizes.
  bool is_alike(uint64_t a, uint64_t b) const {
    return (a < model_.num_layers) == (b < model_.num_layers) &&
           model_.layers[index_of(a)] == model_.layers[index_of(b)];
  }

  void add_weight(uint32_t index) {
    const LlamaCppWeight& weight = model_.weights[index];
    const auto in_layer = split_gguf_layer(model_.tensors[weight.tensor].name);
    if (!in_layer) made_.outside.push_back(index);
    if (weight.place == LlamaCppPlace::host) made_.host.add(weight);
    if (weight.place == LlamaCppPlace::output) made_.output.add(weight);
    if (weight.place != LlamaCppPlace::layer) return;
    LlamaCppLayerWeights& layer = made_.layers[index_of(weight.layer)];
    layer.bytes.add(weight);
    if (in_layer) layer.list.push_back({std::string(in_layer->rest), index});
    uint64_t& print = made_.weight_prints[index_of(weight.layer)];
    print = mix_print(print, weight.gpu_bytes);
  }

  const LlamaCppModel& model_;
  LlamaCppGroups made_;
};

}  // namespace

void LlamaCppWeightBytes::add(const LlamaCppWeight& weight) {
  (weight.is_repacked ? cpu_repack : cpu) += weight.cpu_bytes;
  pinned += weight.pinned_bytes;
  gpu += weight.gpu_bytes;
}

LlamaCppGroups llama_cpp_groups(const LlamaCppModel& model) { return Grouper(model).group(); }

}  // namespace vramgauge
