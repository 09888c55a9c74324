#include "engine/llama_cpp_derived.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "import/gguf_architectures.h"
#include "model/gguf_mix_tensors.h"
#include "model/weights.h"
#include "specs/model_traits.h"

namespace vramgauge {
namespace {

struct Conversion {
  std::string_view model_type;
  std::string_view architecture;
};

/// Model types that share the architecture of another one (convert_hf_to_gguf.py); the others are
/// in the list of architectures.
constexpr Conversion kConversions[] = {
    {"mistral", "llama"},
    {"mixtral", "llama"},
    {"deepseek_v2", "deepseek2"},
    {"kimi_k2", "deepseek2"},
    {"glm4_moe_lite", "deepseek2"},
    {"olmo3", "olmo2"},
    {"falcon_mamba", "mamba"},
    {"qwen2_5_vl", "qwen2vl"},
    {"glm4v_text", "glm4"},
    {"glm4v_moe_text", "glm4moe"},
    {"glm", "chatglm"},
    {"internlm3", "llama"},
    {"stablelm_epoch", "stablelm"},
};

/// Tensors outside the layers whose place hangs on their name in the file.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"model.norm", "output_norm.weight"},
    {"model.norm.bias", "output_norm.bias"},
    {"lm_head.bias", "output.bias"},
    {"model.altup_projections.", "altup_proj.weight"},
    {"model.altup_unembed_projections.", "altup_unembd_proj.weight"},
};

/// The file's name; what ends in a dot above stands for all that begins so.
std::string name_in_file(const std::string& name) {
  for (const auto& [listed, in_file] : kNames) {
    const bool is_prefix = listed.back() == '.';
    if (is_prefix ? name.rfind(listed, 0) == 0 : name == listed) return std::string(in_file);
  }
  return name;
}

/// The converter keeps layers that predict further tokens in these families' files.
bool keeps_tail(std::string_view architecture) { return architecture == "glm4moe"; }

/// The converter of this family leaves the experts' gates and up projections in one tensor.
bool fuses_experts(std::string_view architecture) { return architecture == "gemma4"; }

/// Puts "ffn_up_exps" of a layer behind "ffn_gate_exps" in one tensor "ffn_gate_up_exps".
void fuse_experts(std::vector<LlamaCppTensor>& tensors) {
  constexpr std::string_view kGate = "ffn_gate_exps.";
  for (LlamaCppTensor& gate : tensors) {
    const size_t at = gate.name.find(kGate);
    if (at == std::string::npos) continue;
    const std::string layer = gate.name.substr(0, at);
    const auto up = std::find_if(tensors.begin(), tensors.end(), [&layer](const auto& tensor) {
      return tensor.name == layer + "ffn_up_exps.weight";
    });
    if (up == tensors.end() || up->type != gate.type) continue;
    gate.name = layer + "ffn_gate_up_exps.weight";
    gate.dims[1] += up->dims[1];
    up->name.clear();
  }
  tensors.erase(std::remove_if(tensors.begin(), tensors.end(),
                               [](const auto& tensor) { return tensor.name.empty(); }),
                tensors.end());
}

Result<std::vector<GgufChoice>> types_of(const std::vector<GgufTensor>& listed,
                                         const ModelSpec& spec, const WeightFormat& format) {
  if (!format.layout)
    return fail(ErrorCode::format_refused, "",
                {{"id", format.id}, {"reason", format.refused.value_or("")}});
  const GgufFacts facts = gguf_facts(spec);
  if (const auto* mix = std::get_if<GgufMixLayout>(&*format.layout))
    return choose_gguf_types(mix->mix, facts, listed);
  if (const auto* block = std::get_if<GgufBlockLayout>(&*format.layout))
    return choose_pure_gguf_types(block->type, facts.wide, listed);
  return fail(ErrorCode::format_refused, "",
              {{"id", format.id}, {"reason", "llama.cpp reads GGUF files only"}});
}

}  // namespace

std::string_view llama_cpp_architecture(const ModelSpec& spec) {
  if (spec.model_type == "nemotron_h" && has_experts(spec)) return "nemotron_h_moe";
  const auto* found =
      std::find_if(std::begin(kConversions), std::end(kConversions),
                   [&spec](const Conversion& row) { return row.model_type == spec.model_type; });
  if (found != std::end(kConversions)) return found->architecture;
  const gguf::Architecture* row = gguf::find_architecture_of(spec.model_type);
  return row == nullptr ? std::string_view() : row->name;
}

Result<LlamaCppModel> llama_cpp_model(const ModelSpec& spec, const WeightFormat& format) {
  const std::string_view architecture = llama_cpp_architecture(spec);
  if (architecture.empty()) {
    return fail(ErrorCode::model_unsupported, "",
                {{"what", "The GGUF file"},
                 {"reason", "no converter of llama.cpp is known for " + spec.model_type}});
  }
  const std::vector<GgufTensor> listed = gguf_tensors(weight_tensors(spec), spec);
  auto types = types_of(listed, spec, format);
  if (!types) return fail(std::move(types.error()));
  std::vector<LlamaCppTensor> tensors;
  for (size_t i = 0; i < listed.size(); ++i)
    tensors.push_back({name_in_file(listed[i].name), listed[i].dims, (*types)[i].type});
  if (fuses_experts(architecture)) fuse_experts(tensors);
  ModelSpec loaded = spec;
  if (!keeps_tail(architecture)) loaded.mtp_layers.clear();
  return llama_cpp_model(std::string(architecture), std::move(loaded), std::move(tensors));
}

}  // namespace vramgauge
