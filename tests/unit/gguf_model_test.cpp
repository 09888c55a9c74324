// Models from GGUF headers: against the headers themselves, and against the presets of the same
// models.
#include "import/gguf_model.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "gguf_presets.h"
#include "import/gguf_tensors.h"
#include "model/cache_layout.h"
#include "model/parameters.h"
#include "model/weights.h"
#include "support/files.h"
#include "support/gguf_files.h"

namespace vramgauge {
namespace {

using test::GgufPreset;

json::Value parse_file(const std::string& path) {
  return json::parse(testing::read_file(path)).value();
}

const std::string kPresets = VRAMGAUGE_PRESET_DIR;

ModelSpec preset_spec(const GgufPreset& pair) {
  static const json::Value defaults = parse_file(kPresets + "/class_defaults.json");
  const json::Value model = parse_file(kPresets + "/models/" + pair.preset + ".json");
  return import_hf_config(*model.find("config"), defaults.find("classes")).value().spec;
}

GgufHeader header_of(const GgufPreset& pair) {
  return testing::gguf_header(std::string(pair.model) + "." + pair.wide);
}

ModelSpec imported(const GgufHeader& header) { return import_gguf(header).value().spec; }

uint64_t elements_of(const GgufHeader& header) {
  uint64_t sum = 0;
  for (const GgufTensorInfo& tensor : header.tensors)
    sum += tensor.elements();
  return sum;
}

TEST(GgufModel, HoldsEveryElementOfEveryHeader) {
  std::set<std::string> architectures;
  uint64_t num_headers = 0;
  for (const std::string& name : testing::gguf_names()) {
    const GgufHeader header = testing::gguf_header(name);
    const auto model = import_gguf(header);
    ASSERT_TRUE(model) << name << ": " << message_of(model.error().front());
    EXPECT_TRUE(model->warnings.empty()) << name;
    uint64_t elements = 0;
    for (const WeightTensor& tensor : weight_tensors(model->spec))
      elements += num_elements(tensor).value_or(0);
    EXPECT_EQ(elements, elements_of(header)) << name;
    architectures.emplace(*header.text("general.architecture"));
    ++num_headers;
  }
  EXPECT_EQ(num_headers, 145U);
  EXPECT_EQ(architectures.size(), 28U);
}

TEST(GgufModel, TensorsKeepTheirBytesAndElements) {
  for (const std::string& name : testing::gguf_names()) {
    const GgufHeader header = testing::gguf_header(name);
    const std::vector<StoredTensor> tensors = gguf_stored_tensors(header);
    ASSERT_EQ(tensors.size(), header.tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_EQ(tensors[i].bytes, header.tensors[i].bytes);
      EXPECT_EQ(num_elements(tensors[i].weight).value_or(0), header.tensors[i].elements())
          << name << " " << tensors[i].file_name;
    }
  }
}

std::vector<CacheSegment> cache_of(const ModelSpec& spec) {
  return cache_layout(spec, sixteen_bit_cache(), sixteen_bit_cache(), 1).value().segments;
}

// StarCoder2's converter leaves the window of 4,096 tokens out, so its file keeps every token.
TEST(GgufModel, CachesWhatThePresetCaches) {
  for (const GgufPreset& pair : test::kGgufPresets) {
    std::vector<CacheSegment> expected = cache_of(preset_spec(pair));
    if (std::string(pair.model) == "starcoder2-7b") {
      ASSERT_EQ(expected.size(), 1U);
      EXPECT_EQ(expected[0].saturation_tokens, 4096U);
      expected[0].kind = CacheKind::full;
      expected[0].saturation_tokens = 0;
    }
    EXPECT_EQ(cache_of(imported(header_of(pair))), expected) << pair.model;
  }
}

// A file from before the latent could be cached caches full keys and values: 16 heads of
// 192 + 128 elements in each of 27 layers, where the newer file caches 512 + 64.
TEST(GgufModel, OldLatentFilesCacheEveryHead) {
  const auto old_cache = cache_of(imported(testing::gguf_header("deepseek-v2-lite-legacy.F16")));
  ASSERT_EQ(old_cache.size(), 1U);
  EXPECT_EQ(old_cache[0].layers, 27U);
  EXPECT_EQ(old_cache[0].entry_bytes, 16U * (192 + 128) * 2);
  const auto new_cache = cache_of(imported(testing::gguf_header("deepseek-v2-lite.F16")));
  EXPECT_EQ(new_cache[0].entry_bytes, (512U + 64) * 2);
}

/// Tensors of one layer (-1: of none): matrices by name, the rest by what they are for.
struct LayerList {
  std::map<std::string, uint64_t> matrices;
  std::map<std::string, std::multiset<uint64_t>> others;
};
using TensorLists = std::map<int64_t, LayerList>;

/// Below its layer.
std::string short_name(const WeightTensor& tensor) {
  const std::string prefix = "model.layers." + std::to_string(tensor.layer) + ".";
  const bool in_layer = tensor.layer >= 0 && tensor.name.rfind(prefix, 0) == 0;
  return in_layer ? tensor.name.substr(prefix.size()) : tensor.name;
}

/// Files of the language model hold no towers; layers of prediction are in few of them.
bool is_elsewhere(TensorRole role) {
  return role == TensorRole::vision || role == TensorRole::audio || role == TensorRole::projector ||
         role == TensorRole::mtp;
}

void add(TensorLists& lists, const WeightTensor& tensor) {
  if (is_elsewhere(tensor.role)) return;
  LayerList& list = lists[tensor.layer];
  const uint64_t elements = num_elements(tensor).value_or(0);
  // A matrix of one row is written as a vector.
  if (tensor.is_matrix && tensor.rows != 1) {
    list.matrices[short_name(tensor)] = elements;
  } else {
    list.others[std::string(role_group_name(role_group(tensor.role)))].insert(elements);
  }
}

/// What the converter does to the checkpoint's matrices.
struct Conversion {
  const char* cause;
  std::vector<std::string> checkpoint;
  std::vector<std::string> file;
};

const std::vector<Conversion>& conversions() {
  static const std::vector<Conversion> list = {
      {"latent split by keys and values",
       {"self_attn.kv_b_proj"},
       {"self_attn.k_b_proj", "self_attn.v_b_proj"}},
      {"delta projections split",
       {"linear_attn.in_proj_qkvz"},
       {"linear_attn.in_proj_qkv", "linear_attn.in_proj_z"}},
      {"experts' gate and up joined",
       {"mlp.experts.gate_proj", "mlp.experts.up_proj"},
       {"mlp.experts.gate_up_proj"}},
      {"joined gate and up called up", {"mlp.gate_up_proj"}, {"mlp.up_proj"}},
      {"dense block beside experts", {"mlp.shared_experts.gate_proj"}, {"mlp.gate_proj"}},
      {"dense block beside experts", {"mlp.shared_experts.up_proj"}, {"mlp.up_proj"}},
      {"dense block beside experts", {"mlp.shared_experts.down_proj"}, {"mlp.down_proj"}},
      {"matrices stacked",
       {"model.altup_projections.0", "model.altup_projections.1", "model.altup_projections.2"},
       {"model.altup_projections"}},
      {"matrices stacked",
       {"model.altup_unembed_projections.0", "model.altup_unembed_projections.1",
        "model.altup_unembed_projections.2"},
       {"model.altup_unembed_projections"}},
  };
  return list;
}

/// Takes the names out when all are there; returns their elements.
std::optional<uint64_t> take(std::map<std::string, uint64_t>& from,
                             const std::map<std::string, uint64_t>& other,
                             const std::vector<std::string>& names) {
  uint64_t sum = 0;
  for (const std::string& name : names) {
    if (from.count(name) == 0 || other.count(name) != 0) return std::nullopt;
    sum += from.at(name);
  }
  return sum;
}

void drop(std::map<std::string, uint64_t>& from, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    from.erase(name);
}

/// Differences between the tensors of a preset and of a file, each as "cause" or "what is where".
std::set<std::string> differences(TensorLists preset, TensorLists file) {
  std::set<std::string> found;
  for (auto& [layer, from_file] : file) {
    LayerList& from_preset = preset[layer];
    for (const Conversion& conversion : conversions()) {
      const auto before = take(from_preset.matrices, from_file.matrices, conversion.checkpoint);
      const auto after = take(from_file.matrices, from_preset.matrices, conversion.file);
      if (!before || before != after) continue;
      found.insert(conversion.cause);
      drop(from_preset.matrices, conversion.checkpoint);
      drop(from_file.matrices, conversion.file);
    }
    for (const auto& [name, elements] : from_file.matrices) {
      if (from_preset.matrices[name] != elements) {
        found.insert(name + ": " + std::to_string(elements) + " in the file, " +
                     std::to_string(from_preset.matrices[name]) + " in the preset");
      }
    }
    for (const auto& [name, elements] : from_preset.matrices) {
      if (from_file.matrices.count(name) == 0)
        found.insert(name + ": only in the preset, " + std::to_string(elements));
    }
    if (from_file.others == from_preset.others) continue;
    auto without_table = from_file.others;
    without_table.erase("other");
    auto preset_others = from_preset.others;
    preset_others.erase("other");
    found.insert(layer == -1 && without_table == preset_others ? "rotary table"
                                                               : "vectors of a layer");
  }
  return found;
}

TensorLists lists_of(const ModelSpec& spec) {
  TensorLists lists;
  for (const WeightTensor& tensor : weight_tensors(spec))
    add(lists, tensor);
  return lists;
}

TensorLists lists_of(const GgufHeader& header) {
  TensorLists lists;
  for (const StoredTensor& tensor : gguf_stored_tensors(header))
    add(lists, tensor.weight);
  return lists;
}

// Every other model has the same tensors, name by name, in preset and file.
const std::map<std::string, std::set<std::string>>& expected_differences() {
  static const std::map<std::string, std::set<std::string>> list = {
      {"deepseek-v2-lite", {"latent split by keys and values"}},
      {"deepseek-v3", {"latent split by keys and values"}},
      {"deepseek-v3.2", {"latent split by keys and values"}},
      // The checkpoint has 262,400 rows of 2,048, the converter keeps 262,144.
      {"gemma-3n-e4b",
       {"matrices stacked", "model.embed_tokens: 536870912 in the file, 537395200 in the preset"}},
      {"gemma-4-26b-a4b",
       {"dense block beside experts", "experts' gate and up joined", "rotary table"}},
      {"llama-3.1-8b", {"rotary table"}},
      {"llama-3.3-70b", {"rotary table"}},
      {"llama-4-scout", {"rotary table"}},
      {"phi-3-mini-4k", {"joined gate and up called up"}},
      {"qwen3-next-80b-a3b", {"delta projections split"}},
  };
  return list;
}

TEST(GgufModel, HasTheTensorsOfThePreset) {
  for (const GgufPreset& pair : test::kGgufPresets) {
    const auto expected = expected_differences().find(pair.model);
    EXPECT_EQ(differences(lists_of(preset_spec(pair)), lists_of(header_of(pair))),
              expected == expected_differences().end() ? std::set<std::string>() : expected->second)
        << pair.model;
  }
}

TEST(GgufModel, LayersOfPredictionAreApart) {
  const GgufHeader header = testing::gguf_header("glm-4.5-air.Q4_K_M");
  const ModelSpec spec = imported(header);
  EXPECT_EQ(spec.layers.size(), 46U);
  EXPECT_EQ(spec.mtp_layers.size(), 1U);
  uint64_t num_mtp = 0;
  for (const StoredTensor& tensor : gguf_stored_tensors(header)) {
    EXPECT_EQ(tensor.weight.role == TensorRole::mtp, tensor.weight.layer == 46);
    if (tensor.weight.role == TensorRole::mtp) ++num_mtp;
  }
  EXPECT_EQ(num_mtp, 23U);
}

}  // namespace
}  // namespace vramgauge
