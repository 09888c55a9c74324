// A scenario that is written as a command line and read again is the same scenario, but for the
// fields that the writer names as not carried; and it names only those that no setting can say.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "import/command_line.h"
#include "report/command_line.h"
#include "units/index.h"

namespace vramgauge {
namespace {

constexpr int kNumScenarios = 800;

/// What a kind of command line cannot say. A field is here for a reason, not because it failed.
struct Kind {
  std::string_view engine;
  std::string_view launcher;
  /// Facts of the machine and of the traffic, settings that the program does not have.
  std::string_view unsaid;
};

constexpr Kind kKinds[] = {
    {"vllm", "",
     "model model_config weight_format gpu gpu_memory_gib gpu_count cache_type_k cache_type_v "
     "context_tokens num_requests engine_version expert_parallel held_gib draft_tokens "
     "max_lora_rank draft_model draft_format calibration"},
    {"sglang", "",
     "model model_config weight_format gpu gpu_memory_gib gpu_count cache_type_k cache_type_v "
     "context_tokens num_requests engine_version expert_parallel held_gib draft_tokens "
     "max_lora_rank draft_model draft_format calibration"},
    {"tensorrt_llm", "",
     "model model_config weight_format gpu gpu_memory_gib gpu_count cache_type_k cache_type_v "
     "context_tokens num_requests engine_version expert_parallel held_gib draft_tokens "
     "data_ranks draft_model draft_format calibration"},
    {"llama_cpp", "",
     "model model_config weight_format gpu gpu_memory_gib gpu_count cache_type_k cache_type_v "
     "num_requests engine_version held_gib host_ram_gib projector_gib lora_gib swa_full "
     "kv_unified draft_model draft_format draft_tokens draft_gpu_layers draft_cache_type more_gpus "
     "calibration"},
    {"llama_cpp", "ollama",
     "model model_config weight_format gpu gpu_memory_gib gpu_count cache_type_k cache_type_v "
     "engine_version held_gib program batch_tokens ubatch_tokens kv_unified swa_full kv_offload "
     "op_offload "
     "tensor_split override_tensors cpu_moe_layers host_ram_gib projector_gib lora_gib "
     "draft_model draft_format draft_tokens draft_gpu_layers draft_cache_type more_gpus "
     "calibration"},
    {"transformers", "",
     "model model_config weight_format gpu gpu_memory_gib gpu_count cache_type_k cache_type_v "
     "engine_version held_gib prefill_tokens calibration"},
};

class RandomScenario {
 public:
  RandomScenario(uint64_t seed, const Kind& kind) : random_(seed), kind_(kind) {}

  Scenario make() {
    Scenario scenario;
    scenario.engine = std::string(kind_.engine);
    for (const Field& field : scenario_fields()) {
      if (is_read(field) && field.key != "engine" && chance(2)) fill(scenario, field);
    }
    spread(scenario);
    return scenario;
  }

  bool is_read(const Field& field) const {
    std::string_view list = field.engines;
    if (list.empty()) return true;
    while (!list.empty()) {
      if (take_part(list, ',') == kind_.engine) return true;
    }
    return false;
  }

 private:
  uint64_t below(uint64_t bound) { return random_() % bound; }
  bool chance(uint64_t of) { return below(of) == 0; }

  std::string pick(std::initializer_list<std::string_view> words) {
    return std::string(words.begin()[index_of(below(words.size()))]);
  }

  /// As often small as large.
  uint64_t number(const Field& field) {
    const uint64_t span = field.max - field.min;
    const uint64_t magnitude = below(64);
    return field.min + below(std::min(span, (uint64_t{1} << magnitude) - 1) + 1);
  }

  std::string text(const Field& field) {
    if (field.key == "model") {
      return kind_.engine == "transformers"
                 ? pick({"Qwen/Qwen3-8B", "meta-llama/Llama-3.3-70B-Instruct"})
                 : pick({"Qwen/Qwen3-8B", "some org/it's a \"model\"", "a/b;c&d|e<f>g",
                         "x/$HOME `y`"});
    }
    if (field.key == "draft_model") return pick({"", "Qwen/Qwen3-0.6B", "a/b;c&d|e<f>g"});
    if (field.key == "draft_format") return pick({"", "auto", "Q8_0", "4.85bpw"});
    if (field.key == "more_gpus") return pick({"", "nvidia-l4,tesla-t4:2"});
    if (field.key == "model_config") return pick({"", R"({"model_type":"custom"})"});
    if (field.key == "weight_format") {
      return pick({"auto", "bf16", "fp16", "fp32", "fp8-per-tensor", "bnb-4bit", "bnb-int8",
                   "awq-4bit-g128", "Q4_K_M", "IQ4_XS", "gguf-BF16", "F16", "4.85bpw"});
    }
    if (field.list == "cache_types")
      return pick(
          {"fp16", "bf16", "fp8", "fp8_ds_mla", "nvfp4", "q8_0", "q5_1", "turboquant_k8v4"});
    if (field.key == "stage_layers") return pick({"20,22", "1,2,3"});
    if (field.key == "tensor_split") return pick({"3,1", "1,0.5,2"});
    if (field.key == "override_tensors")
      return pick({".ffn_.*_exps.=CPU", "blk\\.(1|2)\\.=CUDA1,exps=CPU"});
    if (field.kind == FieldKind::option) {
      std::vector<std::string_view> words;
      for (std::string_view rest = field.list; !rest.empty();)
        words.push_back(take_part(rest, ','));
      return std::string(words[index_of(below(words.size()))]);
    }
    return pick({"", "b6975", "0.11.0"});
  }

