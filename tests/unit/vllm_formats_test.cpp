// What vLLM keeps of quantised checkpoints, and what it quantises itself. Expected numbers follow
// from the rule beside them.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "engine/vllm_weights_formats.h"
#include "engine/vllm_weights_on_load.h"
#include "engine/vllm_weights_storage.h"
#include "hf_import_helpers.h"
#include "model/checkpoint_resolve.h"
#include "model/weights.h"
#include "units/index.h"

namespace vramgauge::test {
namespace {

constexpr const char* kDense = R"({"model_type":"llama","vocab_size":128,"hidden_size":256,
  "intermediate_size":512,"num_hidden_layers":1,"num_attention_heads":8,"num_key_value_heads":2,
  "head_dim":32,"max_position_embeddings":64,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})";

/// Experts whose inner width, 360, is what 2,880 are on eight ranks.
constexpr const char* kExperts = R"({"model_type":"mixtral","vocab_size":128,"hidden_size":2880,
  "intermediate_size":360,"num_hidden_layers":1,"num_attention_heads":8,"num_key_value_heads":8,
  "num_local_experts":4,"num_experts_per_tok":2,"max_position_embeddings":64,
  "tie_word_embeddings":false,"torch_dtype":"bfloat16"})";

struct Model {
  explicit Model(const char* config) : spec(imported(config).spec), tensors(weight_tensors(spec)) {}

  Result<std::vector<VllmStorage>> storage(const QuantizationConfig& config,
                                           uint64_t compute_capability) const {
    return vllm_storage(tensors, resolve_quantization(tensors, spec, config), compute_capability);
  }

  VllmLoadedWeights loaded(const QuantizationConfig& config, uint64_t compute_capability) const {
    VllmModel model;
    model.spec = &spec;
    model.tensors = &tensors;
    model.compute_capability = compute_capability;
    model.storage = storage(config, compute_capability).value();
    return load_vllm_weights(model, {}, {}).value();
  }

  const VllmStorage& of(const std::vector<VllmStorage>& storage, const std::string& name) const {
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].name == name) return storage[i];
    }
    throw std::runtime_error(name);
  }

  ModelSpec spec;
  std::vector<WeightTensor> tensors;
};

QuantizationConfig scheme_config(const QuantScheme& scheme, bool only_experts = false) {
  QuantizationConfig config;
  config.method = "test";
  config.rules.emplace_back();
  config.rules.back().takes_linear = !only_experts;
  config.rules.back().only_experts = only_experts;
  config.rules.back().scheme = scheme;
  return config;
}

QuantScheme gptq(bool is_symmetric, bool is_act_ordered) {
  QuantScheme scheme;
  scheme.kind = QuantScheme::Kind::gptq;
  scheme.bits = 4;
  scheme.group_size = 128;
  scheme.span = QuantScheme::Span::group;
  scheme.has_zeros = scheme.has_group_index = true;
  scheme.is_symmetric = is_symmetric;
  scheme.is_act_ordered = is_act_ordered;
  return scheme;
}

// Elements of the layer: qkv 384 x 256, o 256 x 256, gate_up 1,024 x 256, down 256 x 512, that is
// 557,056; with the norms (3 x 256) and two tables (2 x 128 x 256) at 16 bits.
constexpr uint64_t kPlain = (3 * 256 + 2 * 128 * 256) * 2;
constexpr uint64_t kCodes = 557056 / 2;
/// One per output and group: 384 x 2 + 256 x 2 + 1,024 x 2 + 256 x 4.
constexpr uint64_t kGroups = 4352;

// Marlin keeps codes and scales of a symmetric checkpoint, zeros as well of another; reordered
// activations add two indices of 32 bits per input of each layer (256, 256, 256, 512).
TEST(VllmFormats, GptqOnMarlin) {
  const Model model(kDense);
  const auto parameters = [&](bool is_symmetric, bool is_act_ordered) {
    return model.loaded(scheme_config(gptq(is_symmetric, is_act_ordered)), 80).parameters.count();
  };
  EXPECT_EQ(parameters(true, false), kPlain + kCodes + kGroups * 2);
  EXPECT_EQ(parameters(false, false), kPlain + kCodes + kGroups * 2 + kGroups / 2);
  EXPECT_EQ(parameters(true, true), kPlain + kCodes + kGroups * 2 + 2 * 4 * 1280);
}

// Machete keeps the zeros that nothing reads.
TEST(VllmFormats, GptqOnHopperKeepsSymmetricZeros) {
  const Model model(kDense);
  EXPECT_EQ(model.loaded(scheme_config(gptq(true, false)), 90).parameters.count(),
            kPlain + kCodes + kGroups * 2 + kGroups / 2);
}

// AWQ is Marlin's on any card: codes, scales and zeros.
TEST(VllmFormats, AwqKeepsItsZeros) {
  QuantScheme scheme = gptq(false, false);
  scheme.kind = QuantScheme::Kind::awq;
  scheme.has_group_index = false;
  const Model model(kDense);
  for (const uint64_t capability : {80U, 90U, 120U}) {
    EXPECT_EQ(model.loaded(scheme_config(scheme), capability).parameters.count(),
              kPlain + kCodes + kGroups * 2 + kGroups / 2);
  }
}

