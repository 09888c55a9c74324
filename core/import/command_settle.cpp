#include "import/command_settle.h"

#include <algorithm>
#include <optional>

#include "units/checked.h"
#include "units/json.h"

namespace vramgauge {
namespace {

constexpr std::string_view kOn = "on";
/// Requests that llama.cpp's server keeps when it is not told; they share the cells
/// (tools/server/README.md, -np).
constexpr uint64_t kServerSlots = 4;
/// llama-bench's tests when it is not told (tools/llama-bench/README.md).
constexpr uint64_t kBenchPrompt = 512;
constexpr uint64_t kBenchGenerated = 128;
constexpr uint64_t kBenchLayers = 99;

/// Adapters at once when the engine is not told (vllm/config/lora.py; SGLang's server_args.py).
constexpr uint64_t kVllmLoras = 1;
constexpr uint64_t kSglangLoras = 8;

/// A whole number of llama-bench, or the largest of a list.
std::optional<uint64_t> largest(std::string_view list) {
  std::optional<uint64_t> most;
  while (!list.empty()) {
    const auto number = flag_count(take_part(list, ','), false);
    if (!number) return std::nullopt;
    most = std::max(most.value_or(0), *number);
  }
  return most;
}

class Settler {
 public:
  Settler(ParsedCommand& command, const std::vector<CommandSetting>& settings)
      : command_(command),
        scenario_(command.scenario),
        flags_(engine_flags(command.engine)),
        settings_(settings) {}

  void settle() {
    start_from_absent();
    for (uint64_t i = 0; i < flags_.num_rows; ++i)
      apply_row(flags_.rows[i]);
    switch (command_.engine) {
      case CommandEngine::llama_cpp: settle_llama_cpp(); break;
      case CommandEngine::ollama: settle_ollama(); break;
      case CommandEngine::transformers: break;
      default: settle_server();
    }
    settle_format();
  }

 private:
  /// Fields that are left to the engine, and so to the user, where nothing is said.
  static bool is_free(std::string_view field) {
    for (const std::string_view free :
         {"model", "context_tokens", "max_model_len", "gpu_layers", "gpu_count"}) {
      if (field == free) return true;
    }
    return false;
  }

  void start_from_absent() {
    for (uint64_t i = 0; i < flags_.num_rows; ++i) {
      const EngineFlag& row = flags_.rows[i];
      const Field* field = find_field(row.field);
      if (field == nullptr || is_free(row.field) || row.form == FlagForm::batch_rows) continue;
      if (!set_field_text(scenario_, *field, flag_absent_text(row))) continue;
      know(field->key);
    }
  }

  void know(std::string_view key) {
    auto& fields = command_.fields;
    if (std::find(fields.begin(), fields.end(), key) == fields.end()) fields.push_back(key);
  }

  void skip(const CommandSetting& setting) {
    command_.warnings.push_back({ErrorCode::command_value_skipped,
                                 "/text",
                                 {{"flag", setting.flag}, {"value", setting.value.substr(0, 80)}},
                                 std::nullopt});
  }

  bool set(std::string_view key, std::string_view text) {
    const Field* field = find_field(key);
    if (field == nullptr || !set_field_text(scenario_, *field, text)) return false;
    know(field->key);
    return true;
  }

  bool set(std::string_view key, uint64_t number) { return set(key, std::to_string(number)); }

  void apply_row(const EngineFlag& row) {
    for (const CommandSetting& setting : settings_) {
      if (setting.row == &row && !apply(row, setting)) skip(setting);
    }
  }

  bool apply(const EngineFlag& row, const CommandSetting& setting) {
    switch (row.form) {
      case FlagForm::value:
      case FlagForm::words:
      case FlagForm::bytes: return apply_value(row, setting);
      case FlagForm::toggle: return apply_toggle(row, setting);
      case FlagForm::model: return apply_model(setting);
      case FlagForm::model_file: return apply_model_file(setting);
      case FlagForm::lora: return has_lora_ = true;
      case FlagForm::speculative: return apply_speculative(setting);
      case FlagForm::draft_algorithm: return apply_draft_algorithm(row, setting);
      case FlagForm::draft_model: return apply_draft_model(setting);
      case FlagForm::draft_kind: return apply_draft_kind(setting);
      case FlagForm::draft_values: return apply_draft_values(row, setting);
      case FlagForm::images: return apply_images(setting);
      case FlagForm::expert_ranks: return apply_expert_ranks(setting);
      case FlagForm::devices: return apply_devices(setting);
      case FlagForm::all_experts: return set("cpu_moe_layers", Scenario::kAllGpuLayers);
      case FlagForm::gpu_layers: return apply_gpu_layers(row, setting);
      case FlagForm::bench_tokens: return apply_bench_tokens(row, setting);
      case FlagForm::batch_rows:
        return set("batch_tokens", setting.value) && set("ubatch_tokens", setting.value);
    }
    return false;
  }

