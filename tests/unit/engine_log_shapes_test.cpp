// Logs as collectors hand them on, cut off or mixed, and lines of further versions: the figures are
// the same.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "import/engine_log.h"
#include "report/log_observation.h"
#include "support/files.h"

namespace vramgauge {
namespace {

using testing::names_in;
using testing::read_file;

const std::string kLogs = std::string(VRAMGAUGE_TEST_DIR) + "/data/logs/";
constexpr int64_t kGiB = int64_t{1} << 30;
constexpr int64_t kMiB = int64_t{1} << 20;

EngineLog read_log(std::string_view text) {
  EngineLogReader reader;
  reader.feed(text);
  return reader.finish();
}

std::string figures_of(std::string_view text) {
  return json::write(log_observation(read_log(text)));
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string json_record(const std::string& line) {
  json::Value record = json::Value::object();
  record.set("log", line + "\n");
  record.set("stream", "stderr");
  record.set("time", "2026-03-12T10:01:33.123456789Z");
  return json::write(record);
}

std::string json_message(const std::string& line) {
  json::Value record = json::Value::object();
  record.set("timestamp", std::string_view("2026-03-12T10:01:33Z"));
  record.set("level", std::string_view("INFO"));
  record.set("message", line);
  return json::write(record);
}

/// One way in which a line reaches a file.
struct Wrapping {
  const char* name;
  std::string (*wrap)(const std::string& line);
};
const Wrapping kWrappings[] = {
    {"docker compose", [](const std::string& line) { return "engine-1  | " + line; }},
    {"docker compose in colour",
     [](const std::string& line) { return "\x1b[36mengine-1  |\x1b[0m " + line; }},
    {"kubectl with prefixes",
     [](const std::string& line) { return "[pod/llm-7d9c5b-x2x9z/engine] " + line; }},
    {"kubectl with times",
     [](const std::string& line) { return "2026-03-12T10:01:33.123456789Z " + line; }},
    {"container runtime",
     [](const std::string& line) { return "2026-03-12T10:01:33.123456789Z stderr F " + line; }},
    {"journal",
     [](const std::string& line) { return "Mar 12 10:01:33 host engine[4711]: " + line; }},
    {"stern", [](const std::string& line) { return "llm-7d9c5b-x2x9z engine " + line; }},
    {"docker's files", json_record},
    {"a collector's records", json_message},
    {"Windows", [](const std::string& line) { return line + "\r"; }},
    {"a coloured line", [](const std::string& line) { return "\x1b[32m" + line + "\x1b[0m"; }},
};

TEST(LogShapes, WhateverCollectsALogItSaysTheSame) {
  int num_logs = 0;
  for (const std::string& name : names_in(kLogs, ".log")) {
    const std::string text = read_file(kLogs + name);
    const std::string plain = figures_of(text);
    ++num_logs;
    for (const Wrapping& wrapping : kWrappings) {
      std::string wrapped;
      for (const std::string& line : lines_of(text))
        wrapped += wrapping.wrap(line) + "\n";
      EXPECT_EQ(figures_of(wrapped), plain) << name << ", " << wrapping.name;
    }
  }
  EXPECT_GE(num_logs, 21);
}

/// A figure of the same quantity and place that may be of an earlier line, and not of a later one.
const LogFigure* counterpart(const EngineLog& log, const LogFigure& figure) {
  for (const LogFigure& each : log.figures) {
    if (each.quantity == figure.quantity && each.where == figure.where) return &each;
  }
  return nullptr;
}

TEST(LogShapes, WhatIsLeftOfALogGivesWhatItSays) {
  for (const std::string& name : names_in(kLogs, ".log")) {
    const std::string text = read_file(kLogs + name);
    const EngineLog whole = read_log(text);
    for (std::size_t percent = 1; percent < 100; percent += 3) {
      // Cut at the end, as a log that is copied while it is written, and between lines at the
      // start.
      const EngineLog head =
          read_log(std::string_view(text).substr(0, text.size() * percent / 100));
      EXPECT_LE(head.figures.size(), whole.figures.size() + 4) << name;
      for (const LogFigure& figure : head.figures) {
        const LogFigure* same = counterpart(whole, figure);
        // Sums over buffers and halves of a line grow; whatever is there names a quantity of the
        // whole.
        EXPECT_TRUE(same != nullptr || figure.quantity == LogQuantity::kv_k ||
                    figure.quantity == LogQuantity::kv_v ||
                    figure.quantity == LogQuantity::kv_tokens || head.engine != whole.engine)
            << name << " " << percent << " " << log_quantity_info(figure.quantity).name;
      }
      const auto start = text.find('\n', text.size() * percent / 100);
      if (start == std::string::npos) continue;
      const EngineLog tail = read_log(std::string_view(text).substr(start + 1));
      for (const LogFigure& figure : tail.figures) {
        // Where the lines of its buffers are gone, a cache is the sum of K and V.
        const bool is_sum = figure.quantity == LogQuantity::kv_cache && figure.where.empty();
        EXPECT_TRUE(counterpart(whole, figure) != nullptr || tail.engine != whole.engine || is_sum)
            << name << " " << percent << " " << log_quantity_info(figure.quantity).name;
      }
    }
  }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// How ranks are told apart: what the first and the second are called in lines and in figures.
struct Ranks {
  const char* name;
  const char* where;
  const char* other_name;
  const char* other_where;
};
constexpr Ranks kRanks[] = {{"TP0", "TP0", "TP1", "TP1"},
                            {"EngineCore_DP0", "", "EngineCore_DP1", "DP1"}};

std::string without(const std::string& text, const std::string& name) {
  std::string out;
  for (const std::string& line : lines_of(text)) {
    if (line.find(name) == std::string::npos) out += line + "\n";
  }
  return out;
}

/// Each line of the first rank with the same of the second, before or after it by chance.
std::string with_second_rank(const std::string& text, const Ranks& ranks, uint64_t seed) {
  std::string out;
  for (const std::string& line : lines_of(text)) {
    const std::string other = replaced(line, ranks.name, ranks.other_name);
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    const bool is_first = seed >> 63 == 0;
    if (other != line && !is_first) out += other + "\n";
    out += line + "\n";
    if (other != line && is_first) out += other + "\n";
  }
  return out;
}

TEST(LogShapes, TwoRanksInAnyOrder) {
  int num_figures = 0;
  for (const std::string& name : names_in(kLogs, ".log")) {
    for (const Ranks& ranks : kRanks) {
      const std::string text = without(read_file(kLogs + name), ranks.other_name);
      if (text.find(ranks.name) == std::string::npos) continue;
      const EngineLog alone = read_log(text);
      for (uint64_t seed = 1; seed <= 5; ++seed) {
        const EngineLog both = read_log(with_second_rank(text, ranks, seed));
        EXPECT_EQ(both.engine, alone.engine) << name;
        for (LogFigure figure : alone.figures) {
          if (figure.where != ranks.where) continue;
          const LogFigure* own = counterpart(both, figure);
          ASSERT_NE(own, nullptr) << name << " " << log_quantity_info(figure.quantity).name;
          EXPECT_EQ(own->value, figure.value) << name;
          figure.where = ranks.other_where;
          const LogFigure* other = counterpart(both, figure);
          if (other == nullptr) continue;
          ++num_figures;
          EXPECT_EQ(other->value, figure.value) << name;
        }
      }
    }
  }
  EXPECT_GE(num_figures, 50);
}

// Two processes write to one terminal without waiting for each other.
TEST(LogShapes, ALineThatAnotherBreaksIntoIsLostAlone) {
  const EngineLog log = read_log(
      "(Worker_TP0 pid=1) INFO 05-06 20:59:59 [gpu_model_runner.py:4879] Model loading took 12.66 "
      "(Worker_TP1 pid=2) INFO 05-06 20:59:59 [gpu_model_runner.py:4879] Model loading took 12.67 "
      "GiB "
      "memory and 31.6 seconds\nGiB memory and 31.7 seconds\n"
      "(Worker_TP0 pid=1) INFO 05-06 21:00:22 [gpu_worker.py:563] Available KV cache memory: 6.87 "
      "GiB\n");
  EXPECT_EQ(log.engine, LogEngine::vllm);
  EXPECT_NEAR(static_cast<double>(log.largest(LogQuantity::weights)->value),
              12.67 * static_cast<double>(kGiB), 2);
  EXPECT_NEAR(static_cast<double>(log.find(LogQuantity::kv_cache)->value),
              6.87 * static_cast<double>(kGiB), 2);
}

int64_t value_of(const EngineLog& log, LogQuantity quantity, std::string_view where = {}) {
  const LogFigure* figure = log.find(quantity, where);
  return figure == nullptr ? -1 : figure->value;
}

/// Printed hundredths of a GiB; a figure is within half a unit of its last place.
void expect_gib(const EngineLog& log, LogQuantity quantity, double gib,
                std::string_view where = {}) {
  EXPECT_NEAR(static_cast<double>(value_of(log, quantity, where)), gib * static_cast<double>(kGiB),
              2)
      << log_quantity_info(quantity).name << " " << where;
}

// gpustack/runner pull request 251: vLLM 0.27 on two ranks, whose lines alternate.
TEST(LogShapes, Vllm027SetsGraphsAside) {
  const EngineLog log = read_log(
      "(Worker_TP1 pid=448) INFO 08-14 14:07:20 [gpu_model_runner.py:6681] Profiling CUDA graph "
      "memory: PIECEWISE=16 (largest=16)\n"
      "(Worker_TP1 pid=448) INFO 08-14 14:07:22 [gpu_model_runner.py:6806] Estimated CUDA graph "
      "memory: 0.36 GiB total\n"
      "(Worker_TP1 pid=448) INFO 08-14 14:07:22 [gpu_worker.py:578] CUDA graph memory profiling is "
      "enabled (default since v0.21.0). The current --gpu-memory-utilization=0.8200 is equivalent "
      "to "
      "--gpu-memory-utilization=0.8048 without CUDA graph memory profiling. To maintain the same "
      "effective KV cache size as before, increase --gpu-memory-utilization to 0.8352.\n"
      "(Worker_TP0 pid=447) INFO 08-14 14:07:22 [gpu_model_runner.py:6806] Estimated CUDA graph "
      "memory: 0.36 GiB total\n"
      "(Worker_TP0 pid=447) INFO 08-14 14:07:22 [gpu_worker.py:563] Available KV cache memory: "
      "6.87 "
      "GiB\n");
  EXPECT_EQ(log.engine, LogEngine::vllm);
  expect_gib(log, LogQuantity::cuda_graph_est, 0.36, "TP0");
  expect_gib(log, LogQuantity::cuda_graph_est, 0.36, "TP1");
  expect_gib(log, LogQuantity::kv_cache, 6.87, "TP0");
  EXPECT_EQ(log.flag("gpu_memory_utilization").substr(0, 4), "0.82");
}

// vllm-project/vllm-ascend pull request 8289 (April 2026).
TEST(LogShapes, VllmOnAnotherDeviceNamesItsGraphsOtherwise) {
  const EngineLog log = read_log(
      "(EngineCore pid=2884597) INFO 04-15 06:30:01 [worker.py:575] Free memory on device "
      "(60.86/61.27 GiB) on startup. Desired GPU memory utilization is (0.9, 55.14 GiB). Actual "
      "usage: 1.14 GiB for weights, 0.22 GiB for peak activation, 0.13 GiB for non-torch memory, "
      "0.04 GiB for NPU graph memory. Replace gpu_memory_utilization with "
      "`--kv-cache-memory=57403864576` (53.46 GiB) to fit into requested memory.\n");
  expect_gib(log, LogQuantity::free_at_start, 60.86);
  expect_gib(log, LogQuantity::gpu_total, 61.27);
  expect_gib(log, LogQuantity::usable, 55.14);
  expect_gib(log, LogQuantity::weights, 1.14);
  expect_gib(log, LogQuantity::activation_peak, 0.22);
  expect_gib(log, LogQuantity::non_torch, 0.13);
  expect_gib(log, LogQuantity::cuda_graph, 0.04);
}

// sgl-project/sglang pull request 27537 (June 2026): the cache's type comes before its tokens.
TEST(LogShapes, SglangNamesTheCachesType) {
  const EngineLog log = read_log(
      "[2026-06-08 07:20:53 TP0] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 1106304, K "
      "size: 25.32 GB, V size: 25.32 GB\n"
      "[2026-06-08 07:20:53 TP0] Memory pool end. avail mem=12.05 GB\n"
      "[2026-06-08 07:20:54 TP1] Capture cuda graph begin. This can take up to several minutes. "
      "avail "
      "mem=12.07 GB\n");
  EXPECT_EQ(log.engine, LogEngine::sglang);
  EXPECT_EQ(value_of(log, LogQuantity::kv_tokens, "TP0"), 1106304);
  expect_gib(log, LogQuantity::kv_cache, 50.64, "TP0");
  expect_gib(log, LogQuantity::avail_after_pool, 12.05, "TP0");
}

// sgl-project/sglang pull request 11830 (November 2025, B200), with a progress bar on one line.
TEST(LogShapes, SglangOnOneCardAndItsProgressBar) {
  const EngineLog log = read_log(
      "[2025-11-30 12:50:10] KV Cache is allocated. #tokens: 2243474, K size: 59.91 GB, V size: "
      "59.91 "
      "GB\n"
      "[2025-11-30 12:50:10] Memory pool end. avail mem=40.03 GB\n"
      "Capturing batches (bs=512 avail_mem=39.40 GB):   0%|      | 0/52\rCapturing batches (bs=1 "
      "avail_mem=38.07 GB): 100%|#####| 52/52\n"
      "[2025-11-30 12:50:15] Capture cuda graph end. Time elapsed: 5.37 s. mem usage=1.44 GB. "
      "avail "
      "mem=38.05 GB.\n");
  EXPECT_EQ(value_of(log, LogQuantity::kv_tokens), 2243474);
  expect_gib(log, LogQuantity::avail_after_pool, 40.03);
  expect_gib(log, LogQuantity::cuda_graph, 1.44);
}

// triton-inference-server/tensorrtllm_backend issue 361: TensorRT-LLM 0.8, sizes in bytes.
TEST(LogShapes, TensorrtLlm08CountsBytes) {
  const EngineLog log = read_log(
      "[TensorRT-LLM][INFO] Allocate 14575206400 bytes for k/v cache. \n"
      "[TensorRT-LLM][INFO] Using 35584 total tokens in paged KV cache, and 32 blocks per "
      "sequence\n");
  EXPECT_EQ(log.engine, LogEngine::tensorrt_llm);
  EXPECT_EQ(value_of(log, LogQuantity::kv_cache), 14575206400);
  EXPECT_EQ(value_of(log, LogQuantity::kv_tokens), 35584);
}

// triton-inference-server/tutorials pull request 150 (2026): 116,617 blocks of 32 tokens.
TEST(LogShapes, TensorrtLlmNamesBlocksByWindow) {
  const EngineLog log = read_log(
      "[TensorRT-LLM][INFO] Max KV cache blocks per sequence: 65 [window size=2051], tokens per "
      "block=32, primary blocks=116617, secondary blocks=0\n"
      "[TensorRT-LLM][INFO] Number of tokens per block: 32.\n"
      "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 78.30 GiB for max tokens in paged KV cache "
      "(3731744).\n");
  EXPECT_EQ(value_of(log, LogQuantity::gpu_blocks), 116617);
  EXPECT_EQ(value_of(log, LogQuantity::block_size), 32);
  EXPECT_EQ(value_of(log, LogQuantity::kv_tokens), 116617 * 32);
  expect_gib(log, LogQuantity::kv_cache, 78.30);
}

// SciSharp/LLamaSharp issue 1099: llama.cpp under another program, which puts levels before lines.
TEST(LogShapes, LlamaCppUnderAnotherProgram) {
  const EngineLog log = read_log(
      "[llama Info]: llama_kv_cache_init:      CUDA0 KV buffer size =   144.00 MiB\n"
      "[llama Info]: llama_init_from_model: KV self size  =  144.00 MiB, K (f16):   72.00 MiB, V "
      "(f16):   72.00 MiB\n"
      "[llama Info]: llama_init_from_model:  CUDA_Host  output buffer size =     0.58 MiB\n"
      "[llama Info]: llama_init_from_model:      CUDA0 compute buffer size =   300.75 MiB\n"
      "[llama Info]: llama_init_from_model:  CUDA_Host compute buffer size =    12.01 MiB\n");
  EXPECT_EQ(log.engine, LogEngine::llama_cpp);
  EXPECT_EQ(value_of(log, LogQuantity::kv_cache, "CUDA0"), 144 * kMiB);
  EXPECT_EQ(value_of(log, LogQuantity::compute_buffer, "CUDA0"), 300 * kMiB + 3 * kMiB / 4);
  EXPECT_NEAR(static_cast<double>(value_of(log, LogQuantity::compute_buffer, "CUDA_Host")),
              12.01 * static_cast<double>(kMiB), 2);
}

// ollama issue 12027 (0.11.6) and pull request 11090: its own engine by device.
TEST(LogShapes, OllamasOwnEngineByDevice) {
  const EngineLog log = read_log(
      "time=2025-08-24T08:25:59.100Z level=INFO source=server.go:135 msg=\"system memory\" "
      "total=\"30.9 GiB\" free=\"25.4 GiB\" free_swap=\"2.0 GiB\"\n"
      "time=2025-08-24T08:26:00.310Z level=INFO source=backend.go:310 msg=\"model weights\" "
      "device=CUDA0 size=\"4.1 GiB\"\n"
      "time=2025-08-24T08:26:00.310Z level=INFO source=backend.go:321 msg=\"kv cache\" "
      "device=CUDA0 "
      "size=\"936.0 MiB\"\n"
      "time=2025-08-24T08:26:00.310Z level=INFO source=backend.go:332 msg=\"compute graph\" "
      "device=CUDA0 size=\"98.0 MiB\"\n"
      "time=2025-08-24T08:26:00.310Z level=INFO source=backend.go:337 msg=\"compute graph\" "
      "device=CPU "
      "size=\"8.0 MiB\"\n"
      "time=2025-08-24T08:26:00.310Z level=INFO source=backend.go:342 msg=\"total memory\" "
      "size=\"5.4 "
      "GiB\"\n");
  EXPECT_EQ(log.engine, LogEngine::ollama);
  EXPECT_EQ(value_of(log, LogQuantity::kv_cache, "CUDA0"), 936 * kMiB);
  EXPECT_EQ(value_of(log, LogQuantity::compute_buffer, "CUDA0"), 98 * kMiB);
  EXPECT_EQ(value_of(log, LogQuantity::compute_buffer, "CPU"), 8 * kMiB);
  EXPECT_NEAR(static_cast<double>(value_of(log, LogQuantity::total_memory)),
              5.4 * static_cast<double>(kGiB), 2);
}

}  // namespace
}  // namespace vramgauge
