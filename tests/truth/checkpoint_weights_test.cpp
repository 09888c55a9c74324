// Sizes of quantised checkpoints, from their configurations alone, against published file sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "import/quantization_config.h"
#include "model/checkpoint_format.h"
#include "model/checkpoint_resolve.h"
#include "model/weights.h"
#include "models.h"
#include "support/files.h"

namespace vramgauge::test {
namespace {

constexpr double kGib = 1073741824.0;

struct Checkpoint {
  json::Value preset;
  ModelSpec spec;
};

Checkpoint load(const std::string& slug) {
  Checkpoint checkpoint;
  checkpoint.preset = read_json(std::string(VRAMGAUGE_PRESET_DIR "/models/") + slug + ".json");
  auto model = import_hf_config(*checkpoint.preset.find("config"), &class_defaults());
  if (!model) throw std::runtime_error(slug + ": " + first_message(model.error()));
  checkpoint.spec = std::move(model->spec);
  return checkpoint;
}

Result<FormattedWeights> weights_of(const ModelSpec& spec, const QuantizationConfig& quantization,
                                    Drafts drafts) {
  const std::vector<WeightTensor> tensors = weight_tensors(spec);
  return format_resolved(tensors, spec, resolve_quantization(tensors, spec, quantization), drafts);
}

std::optional<QuantizationConfig> quantization_of(const json::Value& preset) {
  auto read = read_quantization(*preset.find("config"), preset.find("quant_config"));
  if (!read) throw std::runtime_error(first_message(read.error()));
  return std::move(*read);
}

uint64_t bytes_of_checkpoint(const ModelSpec& spec, const QuantizationConfig& quantization,
                             Drafts drafts) {
  const auto result = weights_of(spec, quantization, drafts);
  if (!result) throw std::runtime_error(first_message(result.error()));
  return result->total.count();
}

/// Every quantised preset is read, but one whose list of layers is not in its file.
TEST(CheckpointWeights, EveryQuantisedPresetHasASize) {
  uint64_t sized = 0;
  std::vector<std::string> refused;
  std::vector<std::string> warned;
  for (const std::string& name : testing::names_in(VRAMGAUGE_PRESET_DIR "/models", ".json")) {
    const std::string slug = name.substr(0, name.size() - 5);
    const json::Value preset = read_json(std::string(VRAMGAUGE_PRESET_DIR "/models/") + name);
    const auto read = read_quantization(*preset.find("config"), preset.find("quant_config"));
    if (read && !*read) continue;
    if (!read) {
      refused.push_back(slug);
      continue;
    }
    const Checkpoint checkpoint = load(slug);
    const auto result = weights_of(checkpoint.spec, **read, Drafts::counted);
    ASSERT_TRUE(result.has_value()) << slug << ": " << first_message(result.error());
    ++sized;
    if (!result->warnings.empty()) warned.push_back(slug);
  }
  EXPECT_EQ(refused, std::vector<std::string>{"nvidia__MiniMax-M3-NVFP4"});
  // These four give only the name of the format.
  EXPECT_EQ(warned, (std::vector<std::string>{"nvidia__NVIDIA-Nemotron-3-Super-120B-A12B-FP8",
                                              "nvidia__NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4",
                                              "nvidia__NVIDIA-Nemotron-3-Ultra-550B-A55B-FP8",
                                              "nvidia__NVIDIA-Nemotron-3-Ultra-550B-A55B-NVFP4"}));
  EXPECT_EQ(sized, 66U);
}

/// total_size of model.safetensors.index.json, to the byte.
TEST(CheckpointWeights, IndexTotal) {
  uint64_t judged = 0;
  for (const std::string& name : testing::names_in(VRAMGAUGE_PRESET_DIR "/models", ".json")) {
    const json::Value preset = read_json(std::string(VRAMGAUGE_PRESET_DIR "/models/") + name);
    const json::Value* total = preset.find("safetensors_total_size_bytes");
    if (total == nullptr) continue;
    const auto quantization = quantization_of(preset);
    if (!quantization) continue;
    ++judged;
    const Checkpoint checkpoint = load(name.substr(0, name.size() - 5));
    EXPECT_EQ(bytes_of_checkpoint(checkpoint.spec, *quantization, Drafts::counted),
              total->as_u64().value_or(0))
        << name;
  }
  EXPECT_GE(judged, 1U);
}

std::vector<std::string> split_csv(const std::string& line) {
  std::vector<std::string> cells(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

/// GiB of weight files by hub id, for rows that name a quantisation.
std::map<std::string, double> published_file_sizes() {
  std::istringstream text(testing::read_file(VRAMGAUGE_TEST_DIR "/data/models.csv"));
  std::string line;
  std::getline(text, line);
  const std::vector<std::string> keys = split_csv(line);
  std::map<std::string, double> sizes;
  while (std::getline(text, line)) {
    const std::vector<std::string> cells = split_csv(line);
    std::map<std::string, std::string> row;
    for (size_t i = 0; i < keys.size() && i < cells.size(); ++i)
      row[keys[i]] = cells[i];
    const std::string& size = row["repo_weight_files_kaito"];
    if (size.empty() || row["quant_method"].empty()) continue;
    sizes[row["hf_id"]] = std::stod(size);
  }
  return sizes;
}

std::string slug_of(std::string id) {
  const auto slash = id.find('/');
  return id.replace(slash, 1, "__");
}

/// Files of a repository, in GiB of two decimals, within 0.1 %.
TEST(CheckpointWeights, RepositoryFiles) {
  // Why a row is not the size of the checkpoint that its configuration describes.
  const std::map<std::string, std::string> explained = {
      {"openai/gpt-oss-20b", "the repository holds the weights twice"},
      {"openai/gpt-oss-120b", "the repository holds the weights twice"},
      {"mistralai/Mistral-Medium-3.5-128B",
       "its configuration is reconstructed, the tower not verified"},
      {"mistralai/Mistral-Small-4-119B-2603", "its configuration has no vision tower"},
      {"nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-NVFP4", "its list of layers is not known"},
      {"RedHatAI/Llama-3.3-70B-Instruct-fp8-dynamic", "the size is that of the 16-bit model"},
      {"RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16",
       "the size is that of the 16-bit model"},
  };
  uint64_t judged = 0;
  for (const auto& [id, published] : published_file_sizes()) {
    const Checkpoint checkpoint = load(slug_of(id));
    const auto quantization = quantization_of(checkpoint.preset);
    ASSERT_TRUE(quantization.has_value()) << id;
    const double size =
        static_cast<double>(bytes_of_checkpoint(checkpoint.spec, *quantization, Drafts::counted)) /
        kGib;
    const double error = size / published - 1;
    std::printf("%-52s %8.2f GiB published, %8.2f derived, %+7.3f %%\n", id.c_str(), published,
                size, 100 * error);
    EXPECT_EQ(std::abs(error) > 0.001, explained.count(id) != 0) << id;
    if (explained.count(id) == 0) ++judged;
  }
  EXPECT_EQ(judged, 8U);
}

}  // namespace
}  // namespace vramgauge::test