  bool is_bench() const { return command_.program == "llama-bench"; }

  bool apply_value(const EngineFlag& row, const CommandSetting& setting) {
    std::string given = setting.value;
    if (row.field == "tensor_split") std::replace(given.begin(), given.end(), '/', ',');
    const bool is_list = is_bench() && row.form == FlagForm::value && row.field != "tensor_split" &&
                         row.field != "override_tensors";
    if (is_list) given = std::to_string(largest(given).value_or(0));
    // Zero stands for "as the model has it", a negative number for "as the engine likes".
    const bool is_automatic =
        given == "-1" || given == "auto" || (given == "0" && is_free(row.field));
    if (row.form == FlagForm::value && is_automatic) return true;
    if (row.field == "context_tokens" && command_.engine == CommandEngine::llama_cpp) {
      // Of all requests together, so it may be more than one can have.
      total_context_ = flag_count(given, false).value_or(0);
      return total_context_ > 0;
    }
    const auto text = field_of_flag(flags_, row, given);
    if (!text) return false;
    if (row.field == "override_tensors" && !scenario_.override_tensors.empty())
      return set(row.field, scenario_.override_tensors + "," + *text);
    if (row.field == "num_requests") has_requests_ = true;
    return set(row.field, *text);
  }

  bool apply_toggle(const EngineFlag& row, const CommandSetting& setting) {
    const auto text = field_of_flag(flags_, row, setting.value);
    if (!text) return false;
    const bool is_on = (*text == kOn) != setting.is_negated;
    return set(row.field, is_on ? "on" : "off");
  }

  bool apply_model(const CommandSetting& setting) {
    if (setting.value.empty()) return false;
    command_.model = command_.engine == CommandEngine::ollama ? ollama_model_name(setting.value)
                                                              : model_name(setting.value);
    return true;
  }

  bool apply_model_file(const CommandSetting& setting) {
    command_.model = model_name(command_.model.text + "/" + setting.value);
    return true;
  }

  /// A method's name as the scenario has it; empty for one that it does not have.
  static std::string_view method_of(std::string_view text, bool has_draft_model) {
    const auto has = [text](std::string_view part) {
      return text.find(part) != std::string_view::npos;
    };
    if (has("mtp") || has("nextn") || has("NEXTN") || has("MTP")) return "mtp";
    if (has("ngram") || has("NGRAM") || has("NGram")) return "ngram";
    if (has("eagle") || has("EAGLE3") || has("Eagle")) return "eagle";
    // SGLang names a model's own draft layers EAGLE as well.
    if (has("EAGLE")) return has_draft_model ? "eagle" : "mtp";
    if (has("STANDALONE") || has("Draft") || has("draft_model")) return "draft";
    return {};
  }

  static std::string text_of(const json::Value& config, std::string_view key) {
    const json::Value* found = config.find(key);
    return found == nullptr || found->as_string() == nullptr ? std::string() : *found->as_string();
  }

  bool apply_speculative(const CommandSetting& setting) {
    const Result<json::Value> config = json::parse(setting.value);
    if (!config || config->as_object() == nullptr) return false;
    const std::string method = text_of(*config, "method");
    const std::string model = text_of(*config, "model");
    std::string_view known = method_of(method.empty() ? model : method, true);
    // A model without a method drafts by itself (config/speculative.py, __post_init__).
    if (known.empty() && method.empty() && !model.empty()) known = "draft";
    if (known.empty()) {
      list_not_modelled(setting);
      return true;
    }
    if (!model.empty()) command_.draft = model_name(model);
    const json::Value* tokens = config->find("num_speculative_tokens");
    const auto count = tokens == nullptr ? std::nullopt : tokens->as_u64();
    if (count && !set("draft_tokens", *count)) return false;
    return set("speculative", known);
  }

  bool apply_draft_algorithm(const EngineFlag& row, const CommandSetting& setting) {
    const bool has_model = std::any_of(
        settings_.begin(), settings_.end(),
        [](const CommandSetting& other) { return other.row->form == FlagForm::draft_model; });
    const std::string_view method = method_of(setting.value, has_model);
    if (method.empty()) {
      list_not_modelled(setting);
      return true;
    }
    return set(row.field, method);
  }

