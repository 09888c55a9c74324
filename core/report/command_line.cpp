#include "report/command_line.h"

#include <algorithm>
#include <optional>

#include "report/command_text.h"
#include "specs/more_gpus.h"
#include "units/checked.h"
#include "units/json.h"

namespace vramgauge {
namespace {

constexpr std::string_view kOn = "on";
constexpr std::string_view kOwnFormat = "auto";
constexpr std::string_view kOllama = "ollama";
constexpr std::string_view kDraft = "draft";
/// How the fields begin that only a draft model has.
constexpr std::string_view kDraftFields = "draft_";

std::optional<CommandEngine> engine_of(std::string_view id, std::string_view launcher) {
  if (launcher == kOllama) return CommandEngine::ollama;
  for (uint64_t i = 0; i < kNumCommandEngines; ++i) {
    const auto engine = static_cast<CommandEngine>(i);
    if (engine_flags(engine).id == id) return engine;
  }
  return std::nullopt;
}

bool is_server(CommandEngine engine) {
  return engine == CommandEngine::vllm || engine == CommandEngine::sglang ||
         engine == CommandEngine::tensorrt_llm;
}

bool is_read_by(const Field& field, std::string_view engine) {
  std::string_view list = field.engines;
  if (list.empty()) return true;
  while (!list.empty()) {
    if (take_part(list, ',') == engine) return true;
  }
  return false;
}

class Writer {
 public:
  Writer(CommandEngine engine, const Scenario& asked)
      : asked_(asked),
        scenario_(asked),
        flags_(engine_flags(engine)),
        text_(engine, asked.program) {
    out_.engine = engine;
  }

  Result<WrittenCommand> write() {
    if (is_server(out_.engine)) {
      if (auto errors = spread_ranks(); !errors.empty()) return fail(std::move(errors));
    } else if (out_.engine == CommandEngine::llama_cpp || out_.engine == CommandEngine::ollama) {
      join_requests();
    }
    for (uint64_t i = 0; i < flags_.num_rows; ++i)
      write_row(flags_.rows[i]);
    list_not_carried();
    out_.lines = text_.lines();
    return std::move(out_);
  }

 private:
  /// Tensor ranks and the longest request as numbers.
  Diagnostics spread_ranks() {
    const bool is_attention_only = scenario_.dp_attention == kOn;
    const auto others =
        (CheckedU64(scenario_.pipeline_stages) * (is_attention_only ? 1 : scenario_.data_ranks))
            .value_or(1);
    if (scenario_.tensor_ranks == 0) {
      if (scenario_.gpu_count % others != 0) {
        return {{ErrorCode::engine_not_divisible,
                 "/scenario/gpu_count",
                 {{"what", "gpu_count"}, {"size", scenario_.gpu_count}, {"ranks", others}},
                 std::nullopt}};
      }
      scenario_.tensor_ranks = scenario_.gpu_count / others;
    }
    const auto used = (CheckedU64(scenario_.tensor_ranks) * others).get();
    // trtllm-serve starts one replica.
    const bool has_replicas = out_.engine != CommandEngine::tensorrt_llm;
    if (used && *used == scenario_.gpu_count && (has_replicas || scenario_.data_ranks == 1))
      carry("gpu_count");
    carry("tensor_ranks");
    if (scenario_.max_model_len == 0) scenario_.max_model_len = scenario_.context_tokens;
    if (scenario_.max_model_len == scenario_.context_tokens) carry("context_tokens");
    if (scenario_.cache_type_v.empty() || scenario_.cache_type_v == scenario_.cache_type_k)
      carry("cache_type_v");
    return {};
  }

  bool is_program(std::string_view name) const { return scenario_.program == name; }

  /// llama.cpp's -c is for all requests together; only its server has several.
  void join_requests() {
    if (scenario_.cache_type_v.empty()) scenario_.cache_type_v = scenario_.cache_type_k;
    if (out_.engine == CommandEngine::ollama) {
      const bool is_as_keys = scenario_.cache_type_v == scenario_.cache_type_k;
      if (is_as_keys) carry("cache_type_v");
      if (is_program("server")) carry("program");
      if (scenario_.kv_unified == "off") carry("kv_unified");
      return;
    }
    carry("program");
    if (!is_program("server")) {
      scenario_.num_requests = 1;
      return;
    }
    const auto all = (CheckedU64(scenario_.context_tokens) * scenario_.num_requests).get();
    scenario_.context_tokens = all.value_or(scenario_.context_tokens);
  }

