#include "engine/llama_cpp_context.h"

#include <algorithm>

#include "units/checked.h"
#include "units/index.h"

namespace vramgauge {
namespace {

/// Cells come in multiples of this; in older builds that do not run flash attention, of the second.
constexpr uint64_t kCellStep = 256;
constexpr uint64_t kOldCellStep = 32;
/// LLAMA_MAX_SEQ.
constexpr uint64_t kMaxSequences = 256;
/// Contexts are 32-bit numbers in the engine; so many tokens per sequence leave room for padding.
constexpr uint64_t kMaxTokens = uint64_t{1} << 30;

/// Head sizes that CUDA has flash attention for, and how many queries must share a key.
struct FlashHeads {
  uint64_t dim_k;
  uint64_t dim_v;
  uint64_t least_group;
  uint64_t group_step;
};
constexpr FlashHeads kFlashHeads[] = {
    {40, 40, 1, 1},   {64, 64, 1, 1},     {72, 72, 1, 1},   {80, 80, 1, 1},
    {96, 96, 1, 1},   {112, 112, 1, 1},   {128, 128, 1, 1}, {256, 256, 1, 1},
    {192, 128, 8, 8}, {320, 256, 32, 32}, {512, 512, 2, 1}, {576, 512, 2, 1},
};
/// Other types need a special build.
constexpr GgmlType kFlashTypes[] = {GgmlType::f32, GgmlType::f16, GgmlType::bf16, GgmlType::q8_0,
                                    GgmlType::q4_0};

tl::unexpected<Diagnostics> refuse(const std::string& reason) {
  return fail(ErrorCode::llama_cpp_refused, "", {{"reason", reason}});
}

tl::unexpected<Diagnostics> out_of_range(std::string_view key, uint64_t value, uint64_t max) {
  return fail(ErrorCode::value_out_of_range, "",
              {{"key", key}, {"value", value}, {"min", uint64_t{1}}, {"max", max}});
}

/// As the engine writes it: q8_0, but q4_K.
std::string type_name(GgmlType type) {
  std::string name(ggml_type_info(type).name);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' && c != 'K' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name;
}

bool is_quantized(GgmlType type) { return ggml_type_info(type).is_quantized(); }

uint64_t round_up_to(uint64_t tokens, uint64_t step) { return (tokens + step - 1) / step * step; }

uint64_t cell_step(const LlamaCppRules& rules, bool flash_attn) {
  if (rules.cells_in_256) return kCellStep;
  if (rules.cells_as_asked) return 1;
  return flash_attn ? kCellStep : kOldCellStep;
}

/// With flash attention, heads are read block by block.
std::string block_refusal(const LlamaCppModel& model, GgmlType type, bool is_key) {
  const uint64_t block = ggml_type_info(type).block_elements;
  for (const LlamaCppLayerKind& kind : model.groups.kinds) {
    const LlamaCppLayer& layer = model.layers[index_of(kind.first)];
    const uint64_t head = is_key ? layer.head_dim_k : layer.head_dim_v;
    if (head % block == 0) continue;
    return std::string(is_key ? "K" : "V") + " cache type " + type_name(type) +
           " with block size " + std::to_string(block) + " does not divide n_embd_head_" +
           (is_key ? "k=" : "v=") + std::to_string(head);
  }
  return "";
}

/// The engine's reason for refusing these cache types, in the order it checks; empty = none.
std::string cache_type_refusal(const LlamaCppModel& model, const LlamaCppOptions& options) {
  const bool may_flash = options.flash_attn != LlamaCppFlashAttention::off;
  for (const bool is_key : {true, false}) {
    const GgmlType type = is_key ? options.type_k : options.type_v;
    std::string reason = may_flash && is_quantized(type) ? block_refusal(model, type, is_key) : "";
    if (!reason.empty()) return reason;
  }
  if (model.is_latent && options.type_k != options.type_v) {
    return "model does not support different K (" + type_name(options.type_k) + ") and V (" +
           type_name(options.type_v) + ") cache types";
  }
  if (!may_flash && is_quantized(options.type_v))
    return "quantized V cache requires flash_attn to be enabled";
  return "";
}

LlamaCppMemoryClass memory_class_of(const LlamaCppModel& model, const LlamaCppRules& rules) {
  const auto any = [&model](auto predicate) {
    return std::any_of(model.groups.kinds.begin(), model.groups.kinds.end(),
                       [&](const LlamaCppLayerKind& kind) {
                         return predicate(model.layers[index_of(kind.first)]);
                       });
  };
  if (model.is_sparse && rules.sparse_caches) return LlamaCppMemoryClass::dsa;
  const bool has_state = any([](const auto& layer) { return layer.is_recurrent; });
  const bool has_cache =
      any([](const auto& layer) { return layer.cache != LlamaCppCacheKind::none; });
  if (has_state && !has_cache) return LlamaCppMemoryClass::recurrent;
  const bool has_window = model.window_tokens != 0 && rules.windowed_caches;
  if (has_state) return has_window ? LlamaCppMemoryClass::hybrid_iswa : LlamaCppMemoryClass::hybrid;
  return has_window ? LlamaCppMemoryClass::iswa : LlamaCppMemoryClass::kv;
}

/// Cells of a windowed layer: the window of every sequence that shares the stream, and room for the
/// batch that is being processed.
uint64_t windowed_cells(const LlamaCppContext& context, const LlamaCppOptions& options,
                        uint64_t window) {
  const LlamaCppRules& rules = options.rules;
  if (options.swa_full || !rules.windowed_caches) return context.cells;
  const uint64_t windows = window * (context.kv_unified ? context.n_seq_max : 1);
  const uint64_t room = rules.window_room_by_ubatch ? context.n_ubatch : context.n_batch;
  const uint64_t step = cell_step(rules, context.flash_attn);
  return std::min(context.cells, round_up_to(windows + room, step));
}

/// Grok's logits are capped in a way that flash attention has no code for.
bool lacks_flash_attention(const LlamaCppModel& model) { return model.architecture == "grok"; }

bool is_automatic(const LlamaCppOptions& options) {
  return options.flash_attn == LlamaCppFlashAttention::automatic;
}

/// Architectures whose recurrent states can be taken back (llm_arch_supports_rs_rollback).
bool keeps_earlier_states(std::string_view architecture) {
  return architecture == "qwen35" || architecture == "qwen35moe";
}

/// Automatic means on unless a GPU that holds the layer cannot run it.
bool uses_flash_attention(const LlamaCppModel& model, const LlamaCppOptions& options) {
  if (options.flash_attn == LlamaCppFlashAttention::off || lacks_flash_attention(model))
    return false;
  if (!is_automatic(options) || options.devices.empty() || options.n_gpu_layers == 0) return true;
  const auto& kinds = model.groups.kinds;
  return std::all_of(kinds.begin(), kinds.end(), [&](const LlamaCppLayerKind& kind) {
    const LlamaCppLayer& layer = model.layers[index_of(kind.first)];
    return layer.num_heads == 0 || cuda_runs_flash_attention(layer, options.type_k, options.type_v);
  });
}

/// Output rows as the program asks for them.
uint64_t output_rows(const LlamaCppOptions& options, const LlamaCppContext& context) {
  if (!options.rules.output_limit) return context.n_batch;
  if (options.n_outputs_max != 0) return options.n_outputs_max;
  if (options.program != LlamaCppProgram::server) return context.n_batch;
  const CheckedU64 rows =
      CheckedU64(context.n_seq_max) * (CheckedU64(uint64_t{1}) + options.n_draft_tokens);
  return std::max<uint64_t>(1, std::min(options.n_batch, rows.value_or(UINT64_MAX)));
}

void size_cells(LlamaCppContext& context, const LlamaCppRules& rules, uint64_t asked_tokens) {
  const uint64_t step = cell_step(rules, context.flash_attn);
  context.n_ctx = round_up_to(asked_tokens, step);
  context.n_streams = context.kv_unified ? 1 : context.n_seq_max;
  context.n_ctx_seq = round_up_to(context.n_ctx / context.n_streams, step);
  context.n_ctx = context.n_ctx_seq * context.n_streams;
  if (context.memory_class != LlamaCppMemoryClass::recurrent) context.cells = context.n_ctx_seq;
}

}  // namespace

std::string_view llama_cpp_memory_class_name(LlamaCppMemoryClass memory_class) {
  switch (memory_class) {
    case LlamaCppMemoryClass::kv: return "kv";
    case LlamaCppMemoryClass::iswa: return "iswa";
    case LlamaCppMemoryClass::hybrid: return "hybrid";
    case LlamaCppMemoryClass::hybrid_iswa: return "hybrid_iswa";
    case LlamaCppMemoryClass::recurrent: return "recurrent";
    case LlamaCppMemoryClass::dsa: return "dsa";
  }
  return "";
}

bool cuda_runs_flash_attention(const LlamaCppLayer& layer, GgmlType type_k, GgmlType type_v) {
  if (layer.num_kv_heads == 0 || type_k != type_v) return false;
  const bool has_type =
      std::find(std::begin(kFlashTypes), std::end(kFlashTypes), type_k) != std::end(kFlashTypes);
  const auto* heads =
      std::find_if(std::begin(kFlashHeads), std::end(kFlashHeads), [&layer](const FlashHeads& row) {
        return row.dim_k == layer.head_dim_k && row.dim_v == layer.head_dim_v;
      });
  if (!has_type || heads == std::end(kFlashHeads)) return false;
  const uint64_t queries_per_key = layer.num_heads / layer.num_kv_heads;
  return queries_per_key >= heads->least_group && queries_per_key % heads->group_step == 0;
}

Result<LlamaCppContext> llama_cpp_context(const LlamaCppModel& model,
                                          const LlamaCppOptions& options) {
  const uint64_t asked_tokens =
      options.ctx_tokens == 0 ? model.spec.max_context_tokens : options.ctx_tokens;
  if (options.n_batch == 0 && options.n_ubatch == 0)
    return refuse("n_batch and n_ubatch cannot both be zero");
  if (asked_tokens == 0) return refuse("n_ctx and model->hparams.n_ctx_train cannot both be zero");
  if (asked_tokens > kMaxTokens) return out_of_range("ctx_tokens", asked_tokens, kMaxTokens);
  if (options.n_seq_max > kMaxSequences)
    return refuse("n_seq_max must be <= " + std::to_string(kMaxSequences));
  const std::string reason = cache_type_refusal(model, options);
  if (!reason.empty()) return refuse(reason);

  LlamaCppContext context;
  context.memory_class = memory_class_of(model, options.rules);
  context.n_seq_max = std::max<uint64_t>(1, options.n_seq_max);
  context.kv_unified = options.kv_unified || !options.rules.split_streams;
  context.n_batch = std::min(asked_tokens, options.n_batch);
  context.n_ubatch =
      std::min(context.n_batch, options.n_ubatch == 0 ? options.n_batch : options.n_ubatch);
  context.n_outputs_max = output_rows(options, context);
  context.type_k = options.type_k;
  context.type_v = options.type_v;
  context.flash_attn = uses_flash_attention(model, options);
  context.offload_kv = options.offload_kv;
  context.offload_ops = options.offload_ops;
  if (keeps_earlier_states(model.architecture)) context.n_rs_seq = options.n_rs_seq;
  context.latent_values = model.is_latent && !options.rules.latent_alone;
  size_cells(context, options.rules, asked_tokens);
  if (model.window_tokens != 0)
    context.cells_swa = windowed_cells(context, options, model.window_tokens);
  if (!context.flash_attn && is_quantized(options.type_v))
    return refuse("quantized V cache was requested, but this requires Flash Attention");
  return context;
}

}  // namespace vramgauge