  bool apply_expert_ranks(const CommandSetting& setting) {
    const auto ranks = flag_count(setting.value, false);
    if (!ranks) return false;
    expert_ranks_ = *ranks;
    return set("expert_parallel", *ranks > 1 ? "on" : "off");
  }

  bool apply_devices(const CommandSetting& setting) {
    if (setting.value == "none") return set("gpu_layers", 0);
    if (setting.value.empty()) return false;
    uint64_t count = 0;
    for (std::string_view rest = setting.value; !rest.empty(); ++count)
      take_part(rest, is_bench() ? '/' : ',');
    return set("gpu_count", count);
  }

  bool apply_gpu_layers(const EngineFlag& row, const CommandSetting& setting) {
    if (setting.value == "auto" || setting.value == "-1") return true;
    if (setting.value == "all") return set(row.field, Scenario::kAllGpuLayers);
    const auto layers = largest(setting.value);
    if (!layers) return false;
    return set(row.field, std::min(*layers, Scenario::kAllGpuLayers));
  }

  bool apply_draft_model(const CommandSetting& setting) {
    if (setting.value.empty()) return false;
    command_.draft = model_name(setting.value);
    return true;
  }

  /// Only a model of its own is modelled; its architecture says which kind of drafting it does.
  bool apply_draft_kind(const CommandSetting& setting) {
    if (setting.value != "none" && setting.value != "draft-simple") list_not_modelled(setting);
    return true;
  }

  bool apply_draft_values(const EngineFlag& row, const CommandSetting& setting) {
    EngineFlag words = row;
    words.form = FlagForm::words;
    const auto type = field_of_flag(flags_, words, setting.value);
    if (!type) return false;
    has_draft_values_ = true;
    if (*type != scenario_.draft_cache_type) list_not_modelled(setting);
    return true;
  }

  /// '{"image":2,"video":0}', or image=2,video=0 as it was written once
  /// (vllm/engine/arg_utils.py, config/multimodal.py: a limit may be an object with a count).
  bool apply_images(const CommandSetting& setting) {
    const auto images = limit_of(setting.value, "image");
    if (!images) return false;
    // A tower stays while it may be given videos.
    const bool is_partial = *images == 0 && limit_of(setting.value, "video") != uint64_t{0};
    if (is_partial) list_not_modelled(setting);
    return is_partial || set("images_per_request", std::min(*images, Scenario::kManyImages));
  }

  static std::optional<uint64_t> limit_of(std::string_view text, std::string_view modality) {
    const Result<json::Value> limits = json::parse(text);
    if (limits && limits->as_object() != nullptr) {
      const json::Value* limit = limits->find(modality);
      if (limit == nullptr) return Scenario::kManyImages;
      const json::Value* inner = limit->find("count");
      return (inner == nullptr ? limit : inner)->as_u64();
    }
    std::optional<uint64_t> count;
    while (!text.empty()) {
      std::string_view limit = take_part(text, ',');
      if (take_part(limit, '=') == modality) count = flag_count(limit, false);
    }
    return count;
  }

  void list_not_modelled(const CommandSetting& setting) {
    constexpr std::size_t kMaxBytes = 200;
    command_.not_modelled.push_back({setting.flag, setting.value.substr(0, kMaxBytes)});
  }

  bool apply_bench_tokens(const EngineFlag& row, const CommandSetting& setting) {
    const std::string_view name = flag_name(row, false);
    if (name == "-pg") {
      std::string_view rest = setting.value;
      const auto prompt = flag_count(take_part(rest, ','), false);
      const auto generated = flag_count(rest, false);
      if (!prompt || !generated) return false;
      bench_both_ = std::max(bench_both_, *prompt + *generated);
      return *prompt <= UINT32_MAX && *generated <= UINT32_MAX;
    }
    const auto tokens = largest(setting.value);
    if (!tokens || *tokens > UINT32_MAX) return false;
    uint64_t& test = name == "-p" ? bench_prompt_ : name == "-n" ? bench_generated_ : bench_depth_;
    test = *tokens;
    return true;
  }