// One scale of 32 bits per row, per tile of 128 x 128 of each member, or per member.
TEST(VllmFormats, Fp8Scales) {
  const Model model(kDense);
  const uint64_t codes = 557056;
  const auto parameters = [&](const char* name) {
    return model.loaded(vllm_quantization_on_load(name).value(), 90).parameters.count();
  };
  // q, k, v, o, gate, up, down.
  EXPECT_EQ(parameters("fp8"), kPlain + codes + 7 * 4);
  EXPECT_EQ(parameters("fp8_per_channel"), kPlain + codes + (384 + 256 + 1024 + 256) * 4);
  // q 2 x 2, k and v 1 x 2 each, o 2 x 2, gate and up 4 x 2 each, down 2 x 4.
  EXPECT_EQ(parameters("fp8_per_block"), kPlain + codes + (4 + 2 + 2 + 4 + 8 + 8 + 8) * 4);
  // A byte per 32 inputs.
  EXPECT_EQ(parameters("mxfp8"), kPlain + codes + codes / 32);
}

// NF4 on load: 64 weights share an fp32 scale.
TEST(VllmFormats, BitsandbytesOnLoad) {
  const Model model(kDense);
  EXPECT_EQ(model.loaded(vllm_quantization_on_load("bitsandbytes").value(), 80).parameters.count(),
            kPlain + kCodes + 557056 / 64 * 4);
}

TEST(VllmFormats, ExpertMethodsLeaveTheRest) {
  const Model model(kExperts);
  for (const char* name : {"experts_int8", "int8_per_channel_weight_only"}) {
    const auto storage = model.storage(vllm_quantization_on_load(name).value(), 90).value();
    EXPECT_EQ(model.of(storage, "model.layers.0.mlp.experts.up_proj").bits, 8U);
    EXPECT_EQ(model.of(storage, "model.layers.0.self_attn.q_proj"), VllmStorage{});
    EXPECT_EQ(model.of(storage, "model.layers.0.mlp.gate"), VllmStorage{});
  }
}

TEST(VllmFormats, OnLoadNeedsAKnownMethod) {
  const auto refused = vllm_quantization_on_load("awq", "/engine/quantization");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().front().code, ErrorCode::format_unknown_quantization);
  EXPECT_EQ(refused.error().front().path, "/engine/quantization");
}

QuantScheme float4(QuantScheme::Kind kind, uint64_t group) {
  QuantScheme scheme;
  scheme.kind = kind;
  scheme.bits = 4;
  scheme.group_size = group;
  scheme.span = QuantScheme::Span::group;
  scheme.scale_bits = 8;
  return scheme;
}

/// Parameters of the fused gate and up matrices of the experts, and of the down matrices.
std::pair<uint64_t, uint64_t> expert_bytes(const Model& model, const QuantScheme& scheme,
                                           uint64_t capability) {
  VllmModel load;
  load.spec = &model.spec;
  load.tensors = &model.tensors;
  load.compute_capability = capability;
  load.storage = model.storage(scheme_config(scheme, true), capability).value();
  const auto placed = place_tensors(model.tensors, model.spec, {}, {}).value();
  std::pair<uint64_t, uint64_t> bytes;
  for (const VllmFusedTensor& tensor : fuse_tensors(load, placed)) {
    const uint64_t kept = vllm_parameters(tensor, 2).kept(tensor).value_or(0);
    if (tensor.name.find("experts.gate_up_proj") != std::string::npos) bytes.first += kept;
    if (tensor.name.find("experts.down_proj") != std::string::npos) bytes.second += kept;
  }
  return bytes;
}

// MXFP4: a byte of scale per 32 inputs. Inner width 360, outer 2,880, four experts.
//   Marlin (8.0, 12.0): 384 x 3,072     Triton (9.0): 384 x 2,880     FlashInfer (10.0): 512 x
//   3,072
// Triton pads the grid of scales to 256 outputs and 2 groups, and keeps the file's scales as well.
TEST(VllmFormats, Mxfp4PadsItsExperts) {
  const Model model(kExperts);
  const QuantScheme mxfp4 = float4(QuantScheme::Kind::microscaled, 32);
  const auto packed = [](uint64_t rows, uint64_t cols) {
    return 4 * (rows * cols / 2 + rows * cols / 32);
  };
  for (const uint64_t capability : {80U, 120U}) {
    const auto [gate_up, down] = expert_bytes(model, mxfp4, capability);
    EXPECT_EQ(gate_up, packed(768, 3072));
    EXPECT_EQ(down, packed(3072, 384));
  }
  const auto [gate_up, down] = expert_bytes(model, mxfp4, 90);
  EXPECT_EQ(gate_up, packed(768, 2880) + 4 * 768 * 90);
  EXPECT_EQ(down, packed(2880, 384) + 4 * 3072 * 12);
  EXPECT_EQ(expert_bytes(model, mxfp4, 100).first, packed(1024, 3072));
}