  void carry(std::string_view key) { carried_.push_back(key); }
  bool is_carried(std::string_view key) const {
    return std::find(carried_.begin(), carried_.end(), key) != carried_.end();
  }

  std::string value_of(const EngineFlag& row) const {
    const Field* field = find_field(row.field);
    return field == nullptr ? std::string() : field_text(scenario_, *field);
  }

  /// The answer depends on these whatever the engine would choose.
  static bool is_needed(std::string_view field) {
    return field == "context_tokens" || field == "max_model_len" || field == "gpu_layers" ||
           field == "num_requests";
  }

  /// Whether a program of llama.cpp has a setting.
  bool has_row(const EngineFlag& row) const {
    if (out_.engine != CommandEngine::llama_cpp) return true;
    const bool is_bench = is_program("bench");
    if (row.form == FlagForm::bench_tokens) return is_bench;
    if (row.field.substr(0, kDraftFields.size()) == kDraftFields &&
        row.form != FlagForm::draft_model)
      return has_draft();
    if (row.field == "num_requests") return is_program("server");
    if (row.field == "kv_unified" || row.field == "swa_full" || row.field == "context_tokens")
      return !is_bench;
    return true;
  }

  void write_row(const EngineFlag& row) {
    if (!has_row(row)) return;
    switch (row.form) {
      case FlagForm::value:
      case FlagForm::words:
      case FlagForm::bytes: return write_value(row);
      case FlagForm::toggle: return write_toggle(row);
      case FlagForm::model: return write_model(row);
      case FlagForm::lora: return write_lora(row);
      case FlagForm::speculative: return write_speculative(row);
      case FlagForm::draft_algorithm: return write_draft_algorithm(row);
      case FlagForm::expert_ranks: return write_expert_ranks(row);
      case FlagForm::devices: return write_devices(row);
      case FlagForm::gpu_layers: return write_gpu_layers(row);
      case FlagForm::bench_tokens: return write_bench_tokens(row);
      case FlagForm::batch_rows: return write_batch_rows(row);
      case FlagForm::images: return write_images(row);
      case FlagForm::draft_kind:
        if (has_draft()) text_.add(flag_name(row, false), "draft-simple");
        return;
      case FlagForm::draft_model: return write_draft_model(row);
      case FlagForm::draft_values: return write_draft_values(row);
      case FlagForm::model_file:
      case FlagForm::all_experts: return;
    }
  }

  void add(const EngineFlag& row, std::string_view value) {
    text_.add(flag_name(row, false), value);
    carry(row.field);
  }

  void write_value(const EngineFlag& row) {
    if (is_carried(row.field) && row.field != "tensor_ranks" && row.field != "context_tokens")
      return;
    const bool has_draft_json = out_.engine == CommandEngine::vllm && row.field == "draft_tokens";
    if (has_draft_json || (row.field == "max_lora_rank" && scenario_.max_loras == 0)) return;
    if (row.field == "draft_tokens" && is_server(out_.engine) && scenario_.speculative == "off")
      return;
    const std::string value = value_of(row);
    const bool is_absent = is_same_name(value, flag_absent_text(row));
    if (is_absent && !is_needed(row.field)) {
      if (row.field != "weight_format") carry(row.field);
      return;
    }
    std::optional<std::string> given = flag_of_field(row, value);
    if (!given || given->empty()) return;
    // llama-bench separates shares by a slash; commas are between tests.
    if (is_program("bench") && row.field == "tensor_split")
      std::replace(given->begin(), given->end(), ',', '/');
    add(row, *given);
  }

  void write_toggle(const EngineFlag& row) {
    if (is_carried(row.field)) return;
    const std::string value = value_of(row);
    if (value == flag_absent_text(row)) return carry(row.field);
    const bool is_off = value != kOn;
    const std::string_view name = flag_name(row, is_off);
    if (name.empty()) return;
    const bool has_value = out_.engine == CommandEngine::llama_cpp && is_program("bench");
    if (has_value) {
      // Its switches are named for what they turn off and have a value.
      text_.add(row.field == "op_offload" ? "-nopo" : name, "1");
    } else {
      text_.add(name, "");
    }
    carry(row.field);
  }