  void settle_server() {
    // With data-parallel attention the replicas of attention are among the tensor ranks.
    const bool is_attention_only = scenario_.dp_attention == kOn;
    const CheckedU64 gpus = CheckedU64(scenario_.tensor_ranks) * scenario_.pipeline_stages *
                            (is_attention_only ? 1 : scenario_.data_ranks);
    set("gpu_count", gpus.value_or(0));
    set("cache_type_v", "");
    // Of heads that draft no catalogue knows.
    if (scenario_.speculative != "draft") command_.draft = {};
    if (scenario_.max_model_len > 0) set("context_tokens", scenario_.max_model_len);
    if (command_.engine == CommandEngine::vllm) settle_lora(kVllmLoras);
    if (command_.engine == CommandEngine::sglang) settle_lora(kSglangLoras);
    const bool is_partial = expert_ranks_ > 1 && expert_ranks_ != scenario_.tensor_ranks;
    if (is_partial)
      command_.not_modelled.push_back({"expert parallel ranks", std::to_string(expert_ranks_)});
  }

  void settle_lora(uint64_t usual_loras) {
    if (!has_lora_) {
      set("max_loras", 0);
    } else if (scenario_.max_loras == 0) {
      set("max_loras", usual_loras);
    }
  }

  bool knows(std::string_view key) const {
    const auto& fields = command_.fields;
    return std::find(fields.begin(), fields.end(), key) != fields.end();
  }

  void settle_llama_cpp() {
    const bool is_server =
        command_.program.find("server") != std::string::npos || command_.program.empty();
    set("program", is_bench() ? "bench" : is_server ? "server" : "api");
    if (is_bench()) settle_bench();
    if (is_server && !has_requests_) {
      set("num_requests", kServerSlots);
      set("kv_unified", kOn);
      command_.warnings.push_back(
          {ErrorCode::command_shared_slots, "/text", {{"slots", kServerSlots}}, std::nullopt});
    }
    if (total_context_ > 0)
      set("context_tokens", std::max<uint64_t>(1, total_context_ / scenario_.num_requests));
    if (!scenario_.tensor_split.empty() && !knows("gpu_count")) {
      uint64_t count = 0;
      for (std::string_view rest = scenario_.tensor_split; !rest.empty(); ++count)
        take_part(rest, ',');
      set("gpu_count", count);
    }
    // All GPUs that the command counts.
    if (knows("gpu_count")) set("more_gpus", "");
    settle_draft();
  }

  void settle_draft() {
    const std::string& format = command_.draft.weight_format;
    set("draft_format", format == command_.model.weight_format ? std::string() : format);
    if (scenario_.draft_cache_type != Scenario().draft_cache_type && !has_draft_values_)
      command_.not_modelled.push_back({"-ctvd", "f16"});
  }

  void settle_bench() {
    const uint64_t longest = std::max({bench_prompt_, bench_generated_, bench_both_});
    set("context_tokens", std::max<uint64_t>(1, longest + bench_depth_));
    if (!knows("gpu_layers")) set("gpu_layers", kBenchLayers);
  }

  /// Each request has the whole context, and values are stored as keys are.
  void settle_ollama() {
    set("program", "server");
    set("kv_unified", "off");
    set("cache_type_v", "");
  }

  void settle_format() {
    const ModelName& model = command_.model;
    const bool is_llama_cpp = flags_.id == engine_flags(CommandEngine::llama_cpp).id;
    if (!is_llama_cpp && !model.is_gguf) return;
    if (!model.weight_format.empty()) {
      set("weight_format", model.weight_format);
      return;
    }
    auto& fields = command_.fields;
    fields.erase(std::remove(fields.begin(), fields.end(), "weight_format"), fields.end());
    if (model.text.empty()) return;
    command_.warnings.push_back({ErrorCode::command_format_unknown,
                                 "/text",
                                 {{"model", model.text.substr(0, 80)}},
                                 std::nullopt});
  }

  ParsedCommand& command_;
  Scenario& scenario_;
  const EngineFlags& flags_;
  const std::vector<CommandSetting>& settings_;
  bool has_lora_ = false;
  bool has_draft_values_ = false;
  bool has_requests_ = false;
  uint64_t total_context_ = 0;
  uint64_t expert_ranks_ = 0;
  uint64_t bench_prompt_ = kBenchPrompt;
  uint64_t bench_generated_ = kBenchGenerated;
  uint64_t bench_depth_ = 0;
  uint64_t bench_both_ = 0;
};

}  // namespace

void settle_command(ParsedCommand& command, const std::vector<CommandSetting>& settings) {
  Settler(command, settings).settle();
}

}  // namespace vramgauge
