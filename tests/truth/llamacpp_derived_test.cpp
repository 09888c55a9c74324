// A model derived from its configuration against the header of its GGUF file, in every
// quantisation: the same weights in every buffer, the same caches.
#include <gtest/gtest.h>

#include <algorithm>

#include <string>

#include "engine/llama_cpp_cache.h"
#include "engine/llama_cpp_derived.h"
#include "engine/llama_cpp_placement.h"
#include "import/hf_config.h"
#include "support/files.h"
#include "support/gguf_files.h"
#include "support/model_pairs.h"

namespace vramgauge {
namespace {

const std::string kPresets = VRAMGAUGE_PRESET_DIR;

json::Value parse_file(const std::string& path) {
  return json::parse(testing::read_file(path)).value();
}

ModelSpec imported(const std::string& preset) {
  static const json::Value defaults = parse_file(kPresets + "/class_defaults.json");
  const json::Value model = parse_file(kPresets + "/models/" + preset + ".json");
  return import_hf_config(*model.find("config"), defaults.find("classes")).value().spec;
}

WeightFormat format_of(const std::string& quant) {
  static const json::Value document = parse_file(kPresets + "/formats.json");
  const std::string id = quant == "BF16"    ? "gguf-BF16"
                         : quant == "MXFP4" ? "gguf-MXFP4_MOE"
                                            : quant;
  for (const json::Value& entry : *document.find("formats")->as_array()) {
    if (*entry.find("id")->as_string() == id) return parse_weight_format(entry).value();
  }
  ADD_FAILURE() << "no format " << id;
  return {};
}

LlamaCppOptions options_of(bool has_gpu) {
  LlamaCppOptions options;
  options.ctx_tokens = 10'000;
  options.n_seq_max = 3;
  if (has_gpu) options.devices = {{"GPU", GiB(1000)}, {"GPU", GiB(500)}};
  return options;
}

void expect_same(const LlamaCppBufferBytes& derived, const LlamaCppBufferBytes& file,
                 const std::string& what) {
  EXPECT_EQ(derived.cpu.get(), file.cpu.get()) << what;
  EXPECT_EQ(derived.cpu_repack.get(), file.cpu_repack.get()) << what;
  EXPECT_EQ(derived.pinned.get(), file.pinned.get()) << what;
  for (size_t i = 0; i < file.gpus.size(); ++i)
    EXPECT_EQ(derived.gpus.at(i).get(), file.gpus[i].get()) << what << " GPU " << i;
}

LlamaCppStored stored_of(const LlamaCppModel& model, bool has_gpu) {
  const LlamaCppOptions options = options_of(has_gpu);
  return llama_cpp_stored(model, llama_cpp_context(model, options).value(),
                          llama_cpp_placement(model, options).value(), options.devices.size());
}

class LlamaCppDerived : public ::testing::TestWithParam<test::ModelPair> {};

TEST_P(LlamaCppDerived, BuffersAreThoseOfTheFile) {
  const ModelSpec spec = imported(GetParam().preset);
  uint64_t num_files = 0;
  for (const char* quant : {"F16", "BF16", "Q8_0", "Q4_K_M", "Q4_0", "MXFP4"}) {
    const std::string name = std::string(GetParam().file) + "." + quant;
    const auto names = testing::gguf_names();
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    ++num_files;
    const LlamaCppModel file = llama_cpp_model(testing::gguf_header(name)).value();
    const LlamaCppModel derived = llama_cpp_model(spec, format_of(quant)).value();
    EXPECT_EQ(derived.architecture, file.architecture);
    for (const bool has_gpu : {false, true}) {
      const LlamaCppStored of_file = stored_of(file, has_gpu);
      const LlamaCppStored of_spec = stored_of(derived, has_gpu);
      expect_same(of_spec.weights, of_file.weights, name + " weights");
      expect_same(of_spec.kv_full, of_file.kv_full, name + " cache");
      expect_same(of_spec.kv_windowed, of_file.kv_windowed, name + " windows");
      expect_same(of_spec.indexer, of_file.indexer, name + " index keys");
      expect_same(of_spec.state, of_file.state, name + " states");
      expect_same(of_spec.output, of_file.output, name + " output");
    }
  }
  EXPECT_GE(num_files, 3U);
}

INSTANTIATE_TEST_SUITE_P(Models, LlamaCppDerived, ::testing::ValuesIn(test::kModelPairs),
                         test::model_pair_name);

}  // namespace
}  // namespace vramgauge