// NVFP4: a byte per 16 inputs and one fp32 scale per matrix. Blackwell's tiles of scales are
// 128 outputs by 4 groups: 720 outputs become 768, 360 inputs (22.5 groups: 23) become 24 groups.
TEST(VllmFormats, Nvfp4PadsItsScales) {
  const Model model(kExperts);
  const QuantScheme nvfp4 = float4(QuantScheme::Kind::nvfp4, 16);
  const auto [gate_up, down] = expert_bytes(model, nvfp4, 120);
  EXPECT_EQ(gate_up, 4U * (720 * 2880 / 2 + 768 * 180 + 2 * 4));
  EXPECT_EQ(down, 4U * (2880 * 360 / 2 + 2944 * 24 + 4));
  // Before Blackwell, Marlin takes them as they are.
  EXPECT_EQ(expert_bytes(model, nvfp4, 90).first, 4U * (720 * 2880 / 2 + 720 * 180 + 2 * 4));
}

TEST(VllmFormats, WhatVllmDoesNotLoadIsRefused) {
  QuantScheme scheme;
  scheme.kind = QuantScheme::Kind::exl3;
  const auto refused = Model(kDense).storage(scheme_config(scheme), 90);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().front().code, ErrorCode::format_refused);
}

TEST(VllmFormats, AListOfOtherTensorsIsRefused) {
  const Model model(kDense);
  ResolvedQuantization resolved;
  resolved.method = "test";
  EXPECT_FALSE(vllm_storage(model.tensors, resolved, 90).has_value());
}

// Draft layers are loaded with the plan that asks for them: attention is split like the model's
// own, the model's embedding and output serve.
TEST(VllmFormats, DraftsAreLoadedOnTheLastStage) {
  const Model model(R"({"model_type":"deepseek_v3","vocab_size":128,"hidden_size":128,
    "intermediate_size":256,"moe_intermediate_size":64,"n_routed_experts":4,"n_shared_experts":1,
    "num_experts_per_tok":2,"first_k_dense_replace":1,"num_hidden_layers":2,
    "num_attention_heads":4,"num_key_value_heads":4,"q_lora_rank":32,"kv_lora_rank":16,
    "qk_nope_head_dim":16,"qk_rope_head_dim":8,"v_head_dim":16,"num_nextn_predict_layers":1,
    "max_position_embeddings":64,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})");
  ParallelPlan plan;
  plan.tensor_ranks = 2;
  plan.pipeline_stages = 2;
  const auto drafts_on = [&](uint64_t stage) {
    std::map<std::string, PlacedTensor> parts;
    const auto placed = place_tensors(model.tensors, model.spec, plan, {stage, 0, 0}).value();
    for (const PlacedTensor& part : placed) {
      const WeightTensor& tensor = model.tensors[index_of(part.index)];
      if (tensor.role == TensorRole::mtp) parts[tensor.name] = part;
    }
    return parts;
  };
  EXPECT_TRUE(drafts_on(1).empty());
  plan.loads_drafts = true;
  EXPECT_TRUE(drafts_on(0).empty());
  const auto parts = drafts_on(1);
  EXPECT_EQ(parts.count("model.layers.2.embed_tokens"), 0U);
  EXPECT_EQ(parts.count("model.layers.2.shared_head.head"), 0U);
  // Four heads of 24 over two ranks; a slice of every expert; the first factor is whole.
  EXPECT_EQ(parts.at("model.layers.2.self_attn.q_b_proj").rows, 48U);
  EXPECT_EQ(parts.at("model.layers.2.self_attn.q_a_proj").rows, 32U);
  EXPECT_EQ(parts.at("model.layers.2.mlp.experts.up_proj").rows, 32U);
  EXPECT_EQ(parts.at("model.layers.2.mlp.experts.down_proj").cols, 32U);
  EXPECT_EQ(parts.at("model.layers.2.eh_proj").cols, 256U);
}

// A slot of rank 8: inputs and outputs of each member of the four layers, 2 bytes each.
//   q 256 + 256, k and v 256 + 64, o 256 + 256, gate and up 256 + 512, down 512 + 256
TEST(VllmWeights, AdaptersHaveTwoMatricesPerMember) {
  const Model model(kDense);
  VllmModel load;
  load.spec = &model.spec;
  load.tensors = &model.tensors;
  load.storage.resize(model.tensors.size());
  load.adapters = {2, 8};
  const auto weights = load_vllm_weights(load, {}, {});
  ASSERT_TRUE(weights.has_value());
  EXPECT_EQ(weights->adapters.count(), 2U * 8 * 2 * (512 + 2 * 320 + 512 + 2 * 768 + 768));
  load.adapters = {};
  EXPECT_EQ(load_vllm_weights(load, {}, {})->adapters.count(), 0U);
}

}  // namespace
}  // namespace vramgauge::test