  static std::string gguf_file(const std::string& model, std::string_view format) {
    const std::string_view name = gguf_name_of_format(format);
    return model + (name.empty() ? "" : "-" + std::string(name)) + ".gguf";
  }

  void write_model(const EngineFlag& row) {
    if (row.field.empty()) return;
    const bool is_own = !asked_.model_config.empty();
    std::string name = is_own ? "MODEL" : asked_.model;
    const bool is_gguf =
        out_.engine == CommandEngine::llama_cpp || out_.engine == CommandEngine::ollama;
    if (is_gguf) {
      if (!gguf_name_of_format(asked_.weight_format).empty()) carry("weight_format");
      name = (out_.engine == CommandEngine::ollama ? "./" : "") +
             gguf_file(name, asked_.weight_format);
    } else if (asked_.weight_format == kOwnFormat) {
      carry("weight_format");
    }
    text_.set_model(flag_name(row, false), name);
    if (!is_own) carry(row.field);
  }

  void write_lora(const EngineFlag& row) {
    if (scenario_.max_loras > 0) text_.add(flag_name(row, false), "");
  }

  void write_speculative(const EngineFlag& row) {
    carry("speculative");
    if (scenario_.speculative == "off") return;
    const bool is_eagle = scenario_.speculative == "eagle";
    const bool is_draft = scenario_.speculative == kDraft;
    json::Value config = json::Value::object();
    config.set("method", is_eagle ? "eagle3" : is_draft ? "draft_model" : scenario_.speculative);
    if (is_eagle || is_draft) config.set("model", named_draft());
    if (scenario_.draft_tokens > 0) config.set("num_speculative_tokens", scenario_.draft_tokens);
    text_.add(flag_name(row, false), json::write(config));
    carry("draft_tokens");
  }

  void write_draft_algorithm(const EngineFlag& row) {
    carry(row.field);
    if (scenario_.speculative == "off") return;
    EngineFlag words = row;
    words.form = FlagForm::words;
    const auto name = flag_of_field(words, scenario_.speculative);
    if (!name) return;
    text_.add(flag_name(row, false), *name);
    if (scenario_.speculative != "eagle" && scenario_.speculative != kDraft) return;
    for (uint64_t i = 0; i < flags_.num_rows; ++i) {
      if (flags_.rows[i].form == FlagForm::draft_model)
        text_.add(flag_name(flags_.rows[i], false), named_draft());
    }
  }

  bool has_draft() const { return !scenario_.draft_model.empty(); }

  /// What drafts, by name where it is one of the catalogue's models.
  std::string named_draft() {
    if (scenario_.speculative != kDraft || !has_draft()) return "DRAFT_MODEL";
    carry("draft_model");
    return scenario_.draft_model;
  }

  /// Servers name it beside the way in which it drafts.
  void write_draft_model(const EngineFlag& row) {
    if (out_.engine != CommandEngine::llama_cpp || row.field.empty() || !has_draft()) return;
    const std::string& format =
        scenario_.draft_format.empty() ? scenario_.weight_format : scenario_.draft_format;
    if (!gguf_name_of_format(format).empty() || scenario_.draft_format.empty())
      carry("draft_format");
    add(row, gguf_file(scenario_.draft_model, format));
  }

  void write_draft_values(const EngineFlag& row) {
    EngineFlag words = row;
    words.form = FlagForm::words;
    const auto name = flag_of_field(words, scenario_.draft_cache_type);
    if (name && !is_same_name(scenario_.draft_cache_type, flag_absent_text(row)))
      text_.add(flag_name(row, false), *name);
  }

  void write_images(const EngineFlag& row) {
    carry(row.field);
    const uint64_t images = scenario_.images_per_request;
    if (images == Scenario::kManyImages) return;
    json::Value limits = json::Value::object();
    limits.set("image", images);
    // Without either the tower is not loaded.
    if (images == 0) limits.set("video", images);
    text_.add(flag_name(row, false), json::write(limits));
  }

  void write_expert_ranks(const EngineFlag& row) {
    if (scenario_.expert_parallel != kOn) return carry(row.field);
    if (scenario_.tensor_ranks > 1) add(row, std::to_string(scenario_.tensor_ranks));
  }