  void fill(Scenario& scenario, const Field& field) {
    if (field.text != nullptr) {
      scenario.*field.text = text(field);
    } else if (field.number != nullptr) {
      scenario.*field.number = number(field);
    } else {
      scenario.*field.decimal = Decimal::from_micros(number(field));
    }
  }

  /// Ranks that can be: mostly as many GPUs as they need.
  void spread(Scenario& scenario) {
    scenario.pipeline_stages = 1 + below(3);
    scenario.data_ranks = 1 + below(3);
    scenario.tensor_ranks = chance(2) ? 0 : 1 + below(8);
    const uint64_t replicas = scenario.dp_attention == "on" ? 1 : scenario.data_ranks;
    scenario.gpu_count = scenario.pipeline_stages * replicas * (1 + below(8));
    if (kind_.engine == "tensorrt_llm") scenario.data_ranks = chance(8) ? 2 : 1;
    if (kind_.engine == "tensorrt_llm" && scenario.tensor_ranks == 0)
      scenario.gpu_count *= scenario.data_ranks;
    if (kind_.engine == "llama_cpp") scenario.gpu_count = 1 + below(20);
    if (chance(2)) scenario.max_model_len = scenario.context_tokens;
  }

  std::mt19937_64 random_;
  const Kind& kind_;
};

/// What a field comes to, whichever way it is said.
std::string meaning(const Scenario& scenario, const Field& field) {
  const bool is_llama_cpp = scenario.engine == "llama_cpp";
  if (field.key == "tensor_ranks" && scenario.tensor_ranks == 0) {
    const uint64_t replicas = scenario.dp_attention == "on" ? 1 : scenario.data_ranks;
    return std::to_string(scenario.gpu_count / (scenario.pipeline_stages * replicas));
  }
  if (field.key == "max_model_len" && scenario.max_model_len == 0)
    return std::to_string(scenario.context_tokens);
  if (field.key == "cache_type_v" && scenario.cache_type_v.empty()) return scenario.cache_type_k;
  // llama.cpp's converter writes these as files of one type (api/llama_cpp.cpp, plain_mix).
  if (field.key == "weight_format" && is_llama_cpp)
    return std::string(gguf_name_of_format(scenario.weight_format));
  if (field.key == "draft_format" && is_llama_cpp) {
    return std::string(gguf_name_of_format(scenario.draft_format.empty() ? scenario.weight_format
                                                                         : scenario.draft_format));
  }
  return field_text(scenario, field);
}

bool contains(const std::vector<std::string_view>& list, std::string_view key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

std::string joined(const WrittenCommand& written) {
  std::string text;
  for (const CommandText& line : written.lines)
    text += line.text + "\n";
  return text;
}

/// The scenario that a page has after it took what was read, when it had what is not carried.
Scenario taken(const Scenario& asked, const WrittenCommand& written, const ParsedCommand& parsed) {
  Scenario out;
  out.engine = parsed.scenario.engine;
  for (const Field& field : scenario_fields()) {
    const bool is_said = contains(parsed.fields, field.key);
    const bool is_kept = contains(written.not_carried, field.key);
    if (is_kept || is_said) {
      EXPECT_TRUE(set_field_text(out, field, field_text(is_kept ? asked : parsed.scenario, field)));
    }
  }
  if (!contains(written.not_carried, "model") && !parsed.model.candidates.empty())
    out.model = parsed.model.candidates.front();
  if (!contains(written.not_carried, "draft_model") && !parsed.draft.candidates.empty())
    out.draft_model = parsed.draft.candidates.front();
  return out;
}

class CommandLineRoundTrip : public testing::TestWithParam<Kind> {};

TEST_P(CommandLineRoundTrip, KeepsTheScenario) {
  const Kind& kind = GetParam();
  uint64_t num_carried = 0;
  for (int seed = 0; seed < kNumScenarios; ++seed) {
    RandomScenario random(static_cast<uint64_t>(seed), kind);
    const Scenario asked = random.make();
    const auto written = write_command_line(asked, kind.launcher);
    if (!written) {
      EXPECT_EQ(written.error().front().code, ErrorCode::engine_not_divisible) << seed;
      continue;
    }
    const std::string text = joined(*written);
    const auto parsed = parse_command_line(text);
    ASSERT_TRUE(parsed.has_value()) << seed << "\n" << text;
    EXPECT_TRUE(parsed->unknown.empty()) << seed << "\n" << text;
    const Scenario again = taken(asked, *written, *parsed);
    for (const Field& field : scenario_fields()) {
      if (!random.is_read(field)) continue;
      if (contains(written->not_carried, field.key)) {
        EXPECT_NE((" " + std::string(kind.unsaid) + " ").find(" " + std::string(field.key) + " "),
                  std::string::npos)
            << field.key << " of seed " << seed << " is not carried\n"
            << text;
        continue;
      }
      ++num_carried;
      ASSERT_EQ(meaning(again, field), meaning(asked, field))
          << field.key << " of seed " << seed << "\n"
          << text;
    }
  }
  EXPECT_GT(num_carried, uint64_t{kNumScenarios} * 3);
}

INSTANTIATE_TEST_SUITE_P(AllEngines, CommandLineRoundTrip, testing::ValuesIn(kKinds),
                         [](const auto& each) {
                           return std::string(each.param.engine) + std::string(each.param.launcher);
                         });

}  // namespace
}  // namespace vramgauge
