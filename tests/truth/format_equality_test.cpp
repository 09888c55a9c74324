// The same format described twice has the same size: the layouts of presets/formats.json against
// those that configurations of checkpoints resolve to; and the one rank of a plan against the
// whole.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "import/quantization_config.h"
#include "model/checkpoint_format.h"
#include "model/checkpoint_resolve.h"
#include "model/rank_weights.h"
#include "model/weights.h"
#include "models.h"

namespace vramgauge::test {
namespace {

/// A format of the table, and the configuration of a checkpoint in that format.
struct Pair {
  const char* format;
  const char* quantization;
};

#define WEIGHTS(format, weights)                                  \
  "{\"quant_method\":\"compressed-tensors\",\"format\":\"" format \
  "\",\"config_groups\":{\"group_0\":{\"targets\":[\"Linear\"],\"weights\":{" weights "}}}}"
#define HQQ(bits, group)                                                                 \
  "{\"quant_method\":\"hqq\",\"quant_config\":{\"weight_quant_params\":{\"nbits\":" bits \
  ",\"group_size\":" group "}}}"
#define INT(bits, rest) "\"type\":\"int\",\"num_bits\":" bits "," rest

constexpr Pair kPairs[] = {
    {"awq-4bit-g128", R"({"quant_method":"awq","bits":4,"group_size":128,"version":"gemm"})"},
    {"awq-4bit-g64", R"({"quant_method":"awq","bits":4,"group_size":64,"version":"gemm"})"},
    {"awq-4bit-g32", R"({"quant_method":"awq","w_bit":4,"q_group_size":32})"},
    {"gptq-2bit-g128", R"({"quant_method":"gptq","bits":2,"group_size":128})"},
    {"gptq-3bit-g128", R"({"quant_method":"gptq","bits":3,"group_size":128})"},
    {"gptq-4bit-g128", R"({"quant_method":"gptq","bits":4,"group_size":128,"desc_act":true})"},
    {"gptq-4bit-g64", R"({"quant_method":"gptq","bits":4,"group_size":64,"sym":false})"},
    {"gptq-4bit-g32", R"({"quant_method":"gptq","bits":4,"group_size":32})"},
    {"gptq-8bit-g128", R"({"quant_method":"gptq","bits":8,"group_size":128})"},
    {"ct-w4a16-g128",
     WEIGHTS("pack-quantized", INT("4", R"("strategy":"group","group_size":128)"))},
    {"ct-w4a16-g32", WEIGHTS("pack-quantized", INT("4", R"("strategy":"group","group_size":32)"))},
    {"ct-w4a16-g128-asym",
     WEIGHTS("pack-quantized",
             INT("4", R"("strategy":"group","group_size":128,"symmetric":false)"))},
    {"ct-w4a16-channel", WEIGHTS("pack-quantized", INT("4", R"("strategy":"channel")"))},
    {"ct-w8-int8", WEIGHTS("int-quantized", INT("8", R"("strategy":"channel")"))},
    {"fp8-per-channel",
     WEIGHTS("float-quantized", R"("type":"float","num_bits":8,"strategy":"channel")")},
    {"mxfp8", WEIGHTS("mxfp8-quantized",
                      R"("type":"float","num_bits":8,"strategy":"group","group_size":32)")},
    {"mxfp4", WEIGHTS("mxfp4-pack-quantized",
                      R"("type":"float","num_bits":4,"strategy":"group","group_size":32)")},
    {"mxfp4", R"({"quant_method":"mxfp4"})"},
    {"nvfp4", R"({"quant_method":"modelopt","quant_algo":"W4A16_NVFP4","group_size":16})"},
    {"fp8-per-tensor", R"({"quant_method":"fp8"})"},
    {"fp8-block-128", R"({"quant_method":"fp8","weight_block_size":[128,128]})"},
    {"fp8-block-128", R"({"quant_method":"modelopt","quant_algo":"FP8_PB_WO"})"},
    {"bnb-4bit", R"({"quant_method":"bitsandbytes","load_in_4bit":true})"},
    {"bnb-4bit-double",
     R"({"quant_method":"bitsandbytes","load_in_4bit":true,"bnb_4bit_use_double_quant":true})"},
    {"bnb-int8", R"({"quant_method":"bitsandbytes","load_in_8bit":true})"},
    {"hqq-4bit-g64", HQQ("4", "64")},
    {"hqq-4bit-g128", HQQ("4", "128")},
    {"hqq-2bit-g16", HQQ("2", "16")},
    {"torchao-int4-g128", R"({"quant_method":"torchao","quant_type":"int4_weight_only"})"},
    {"torchao-int4-g64", R"({"quant_method":"torchao","quant_type":"int4_weight_only",
      "quant_type_kwargs":{"group_size":64}})"},
    {"torchao-int8", R"({"quant_method":"torchao","quant_type":"int8_weight_only"})"},
    {"torchao-float8", R"({"quant_method":"torchao","quant_type":"float8_weight_only"})"},
    {"exl3-4bit", R"({"quant_method":"exl3","bits":4,"head_bits":6})"},
    {"bitnet-2bit", R"({"quant_method":"bitnet"})"},
};

#undef WEIGHTS
#undef HQQ
#undef INT

std::map<std::string, WeightFormat> formats_by_id() {
  const json::Value document = read_json(VRAMGAUGE_PRESET_DIR "/formats.json");
  std::vector<WeightFormat> list;
  for (const json::Value& entry : *document.find("formats")->as_array())
    list.push_back(parse_weight_format(entry).value());
  EXPECT_TRUE(resolve_part_formats(list).empty());
  std::map<std::string, WeightFormat> formats;
  for (WeightFormat& format : list)
    formats.emplace(format.id, format);
  return formats;
}

QuantScheme scheme_of(const char* quantization) {
  json::Value config = json::Value::object();
  config.set("quantization_config", parse_or_throw(quantization, quantization));
  auto read = read_quantization(config, nullptr);
  if (!read) throw std::runtime_error(quantization + first_message(read.error()));
  return (*read)->rules.back().scheme;
}

/// Output and input features: square, wide, tall, and the odd widths of real models.
constexpr std::pair<uint64_t, uint64_t> kShapes[] = {
    {4096, 4096}, {1024, 4096}, {28672, 8192}, {5120, 13824}, {2048, 1408}, {151936, 896},
};

TEST(FormatEquality, ConfigurationsAndTheTableAgree) {
  const auto formats = formats_by_id();
  for (const Pair& pair : kPairs) {
    const auto& layout = std::get<GroupedLayout>(*formats.at(pair.format).layout);
    for (const auto& [rows, cols] : kShapes) {
      const auto from_table = grouped_bytes(layout, rows, cols);
      const auto from_scheme =
          grouped_bytes(scheme_layout(scheme_of(pair.quantization), cols), rows, cols);
      EXPECT_EQ(from_scheme.value_or(1), from_table.value_or(0))
          << pair.format << " and " << pair.quantization << ", " << rows << " x " << cols;
    }
  }
}

/// Bytes of a model's own file types that plans do not place: what converters add to GGUF files.
bool is_gguf(const WeightFormat& format) {
  return std::holds_alternative<GgufMixLayout>(*format.layout) ||
         std::holds_alternative<GgufBlockLayout>(*format.layout);
}

/// One rank holds what the format makes of the whole model, drafts left out.
void expect_one_rank_is_the_whole(const std::string& slug) {
  const ModelSpec spec = preset_model(slug).value();
  const std::vector<WeightTensor> tensors = weight_tensors(spec);
  size_t compared = 0;
  for (const auto& [id, format] : formats_by_id()) {
    if (!format.layout) continue;
    const auto whole = format_weights(tensors, spec, format);
    const auto layouts = tensor_layouts(tensors, spec, format);
    EXPECT_EQ(whole.has_value(), layouts.has_value()) << slug << ' ' << id;
    if (!whole || !layouts) continue;
    const auto plan = plan_weights({&spec, &tensors, *layouts, {}}, {});
    ASSERT_TRUE(plan.has_value()) << slug << ' ' << id;
    ASSERT_EQ(plan->ranks.size(), 1U);
    // An ideal width is rounded once per tensor here and once per group there.
    const bool is_ideal = std::holds_alternative<IdealLayout>(*format.layout);
    const uint64_t slack = is_ideal ? tensors.size() : 0;
    const uint64_t added = is_gguf(format) ? spec.rope_factor_elements * 4 : 0;
    const uint64_t device = plan->ranks.front().device.count() + added;
    EXPECT_GE(device, whole->total.count()) << slug << ' ' << id;
    EXPECT_LE(device, whole->total.count() + slack) << slug << ' ' << id;
    ++compared;
  }
  EXPECT_GT(compared, 100U) << slug;
}

TEST(FormatEquality, OneRankIsTheWhole) {
  expect_one_rank_is_the_whole("meta-llama__Llama-3.1-8B-Instruct");
  expect_one_rank_is_the_whole("Qwen__Qwen2.5-72B-Instruct");
  expect_one_rank_is_the_whole("Qwen__Qwen3-30B-A3B");
  expect_one_rank_is_the_whole("google__gemma-2-9b");
}

/// Ranks of every quantised preset, on as many GPUs as it divides over, hold the whole and no more
/// than what is replicated; the worst is never below the mean.
TEST(FormatEquality, RanksOfQuantisedPresets) {
  for (const char* slug :
       {"Qwen__Qwen3-32B-FP8", "deepseek-ai__DeepSeek-V3", "openai__gpt-oss-120b",
        "nvidia__Qwen3.5-122B-A10B-NVFP4", "nvidia__Kimi-K2.5-NVFP4"}) {
    const json::Value preset =
        read_json(std::string(VRAMGAUGE_PRESET_DIR "/models/") + slug + ".json");
    const ModelSpec spec = preset_model(slug).value();
    const std::vector<WeightTensor> tensors = weight_tensors(spec);
    const auto read = read_quantization(*preset.find("config"), preset.find("quant_config"));
    ASSERT_TRUE(read && *read) << slug;
    const ResolvedQuantization resolved = resolve_quantization(tensors, spec, **read);
    const uint64_t whole = format_resolved(tensors, spec, resolved)->total.count();
    StoredTensors stored{&spec, &tensors, tensor_layouts(tensors, spec, resolved).value(), {}};
    EXPECT_EQ(plan_weights(stored, {})->ranks.front().device.count(), whole) << slug;
    for (const uint64_t stages : {1U, 2U, 3U}) {
      ParallelPlan plan;
      plan.tensor_ranks = 2;
      plan.pipeline_stages = stages;
      plan.is_expert_parallel = stages == 2;
      const auto weights = plan_weights(stored, plan);
      ASSERT_TRUE(weights.has_value()) << slug << first_message(weights.error());
      uint64_t sum = 0;
      for (const RankWeights& rank : weights->ranks)
        sum += rank.device.count() * rank.num_ranks;
      const uint64_t worst = weights->ranks[weights->worst].device.count();
      EXPECT_GE(sum, whole) << slug;
      EXPECT_GE(worst * 2 * stages, sum) << slug;
      EXPECT_LT(static_cast<double>(sum), 1.25 * static_cast<double>(whole)) << slug;
    }
  }
}

}  // namespace
}  // namespace vramgauge::test
