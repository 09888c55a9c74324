// Settings on the command lines of engines, in one table per engine: how each is spelled, the
// scenario field it is, and how a value is written. What writes command lines and what reads them
// use the same rows, so that they cannot disagree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vramgauge {

/// Programs whose settings are known. Ollama starts llama.cpp.
enum class CommandEngine : uint8_t { vllm, sglang, tensorrt_llm, llama_cpp, ollama, transformers };
inline constexpr uint64_t kNumCommandEngines = 6;

/// How a setting's value is the value of its field.
enum class FlagForm : uint8_t {
  value,   ///< as it is; whole numbers in the engine's own notation
  toggle,  ///< on or off, by the spelling
  words,   ///< one word for another (EngineFlag::words)
  bytes,   ///< a number of bytes where the field has GiB
  // Computed, or of several fields:
  model,            ///< a model, and perhaps its format
  model_file,       ///< a file of a model that another setting names
  lora,             ///< vLLM's --enable-lora
  speculative,      ///< vLLM's JSON
  draft_algorithm,  ///< SGLang's and TensorRT-LLM's names of speculative decoding
  draft_model,      ///< a model that drafts
  draft_kind,       ///< llama.cpp's names of speculative decoding
  draft_values,     ///< the type of a draft's values, which the scenario has as that of its keys
  images,           ///< vLLM's limits of inputs per request
  expert_ranks,     ///< ranks over which experts are dealt out
  devices,          ///< llama.cpp's list of GPUs
  all_experts,      ///< llama.cpp's --cpu-moe
  gpu_layers,       ///< llama.cpp's and Ollama's number of layers, or a word
  bench_tokens,     ///< tokens of one of llama-bench's tests
  batch_rows,       ///< Ollama's num_batch, both of llama.cpp's batches
};

/// One setting.
struct EngineFlag {
  /// All spellings, separated by blanks; the first of a kind is written. Kinds: "-x" and "--x" on
  /// the command line; "!--x" the same for off; "$X" in the environment; "@x" a parameter of a
  /// Modelfile; "%a.b" a key of TensorRT-LLM's file of options.
  std::string_view names;
  FlagForm form = FlagForm::value;
  /// Key of the scenario's field; empty where the form knows.
  std::string_view field;
  /// Pairs "field=flag" separated by blanks; "field<flag" is only read.
  std::string_view words;
  /// The field's text where the setting is absent, when it is not the scenario's own default.
  std::string_view absent;
};

/// Everything that is known of one program's settings.
struct EngineFlags {
  CommandEngine engine = CommandEngine::vllm;
  /// Id of the scenario's engine.
  std::string_view id;
  const EngineFlag* rows = nullptr;
  uint64_t num_rows = 0;
  /// Settings that have to do with memory but with no field, and settings that do not have to do
  /// with it: names without dashes, separated by blanks. "name=" takes a value, "name*" several,
  /// "name?" perhaps one. A name that ends in "..." stands for all that begin like it.
  std::string_view not_modelled;
  std::string_view ignored;
  /// argparse: a name may be cut short while it is unambiguous.
  bool takes_prefixes = false;
  /// 8k is 8000 and 8K is 8192 (vllm/engine/arg_utils.py, human_readable_int).
  bool takes_suffixes = false;
};

const EngineFlags& engine_flags(CommandEngine engine);

/// How many values follow a name.
enum class FlagArity : uint8_t { none, one, optional, many };

/// What a name is.
struct FlagMatch {
  enum class Kind : uint8_t { row, not_modelled, ignored, unknown };

  Kind kind = Kind::unknown;
  /// Of Kind::row.
  const EngineFlag* row = nullptr;
  /// The spelling is that of "off".
  bool is_negated = false;
  FlagArity arity = FlagArity::optional;
};

/// Finds a name as the command line has it ("--max_model_len", "-c"), or with the mark of its kind
/// ("$X", "@x", "%a.b"). Dashes and underscores are alike.
FlagMatch find_flag(const EngineFlags& flags, std::string_view name);

/// The text of a row's field (forms value, toggle, words, bytes) for what a command line gives, or
/// nothing when it cannot be read.
std::optional<std::string> field_of_flag(const EngineFlags& flags, const EngineFlag& row,
                                         std::string_view given);

/// The other way: how a row gives a field's text (forms value, words, bytes), or nothing when it
/// has no way to.
std::optional<std::string> flag_of_field(const EngineFlag& row, std::string_view text);

/// The first spelling of a row, of "off" when `is_negated`; empty when there is none.
std::string_view flag_name(const EngineFlag& row, bool is_negated);

/// The text of a row's field where the setting is absent.
std::string flag_absent_text(const EngineFlag& row);

/// The format that a GGUF file's name or tag means ("Q4_K_M", "BF16"), in the catalogue's name;
/// empty for none.
std::string_view format_of_gguf_name(std::string_view name);

/// The other way; also for the plain formats that a checkpoint is converted to. Empty for none.
std::string_view gguf_name_of_format(std::string_view format);

/// A whole number; with suffixes 8k is 8000, 8K is 8192, and 25.6k is 25600.
std::optional<uint64_t> flag_count(std::string_view text, bool takes_suffixes);

/// Whether two names are the same but for case and punctuation.
bool is_same_name(std::string_view a, std::string_view b);

/// Takes the part before the next separator off a text; the separator goes too.
std::string_view take_part(std::string_view& text, char separator);

}  // namespace vramgauge
