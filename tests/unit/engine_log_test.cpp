// Logs in the shapes of public ones, re-typed without names of people and machines. Their figures
// are those of the rows of the same id in tests/truth/engine_logs.jsonl, or of the thread named.
#include "import/engine_log.h"
#include "units/index.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "import/engine_log_patterns.h"
#include "report/log_observation.h"
#include "truth/preset_files.h"

namespace vramgauge {
namespace {

using enum LogQuantity;

EngineLog read_log(std::string_view text) {
  EngineLogReader reader;
  reader.feed(text);
  return reader.finish();
}

std::string log_text(const std::string& id) {
  return test::read_text(std::string(VRAMGAUGE_TEST_DIR) + "/data/logs/" + id + ".log");
}

json::Value truth_row(const std::string& id) {
  std::istringstream rows(
      test::read_text(std::string(VRAMGAUGE_TEST_DIR) + "/truth/engine_logs.jsonl"));
  std::string line;
  while (std::getline(rows, line)) {
    auto row = json::parse(line);
    if (row && *row->find("id")->as_string() == id) return *row;
  }
  return json::Value::null();
}

/// A number as text with as many places as the other, to compare what was printed.
double rounded_like(double value, const json::Number& printed) {
  const auto point = printed.text.find('.');
  const auto places = printed.is_integer || point == std::string::npos
                          ? 0
                          : static_cast<int>(printed.text.size() - point - 1);
  const double scale = std::pow(10.0, places);
  return std::round(value * scale) / scale;
}

void expect_same(const std::string& key, const json::Value& expected, const json::Value* found) {
  ASSERT_NE(found, nullptr) << key;
  if (const json::Value::Array* list = expected.as_array()) {
    ASSERT_NE(found->as_array(), nullptr) << key;
    ASSERT_EQ(found->as_array()->size(), list->size()) << key;
    for (std::size_t i = 0; i < list->size(); ++i)
      expect_same(key, (*list)[i], &(*found->as_array())[i]);
  } else if (const json::Number* number = expected.as_number()) {
    ASSERT_NE(found->as_number(), nullptr) << key;
    EXPECT_DOUBLE_EQ(rounded_like(found->as_number()->real, *number), number->real) << key;
  } else {
    EXPECT_EQ(json::write(*found), json::write(expected)) << key;
  }
}

/// Keys of rows that are worked out by hand, or come from elsewhere than the log.
bool is_not_of_the_log(const std::string& key) {
  static const std::set<std::string> kKeys = {"kv_needed_bytes_per_token",
                                              "kv_bytes_per_token_measured",
                                              "kv_full_mib",
                                              "kv_swa_mib",
                                              "process_mib",
                                              "ollama_ps_estimate",
                                              "kv_full_k_gib",
                                              "kv_full_v_gib",
                                              "kv_swa_k_gib",
                                              "kv_swa_v_gib"};
  return kKeys.count(key) != 0;
}

struct LogCase {
  std::string id;
  LogEngine engine;
  /// Settings of the row that the log states.
  std::vector<std::string> flags;
};

void PrintTo(const LogCase& log_case, std::ostream* out) { *out << log_case.id; }

class PublicLog : public testing::TestWithParam<LogCase> {};

TEST_P(PublicLog, GivesTheFiguresOfItsRow) {
  const LogCase& log_case = GetParam();
  const EngineLog log = read_log(log_text(log_case.id));
  EXPECT_EQ(log.engine, log_case.engine);
  const json::Value row = truth_row(log_case.id);
  ASSERT_FALSE(row.is_null());
  const json::Value observation = log_observation(log);
  const json::Value* measured = observation.find("measured");
  int num_compared = 0;
  for (const json::Member& member : *row.find("measured")->as_object()) {
    if (is_not_of_the_log(member.key)) continue;
    expect_same(member.key, member.value, measured->find(member.key));
    ++num_compared;
  }
  EXPECT_GE(num_compared, 2);
  for (const std::string& flag : log_case.flags)
    expect_same(flag, *row.find("flags")->find(flag), observation.find("flags")->find(flag));
}

TEST_P(PublicLog, IsTheSameInPiecesOfAnySize) {
  const std::string text = log_text(GetParam().id);
  const std::string whole = json::write(log_observation(read_log(text)));
  for (const std::size_t size : {1U, 7U, 100U}) {
    EngineLogReader reader;
    for (std::size_t at = 0; at < text.size(); at += size)
      reader.feed(std::string_view(text).substr(at, size));
    EXPECT_EQ(json::write(log_observation(reader.finish())), whole) << size;
  }
}

TEST_P(PublicLog, EveryFigureIsOnTheLineItNames) {
  const std::string text = log_text(GetParam().id);
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  const EngineLog log = read_log(text);
  EXPECT_EQ(log.num_lines, lines.size());
  for (const LogFigure& figure : log.figures) {
    ASSERT_GE(figure.line, 1U);
    ASSERT_LE(figure.line, lines.size());
    EXPECT_NE(lines[index_of(figure.line - 1)].find_first_of("0123456789"), std::string::npos);
  }
}

TEST_P(PublicLog, GivesWhatIsThereWhenCutOff) {
  const std::string text = log_text(GetParam().id);
  for (std::size_t size = 0; size < text.size(); size += 97) {
    const EngineLog log = read_log(text.substr(0, size));
    EXPECT_LE(log.figures.size(), 100U);
  }
}

const auto kNames = [](const testing::TestParamInfo<LogCase>& info) {
  std::string name;
  for (const char c : info.param.id)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
};

INSTANTIATE_TEST_SUITE_P(
    Vllm, PublicLog,
    testing::Values(
        LogCase{"vllm10517-llama31-8b-3090-29000",
                LogEngine::vllm,
                {"max_model_len", "gpu_memory_utilization"}},
        LogCase{"vllm10511-llama3-8b-tp2",
                LogEngine::vllm,
                {"tensor_parallel_size", "gpu_memory_utilization"}},
        LogCase{"vllm12569-llama31-70b-w8a8", LogEngine::vllm, {"max_model_len"}},
        LogCase{"qwen3-8b-fp8-24g-tokens",
                LogEngine::vllm,
                {"dtype", "tensor_parallel_size", "max_model_len", "gpu_memory_utilization"}},
        LogCase{"qwen3-235b-fp8-tp8-ep8",
                LogEngine::vllm,
                {"tensor_parallel_size", "enable_expert_parallel", "max_model_len"}},
        LogCase{"l4-pod-8.7gib", LogEngine::vllm, {"gpu_memory_utilization"}},
        LogCase{"qwen25-32b-awq-0.58", LogEngine::vllm, {"max_model_len", "quantization"}}),
    kNames);

INSTANTIATE_TEST_SUITE_P(
    Sglang, PublicLog,
    testing::Values(LogCase{"vllm21348-qwen3-235b-fp8-sglang",
                            LogEngine::sglang,
                            {"tensor_parallel_size", "mem_fraction_static"}},
                    LogCase{"mattbucci-gemma4-12b-r0.25",
                            LogEngine::sglang,
                            {"tensor_parallel_size", "mem_fraction_static", "context_length",
                             "swa_full_tokens_ratio", "max_running_requests", "kv_cache_dtype",
                             "chunked_prefill_size", "disable_cuda_graph"}},
                    LogCase{"mattbucci-devstral-24b-0.92",
                            LogEngine::sglang,
                            {"tensor_parallel_size", "mem_fraction_static", "kv_cache_dtype",
                             "quantization"}},
                    LogCase{"sglang-qwen25-05b",
                            LogEngine::sglang,
                            {"max_total_tokens", "max_running_requests", "dtype"}}),
    kNames);

INSTANTIATE_TEST_SUITE_P(
    TensorRtLlm, PublicLog,
    testing::Values(LogCase{"trtllm-llama31-8b-5090", LogEngine::tensorrt_llm, {}},
                    LogCase{"trtllm-h100-262144", LogEngine::tensorrt_llm, {}},
                    LogCase{"trtllm-22gib-82blocks", LogEngine::tensorrt_llm, {}}),
    kNames);

INSTANTIATE_TEST_SUITE_P(
    LlamaCpp, PublicLog,
    testing::Values(LogCase{"llamacpp12369-32b-5xmi50", LogEngine::llama_cpp, {"type_k", "type_v"}},
                    LogCase{"geniex1346-gemma4-e4b", LogEngine::llama_cpp, {"n_ctx", "n_ubatch"}},
                    LogCase{"lemonade79-qwen35-27b-q4", LogEngine::llama_cpp, {}}),
    kNames);

INSTANTIATE_TEST_SUITE_P(Ollama, PublicLog,
                         testing::Values(LogCase{"ollama6160-mistral-small-22b-48k",
                                                 LogEngine::ollama,
                                                 {"num_ctx", "num_gpu"}}),
                         kNames);

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kGiB = int64_t{1} << 30;

int64_t value_of(const EngineLog& log, LogQuantity quantity, std::string_view where = {}) {
  const LogFigure* figure = log.find(quantity, where);
  EXPECT_NE(figure, nullptr) << log_quantity_info(quantity).name;
  return figure == nullptr ? -1 : figure->value;
}

/// Hundredths of a GiB or MiB, as engines print them.
int64_t hundredths(int64_t number, int64_t unit) { return (number * unit + 50) / 100; }
/// Tenths, as Ollama prints them.
int64_t tenths(int64_t number, int64_t unit) { return (number * unit + 5) / 10; }

// ollama/ollama issue 10417, comment of 2025-04-30.
TEST(OllamaLog, EstimateOnWrappedLines) {
  const EngineLog log = read_log(log_text("ollama10417-mistral-small31"));
  EXPECT_EQ(log.engine, LogEngine::ollama);
  EXPECT_EQ(log.flag("version"), "0.6.6");
  EXPECT_EQ(value_of(log, layers), 41);
  EXPECT_EQ(value_of(log, layers_offloaded), 37);
  EXPECT_EQ(value_of(log, free_at_start, "GPU0"), tenths(233, kGiB));
  EXPECT_EQ(value_of(log, required_full), tenths(244, kGiB));
  EXPECT_EQ(value_of(log, required_kv), 640 * kMiB);
  EXPECT_EQ(value_of(log, projector), tenths(7693, kMiB));
  EXPECT_EQ(value_of(log, weights, "CUDA0"), tenths(139, kGiB));
  EXPECT_EQ(log.flag("num_ctx"), "4096");
  EXPECT_EQ(log.flag("num_gpu"), "41");
}

// A public benchmark of Ollama's own engine, 20 of 49 layers on the GPU.
TEST(OllamaLog, ItsOwnEngine) {
  const EngineLog log = read_log(log_text("ollama-qwen3-coder-next-20of49"));
  EXPECT_EQ(log.engine, LogEngine::ollama);
  EXPECT_EQ(log.flag("gpu"), "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(value_of(log, layers_offloaded), 20);
  EXPECT_EQ(value_of(log, layers), 49);
  EXPECT_EQ(value_of(log, weights, "CUDA0"), tenths(199, kGiB));
  EXPECT_EQ(value_of(log, weights, "CPU"), tenths(283, kGiB));
  EXPECT_EQ(value_of(log, kv_cache, "CPU"), tenths(15, kGiB));
  EXPECT_EQ(value_of(log, compute_buffer, "CUDA0"), tenths(8841, kMiB));
  EXPECT_EQ(value_of(log, total_memory), tenths(519, kGiB));
  EXPECT_EQ(log.outcome, LogOutcome::fits);
}

// NVIDIA/TensorRT-LLM in its PyTorch runtime; row trtllm-small-16576 states no outcome.
TEST(TensorRtLlmLog, PyTorchRuntime) {
  const EngineLog log = read_log(log_text("trtllm-small-16576"));
  EXPECT_EQ(log.engine, LogEngine::tensorrt_llm);
  EXPECT_EQ(log.flag("version"), "1.0.0");
  EXPECT_EQ(value_of(log, kv_cache), hundredths(54, kGiB));
  EXPECT_EQ(value_of(log, kv_tokens), 16576);
  EXPECT_EQ(log.flag("max_num_tokens"), "8192");
}

TEST(EngineLog, WorkersAreKeptApart) {
  const EngineLog log = read_log(log_text("qwen3-235b-fp8-tp8-ep8"));
  EXPECT_EQ(log.smallest(kv_cache)->where, "TP0_EP0");
  EXPECT_EQ(log.smallest(kv_cache)->value, hundredths(1151, kGiB));
  EXPECT_EQ(log.largest(kv_cache)->value, hundredths(1155, kGiB));
  EXPECT_EQ(value_of(log, kv_cache, "TP7_EP7"), hundredths(1153, kGiB));
  EXPECT_EQ(log.find(kv_tokens)->where, "");
  EXPECT_EQ(log.flag("model"), "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8");
}

TEST(EngineLog, WorkersOfTheOldEngineAreNumbered) {
  const EngineLog log = read_log(
      "(VllmWorkerProcess pid=521) INFO [worker.py:267] model weights take 21.21GiB; "
      "non_torch_memory takes 0.20GiB; PyTorch activation peak memory takes 0.37GiB; the rest of "
      "the memory reserved for KV Cache is 1.57GiB.\n"
      "(VllmWorkerProcess pid=507) INFO [worker.py:267] model weights take 18.92GiB; "
      "non_torch_memory takes 0.21GiB; PyTorch activation peak memory takes 0.37GiB; the rest of "
      "the memory reserved for KV Cache is 3.86GiB.\n");
  EXPECT_EQ(value_of(log, weights, "worker1"), hundredths(2121, kGiB));
  EXPECT_EQ(value_of(log, weights, "worker2"), hundredths(1892, kGiB));
  EXPECT_EQ(value_of(log, non_torch, "worker2"), hundredths(21, kGiB));
  EXPECT_EQ(log.smallest(kv_cache)->value, hundredths(157, kGiB));
}

TEST(EngineLog, ColoursAndProgressBarsAreNoHindrance) {
  const EngineLog log = read_log(
      "Loading:  50%|#####     | 1/2\rLoading: 100%|##########| 2/2\r\x1b[1;36m(Worker_TP1 "
      "pid=3)\x1b[0;0m INFO Model loading took \x1b[1m15.26 GiB\x1b[0m memory and 23.1 seconds\r\n"
      "INFO Available KV cache memory: -2.28 GiB\n");
  EXPECT_EQ(value_of(log, weights, "TP1"), hundredths(1526, kGiB));
  EXPECT_EQ(log.find(weights)->line, 1U);
  EXPECT_EQ(value_of(log, kv_cache), -hundredths(228, kGiB));
  EXPECT_EQ(log.find(kv_cache)->line, 2U);
}

TEST(EngineLog, UnitsAreBinaryWhateverTheLabel) {
  const EngineLog log = read_log("INFO Loading model weights took 12.5523 GB\n");
  EXPECT_EQ(value_of(log, weights), (125523 * kGiB + 5000) / 10000);
  EXPECT_EQ(log.find(weights)->step, static_cast<uint64_t>(kGiB / 10000));
}

TEST(EngineLog, TheFinerOfTwoFiguresCounts) {
  const EngineLog log = read_log(
      "INFO Available KV cache memory: 8.60 GiB\n"
      "DEBUG Current kv cache memory in use is 9232221491 bytes.\n"
      "DEBUG Current kv cache memory in use is 8.6 GiB.\n");
  EXPECT_EQ(value_of(log, kv_cache), 9232221491);
  EXPECT_EQ(log.find(kv_cache)->line, 2U);
}

TEST(EngineLog, TheLastStartCounts) {
  std::string text = log_text("qwen25-32b-awq-0.58");
  text +=
      "INFO vLLM API server version 0.20.0\n(EngineCore pid=9) INFO GPU KV cache size: 4,096 "
      "tokens\n";
  const EngineLog log = read_log(text);
  EXPECT_EQ(log.num_starts, 2U);
  EXPECT_EQ(log.outcome, LogOutcome::fits);
  EXPECT_EQ(log.find(kv_needed), nullptr);
  EXPECT_EQ(value_of(log, kv_tokens), 4096);
}

TEST(EngineLog, RefusalForATakenCard) {
  const EngineLog log = read_log(
      "ValueError: Free memory on device (3.21/4.0 GiB) on startup is less than desired GPU memory "
      "utilization (0.85, 3.4 GiB). Decrease GPU memory utilization or reduce GPU memory used by "
      "other processes.\n");
  EXPECT_EQ(log.outcome, LogOutcome::oom);
  EXPECT_EQ(value_of(log, free_at_start), hundredths(321, kGiB));
  EXPECT_EQ(value_of(log, gpu_total), 4 * kGiB);
  EXPECT_EQ(value_of(log, usable), tenths(34, kGiB));
  EXPECT_EQ(log.flag("gpu_memory_utilization"), "0.85");
}

TEST(EngineLog, DeathAfterTheStart) {
  const EngineLog log = read_log(
      "INFO:     Application startup complete.\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 136.00 MiB. GPU 0 has a total "
      "capacity of 22.36 GiB of which 52.00 MiB is free. Process 1 has 22.30 GiB memory in use.\n");
  EXPECT_EQ(log.outcome, LogOutcome::oom_after_start);
  EXPECT_EQ(value_of(log, alloc_attempt), 136 * kMiB);
  EXPECT_EQ(value_of(log, alloc_free), 52 * kMiB);
}

TEST(EngineLog, DraftModelsAreLeftOut) {
  const EngineLog log = read_log(
      "llama_model_loader: loaded meta data with 29 key-value pairs and 291 tensors from a.gguf\n"
      "load_tensors:        CUDA0 model buffer size =  4403.49 MiB\n"
      "load_tensors:        CUDA0 model buffer size =   100.00 MiB\n"
      "llama_kv_cache:      CUDA0 KV buffer size =  1024.00 MiB\n"
      "srv    load_model: loading draft model 'b.gguf'\n"
      "llama_model_loader: loaded meta data with 29 key-value pairs and 147 tensors from b.gguf\n"
      "load_tensors:        CUDA0 model buffer size =   762.81 MiB\n");
  EXPECT_EQ(value_of(log, weights, "CUDA0"), hundredths(450349, kMiB));
  EXPECT_EQ(value_of(log, kv_cache, "CUDA0"), 1024 * kMiB);
}

TEST(EngineLog, TrialsOfTheFitAreForgotten) {
  const EngineLog log = read_log(
      "llama_model_loader: loaded meta data with 40 key-value pairs from a.gguf\n"
      "load_tensors: offloaded 42/42 layers to GPU\n"
      "load_tensors:        CUDA0 model buffer size =     0.00 MiB\n"
      "load_tensors:   CPU_Mapped model buffer size = 18056.75 MiB\n"
      "common_params_fit_impl: projected to use 25441 MiB of device memory vs. 486 MiB of free "
      "device memory\n"
      "llama_model_loader: loaded meta data with 40 key-value pairs from a.gguf\n"
      "load_tensors: offloaded 0/42 layers to GPU\n"
      "load_tensors:   CPU_Mapped model buffer size = 18056.75 MiB\n");
  EXPECT_EQ(value_of(log, layers_offloaded), 0);
  EXPECT_EQ(value_of(log, weights, "CPU_Mapped"), hundredths(1805675, kMiB));
  EXPECT_EQ(log.find(weights, "CUDA0"), nullptr);
  EXPECT_EQ(value_of(log, projected), 25441 * kMiB);
}

TEST(EngineLog, FoldersOfPeopleAreNotKept) {
  const EngineLog log = read_log(
      "INFO LLM engine (v0.11.0) with config: model='/srv/people/someone/hub/"
      "models--Qwen--Qwen3-8B/snapshots/0123', "
      "speculative_config=SpeculativeConfig(method='eagle', "
      "model='/srv/people/someone/draft', num_spec_tokens=3), tensor_parallel_size=2\n"
      "INFO Available KV cache memory: 1.00 GiB\n");
  EXPECT_EQ(log.flag("model"), "Qwen/Qwen3-8B");
  EXPECT_EQ(log.flag("num_speculative_tokens"), "3");
  EXPECT_EQ(log.flag("tensor_parallel_size"), "2");
  const EngineLog local = read_log(
      "INFO LLM engine (v0.11.0) with config: model='/data/someone/my-model/', dtype=torch.half\n");
  EXPECT_EQ(local.flag("model"), "my-model");
}

TEST(EngineLog, NoLogIsNoEngine) {
  const EngineLog log = read_log("nothing of interest\n\n1 2 3\n");
  EXPECT_EQ(log.engine, LogEngine::unknown);
  EXPECT_EQ(log.num_lines, 3U);
  EXPECT_TRUE(log.figures.empty());
}

TEST(EngineLog, LongLinesAndManyWorkersAreBounded) {
  std::string text(1'000'000, 'x');
  text += " Available KV cache memory: 1.00 GiB\n";
  for (int i = 0; i < 20'000; ++i)
    text += "(Worker_TP" + std::to_string(i) + " pid=1) Available KV cache memory: 1.00 GiB\n";
  const EngineLog log = read_log(text);
  EXPECT_EQ(log.find(kv_cache)->line, 2U);
  EXPECT_LE(log.figures.size(), 2048U);
}

TEST(EngineLog, TenMegabytesOfDebugLinesInOnePass) {
  const std::string noise =
      "(EngineCore_DP0 pid=102) DEBUG 09-28 21:12:00 [core.py:301] EngineCore loop active: Model "
      "forward of range (1, 8192), shapes [512, 4096], Available Free Maximum GPU # weights: 12\n";
  constexpr std::size_t kBytes = 10'000'000;
  EngineLogReader reader;
  std::size_t size = 0;
  for (; size < kBytes; size += noise.size())
    reader.feed(noise);
  reader.feed(log_text("qwen3-8b-fp8-24g-tokens"));
  const EngineLog log = reader.finish();
  EXPECT_EQ(log.num_lines, size / noise.size() + 18);
  EXPECT_EQ(value_of(log, kv_cache), 9232221491);
  EXPECT_EQ(log.find(kv_cache)->line, size / noise.size() + 16);
}

/// Every part of a pattern can be read: kinds are known, quantities exist.
TEST(EngineLogPatterns, AreWellFormed) {
  std::set<std::string_view> names;
  for (const LogQuantityInfo& info : log_quantities())
    names.insert(info.name);
  const LogPatternTable table = log_patterns();
  for (uint64_t i = 0; i < table.size; ++i) {
    std::string_view rest = table.rows[i].text;
    ASSERT_FALSE(rest.empty());
    EXPECT_NE(rest.front(), '{') << rest;
    EXPECT_NE(rest.front(), ' ') << rest;
    for (auto open = rest.find('{'); open != std::string_view::npos; open = rest.find('{')) {
      const auto close = rest.find('}', open);
      ASSERT_NE(close, std::string_view::npos) << rest;
      std::string_view part = rest.substr(open + 1, close - open - 1);
      rest.remove_prefix(close + 1);
      if (part == "*" || part == "w") continue;
      ASSERT_GE(part.size(), 3U) << part;
      EXPECT_NE(std::string_view("bgmnxlte").find(part[0]), std::string_view::npos) << part;
      EXPECT_EQ(part[1], ':') << part;
      part.remove_prefix(2);
      if (part.back() == '+' || part.back() == '^') part.remove_suffix(1);
      EXPECT_TRUE(part.front() == '@' || names.count(part) == 1) << part;
    }
  }
}

}  // namespace
}  // namespace vramgauge