  void write_devices(const EngineFlag& row) {
    uint64_t count = scenario_.gpu_count;
    for (const GpuGroup& group :
         parse_more_gpus(scenario_.more_gpus).value_or(std::vector<GpuGroup>()))
      count += group.count;
    // No driver has more, and a list of thousands helps nobody.
    constexpr uint64_t kMaxDevices = 16;
    // A reader takes cards of several kinds for as many of one.
    if (count <= kMaxDevices && count == scenario_.gpu_count) carry(row.field);
    // Shares for several would stand for as many.
    if (count == 1 && scenario_.tensor_split.empty()) return;
    std::string list;
    for (uint64_t i = 0; i < std::min(count, kMaxDevices); ++i) {
      list += list.empty() ? "" : is_program("bench") ? "/" : ",";
      list += "CUDA" + std::to_string(i);
    }
    text_.add(flag_name(row, false), list);
  }

  void write_gpu_layers(const EngineFlag& row) {
    const bool is_draft = row.field == "draft_gpu_layers";
    const uint64_t layers = is_draft ? scenario_.draft_gpu_layers : scenario_.gpu_layers;
    const bool is_all = layers >= Scenario::kAllGpuLayers;
    if (is_all && (is_draft || out_.engine == CommandEngine::ollama)) return carry(row.field);
    add(row, std::to_string(layers));
  }

  /// One test: a prompt of the whole context.
  void write_bench_tokens(const EngineFlag& row) {
    const std::string_view name = flag_name(row, false);
    if (name == "-p") text_.add(name, std::to_string(scenario_.context_tokens));
    if (name == "-n") text_.add(name, "0");
    carry("context_tokens");
  }

  /// Ollama sets both batches at once, or chooses both.
  void write_batch_rows(const EngineFlag& row) {
    if (scenario_.batch_tokens != scenario_.ubatch_tokens) return;
    add(row, std::to_string(scenario_.batch_tokens));
    carry("ubatch_tokens");
  }

  /// What a reader of the command takes a field to be when nothing says it.
  std::string unsaid(const Field& field) const {
    for (uint64_t i = 0; i < flags_.num_rows; ++i) {
      if (flags_.rows[i].field == field.key) return flag_absent_text(flags_.rows[i]);
    }
    return field_text({}, field);
  }

  /// Fields that a reader derives from others, or takes a placeholder for, whatever they are.
  bool is_said_otherwise(std::string_view key) const {
    if (key == "model") return true;
    if (key == "context_tokens") return is_server(out_.engine);
    if (key == "gpu_count") return is_server(out_.engine) || !scenario_.more_gpus.empty();
    return key == "draft_model" && is_server(out_.engine) && scenario_.speculative == kDraft;
  }

  void list_not_carried() {
    for (const Field& field : scenario_fields()) {
      if (field.key == "engine" || !is_read_by(field, flags_.id) || is_carried(field.key)) continue;
      if (is_said_otherwise(field.key) || field_text(asked_, field) != unsaid(field))
        out_.not_carried.push_back(field.key);
    }
    // A file that was read is in its own format already.
    if (!is_carried("weight_format") && asked_.weight_format != kOwnFormat) {
      out_.notes.push_back({ErrorCode::command_needs_checkpoint,
                            "/scenario/weight_format",
                            {{"engine", flags_.id}, {"format", asked_.weight_format.substr(0, 80)}},
                            std::nullopt});
    }
  }

  const Scenario& asked_;
  /// With the engine's own totals in place of the scenario's parts.
  Scenario scenario_;
  const EngineFlags& flags_;
  ShellText text_;
  std::vector<std::string_view> carried_;
  WrittenCommand out_;
};

}  // namespace

Result<WrittenCommand> write_command_line(const Scenario& scenario, std::string_view launcher) {
  const bool is_known = launcher.empty() || (launcher == kOllama && scenario.engine == "llama_cpp");
  if (!is_known) {
    return fail(ErrorCode::value_not_a_choice, "/launcher",
                {{"key", "launcher"}, {"value", launcher.substr(0, 80)}, {"choices", kOllama}});
  }
  const auto engine = engine_of(scenario.engine, launcher);
  if (!engine) {
    return fail(ErrorCode::command_no_program, "/scenario/engine",
                {{"engine", scenario.engine.substr(0, 80)}});
  }
  return Writer(*engine, scenario).write();
}

}  // namespace vramgauge
