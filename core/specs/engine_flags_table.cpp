// Sources: vllm/engine/arg_utils.py and vllm/entrypoints/openai/cli_args.py of 0.6 to 0.26;
// SGLang's docs/advanced_features/server_arguments.md and srt/server_args.py of 0.5;
// tensorrt_llm/commands/serve.py and llmapi/llm_args.py of 1.0 to 1.3; llama.cpp's
// tools/server/README.md and tools/llama-bench of summer 2026; Ollama's envconfig/config.go and
// docs/modelfile.md at fb307609.
#include <iterator>

#include "specs/engine_flags.h"
#include "specs/engine_flags_lists.h"

namespace vramgauge {
namespace {

constexpr FlagForm kValue = FlagForm::value;
constexpr FlagForm kToggle = FlagForm::toggle;
constexpr FlagForm kWords = FlagForm::words;
constexpr FlagForm kBytes = FlagForm::bytes;

/// Formats that a checkpoint has already, whatever is asked for.
constexpr std::string_view kDtypes =
    "bf16=bfloat16 fp16=float16 fp16<half fp32=float32 fp32<float auto<auto";
constexpr std::string_view kQuantizations =
    "fp8-per-tensor=fp8 fp8-per-tensor<fp8_per_tensor fp8-block-128<fp8_per_block "
    "bnb-4bit=bitsandbytes "
    "auto<awq auto<awq_marlin auto<gptq auto<gptq_marlin auto<marlin auto<compressed-tensors "
    "auto<modelopt auto<modelopt_fp4 auto<modelopt_fp8 auto<modelopt_mixed auto<mxfp4 auto<mxfp8 "
    "auto<gpt_oss_mxfp4 auto<fbgemm_fp8 auto<auto-round auto<inc auto<quark auto<torchao "
    "auto<moe_wna16 auto<gguf auto<w8a8_int8 auto<w8a8_fp8 auto<qoq auto<w4afp8 auto<petit_nvfp4 "
    "auto<experts_int8 auto<ptpc_fp8 auto<hqq auto<aqlm auto<bitblas auto<none";

constexpr EngineFlag kVllm[] = {
    {"--model", FlagForm::model, "model", "", ""},
    {"--tensor-parallel-size -tp", kValue, "tensor_ranks", "", "1"},
    {"--pipeline-parallel-size -pp", kValue, "pipeline_stages", "", ""},
    {"--data-parallel-size -dp", kValue, "data_ranks", "", ""},
    {"--decode-context-parallel-size -dcp", kValue, "context_ranks", "", ""},
    {"--enable-expert-parallel -ep", kToggle, "expert_parallel", "", ""},
    {"$VLLM_PP_LAYER_PARTITION", kValue, "stage_layers", "", ""},
    {"--max-model-len", kValue, "max_model_len", "", ""},
    {"--max-num-seqs", kValue, "max_num_seqs", "", ""},
    {"--max-num-batched-tokens", kValue, "max_num_batched_tokens", "", ""},
    {"--gpu-memory-utilization", kValue, "memory_frac", "", ""},
    {"--kv-cache-memory-bytes --kv-cache-memory", kBytes, "kv_cache_gib", "", ""},
    {"--dtype", kWords, "weight_format", kDtypes, "auto"},
    {"--quantization -q", kWords, "weight_format", kQuantizations, "auto"},
    {"--kv-cache-dtype", kWords, "cache_type_k",
     "fp16<auto bf16=bfloat16 fp16<float16 fp8=fp8 fp8<fp8_e4m3 fp8<fp8_e5m2 fp8<fp8_inc "
     "fp8_ds_mla=fp8_ds_mla nvfp4=nvfp4 fp8_per_token_head=fp8_per_token_head "
     "int8_per_token_head=int8_per_token_head turboquant_k8v4=turboquant_k8v4 "
     "turboquant_4bit_nc=turboquant_4bit_nc turboquant_k3v4_nc=turboquant_k3v4_nc "
     "turboquant_3bit_nc=turboquant_3bit_nc",
     ""},
    {"--block-size", kValue, "block_tokens", "", ""},
    {"--enforce-eager", kToggle, "enforce_eager", "", ""},
    {"--enable-prefix-caching !--no-enable-prefix-caching", kToggle, "prefix_caching", "", ""},
    {"--mamba-cache-mode", kWords, "mamba_cache_mode", "auto<auto none=none align=align all=all",
     ""},
    {"--speculative-config -sc", FlagForm::speculative, "speculative", "", ""},
    {"--num-speculative-tokens", kValue, "draft_tokens", "", ""},
    {"--enable-lora", FlagForm::lora, "max_loras", "", ""},
    {"--max-loras", kValue, "max_loras", "", ""},
    {"--max-lora-rank", kValue, "max_lora_rank", "", ""},
    {"--limit-mm-per-prompt", FlagForm::images, "images_per_request", "", ""},
    {"--language-model-only", kToggle, "language_model_only", "", ""},
    {"--cpu-offload-gb", kValue, "cpu_offload_gib", "", ""},
};

constexpr EngineFlag kSglang[] = {
    {"--model-path --model", FlagForm::model, "model", "", ""},
    {"--tp-size --tensor-parallel-size --tp", kValue, "tensor_ranks", "", "1"},
    {"--pp-size --pipeline-parallel-size --pp", kValue, "pipeline_stages", "", ""},
    {"--dp-size --data-parallel-size --dp", kValue, "data_ranks", "", ""},
    {"--enable-dp-attention", kToggle, "dp_attention", "", ""},
    {"--ep-size --expert-parallel-size --ep", FlagForm::expert_ranks, "expert_parallel", "", ""},
    {"--enable-ep-moe", kToggle, "expert_parallel", "", ""},
    {"--context-length", kValue, "max_model_len", "", ""},
    {"--max-running-requests", kValue, "max_num_seqs", "", ""},
    {"--chunked-prefill-size", kValue, "max_num_batched_tokens", "", ""},
    {"--mem-fraction-static", kValue, "memory_frac", "", ""},
    {"--dtype", kWords, "weight_format", kDtypes, "auto"},
    {"--quantization", kWords, "weight_format", kQuantizations, "auto"},
    {"--kv-cache-dtype", kWords, "cache_type_k",
     "fp16<auto bf16=bf16 bf16<bfloat16 fp8=fp8_e4m3 fp8<fp8_e5m2 nvfp4=fp4_e2m1", ""},
    {"--page-size", kValue, "block_tokens", "", ""},
    {"--cuda-graph-max-bs", kValue, "cuda_graph_max_bs", "", ""},
    {"--swa-full-tokens-ratio", kValue, "swa_full_tokens_ratio", "", ""},
    {"--enable-lora", FlagForm::lora, "max_loras", "", ""},
    {"--max-loras-per-batch", kValue, "max_loras", "", ""},
    {"--max-lora-rank", kValue, "max_lora_rank", "", ""},
    {"--speculative-algorithm --speculative-algo", FlagForm::draft_algorithm, "speculative",
     "mtp=NEXTN eagle=EAGLE3 eagle<EAGLE ngram=NGRAM draft=STANDALONE", ""},
    {"--speculative-num-draft-tokens", kValue, "draft_tokens", "", ""},
    {"--speculative-draft-model-path --speculative-draft-model", FlagForm::draft_model,
     "draft_model", "", ""},
};

constexpr EngineFlag kTensorRtLlm[] = {
    {"--model %model", FlagForm::model, "model", "", ""},
    {"--tp_size --tensor_parallel_size %tensor_parallel_size", kValue, "tensor_ranks", "", "1"},
    {"--pp_size --pipeline_parallel_size %pipeline_parallel_size", kValue, "pipeline_stages", "",
     ""},
    {"--ep_size --moe_expert_parallel_size %moe_expert_parallel_size", FlagForm::expert_ranks,
     "expert_parallel", "", ""},
    {"--max_seq_len %max_seq_len", kValue, "max_model_len", "", ""},
    {"--max_batch_size %max_batch_size", kValue, "max_num_seqs", "", ""},
    {"--max_num_tokens %max_num_tokens", kValue, "max_num_batched_tokens", "", ""},
    {"--kv_cache_free_gpu_memory_fraction --free_gpu_memory_fraction "
     "%kv_cache_config.free_gpu_memory_fraction",
     kValue, "memory_frac", "", ""},
    {"%dtype", kWords, "weight_format", kDtypes, "auto"},
    {"%kv_cache_config.dtype --kv_cache_dtype", kWords, "cache_type_k",
     "fp16<auto fp8=fp8 nvfp4=nvfp4", ""},
    {"%kv_cache_config.tokens_per_block", kValue, "block_tokens", "", ""},
    {"%speculative_config.decoding_type", FlagForm::draft_algorithm, "speculative",
     "mtp=MTP eagle=Eagle eagle<Eagle3 ngram=NGram draft=Draft_Target", ""},
    {"%speculative_config.num_nextn_predict_layers %speculative_config.max_draft_len", kValue,
     "draft_tokens", "", ""},
    {"%speculative_config.speculative_model_dir %speculative_config.speculative_model",
     FlagForm::draft_model, "draft_model", "", ""},
};

constexpr std::string_view kGgmlTypes =
    "fp16=f16 fp32=f32 bf16=bf16 q8_0=q8_0 q4_0=q4_0 q4_1=q4_1 iq4_nl=iq4_nl q5_0=q5_0 q5_1=q5_1";
constexpr std::string_view kFlashWords =
    "on=on off=off auto=auto on<1 off<0 on<true off<false on<enabled off<disabled";

constexpr EngineFlag kLlamaCpp[] = {
    {"-m --model $LLAMA_ARG_MODEL", FlagForm::model, "model", "", ""},
    {"-hf -hfr --hf-repo $LLAMA_ARG_HF_REPO", FlagForm::model, "", "", ""},
    {"-dr --docker-repo", FlagForm::model, "", "", ""},
    {"-mu --model-url $LLAMA_ARG_MODEL_URL", FlagForm::model, "", "", ""},
    {"-hff --hf-file $LLAMA_ARG_HF_FILE", FlagForm::model_file, "", "", ""},
    {"-c --ctx-size $LLAMA_ARG_CTX_SIZE", kValue, "context_tokens", "", ""},
    {"-p --n-prompt", FlagForm::bench_tokens, "", "", ""},
    {"-n --n-gen", FlagForm::bench_tokens, "", "", ""},
    {"-d --n-depth", FlagForm::bench_tokens, "", "", ""},
    {"-pg", FlagForm::bench_tokens, "", "", ""},
    {"-np --parallel $LLAMA_ARG_N_PARALLEL", kValue, "num_requests", "", "1"},
    {"-kvu --kv-unified !-no-kvu !--no-kv-unified $LLAMA_ARG_KV_UNIFIED", kToggle, "kv_unified", "",
     ""},
    {"-ngl --n-gpu-layers --gpu-layers $LLAMA_ARG_N_GPU_LAYERS", FlagForm::gpu_layers, "gpu_layers",
     "", ""},
    {"-dev --device $LLAMA_ARG_DEVICE", FlagForm::devices, "gpu_count", "", ""},
    {"-ts --tensor-split $LLAMA_ARG_TENSOR_SPLIT", kValue, "tensor_split", "", ""},
    {"-ncmoe --n-cpu-moe $LLAMA_ARG_N_CPU_MOE", kValue, "cpu_moe_layers", "", ""},
    {"-cmoe --cpu-moe $LLAMA_ARG_CPU_MOE", FlagForm::all_experts, "", "", ""},
    {"-ot --override-tensor $LLAMA_ARG_OVERRIDE_TENSOR", kValue, "override_tensors", "", ""},
    {"-b --batch-size $LLAMA_ARG_BATCH", kValue, "batch_tokens", "", ""},
    {"-ub --ubatch-size $LLAMA_ARG_UBATCH", kValue, "ubatch_tokens", "", ""},
    {"-fa --flash-attn $LLAMA_ARG_FLASH_ATTN", kWords, "flash_attn", kFlashWords, ""},
    {"-ctk --cache-type-k $LLAMA_ARG_CACHE_TYPE_K", kWords, "cache_type_k", kGgmlTypes, ""},
    {"-ctv --cache-type-v $LLAMA_ARG_CACHE_TYPE_V", kWords, "cache_type_v", kGgmlTypes, "fp16"},
    {"--swa-full $LLAMA_ARG_SWA_FULL", kToggle, "swa_full", "", ""},
    {"!-nkvo -kvo --kv-offload !--no-kv-offload $LLAMA_ARG_KV_OFFLOAD !$LLAMA_ARG_NO_KV_OFFLOAD",
     kToggle, "kv_offload", "", ""},
    {"--op-offload !--no-op-offload !-nopo", kToggle, "op_offload", "", ""},
    {"-md --model-draft --spec-draft-model $LLAMA_ARG_SPEC_DRAFT_MODEL $LLAMA_ARG_MODEL_DRAFT",
     FlagForm::draft_model, "draft_model", "", ""},
    {"-hfd -hfrd --hf-repo-draft --spec-draft-hf $LLAMA_ARG_SPEC_DRAFT_HF_REPO",
     FlagForm::draft_model, "", "", ""},
    {"--spec-type $LLAMA_ARG_SPEC_TYPE", FlagForm::draft_kind, "", "", ""},
    {"-ngld --gpu-layers-draft --n-gpu-layers-draft --spec-draft-ngl "
     "$LLAMA_ARG_N_GPU_LAYERS_DRAFT",
     FlagForm::gpu_layers, "draft_gpu_layers", "", ""},
    {"-ctkd --cache-type-k-draft --spec-draft-type-k $LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_K", kWords,
     "draft_cache_type", kGgmlTypes, ""},
    {"-ctvd --cache-type-v-draft --spec-draft-type-v $LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_V",
     FlagForm::draft_values, "draft_cache_type", kGgmlTypes, ""},
    {"--spec-draft-n-max --draft-max --draft --draft-n $LLAMA_ARG_SPEC_DRAFT_N_MAX "
     "$LLAMA_ARG_DRAFT_MAX",
     kValue, "draft_tokens", "", ""},
};

constexpr EngineFlag kOllama[] = {
    {"@from", FlagForm::model, "model", "", ""},
    {"@num_ctx $OLLAMA_CONTEXT_LENGTH", kValue, "context_tokens", "", ""},
    {"$OLLAMA_NUM_PARALLEL", kValue, "num_requests", "", "1"},
    {"$OLLAMA_FLASH_ATTENTION", kWords, "flash_attn", "on=1 off=0 on<true off<false auto<auto", ""},
    {"$OLLAMA_KV_CACHE_TYPE", kWords, "cache_type_k", "fp16=f16 q8_0=q8_0 q4_0=q4_0", ""},
    {"@num_gpu", FlagForm::gpu_layers, "gpu_layers", "", ""},
    {"@num_batch", FlagForm::batch_rows, "batch_tokens", "", ""},
};

constexpr EngineFlag kTransformers[] = {
    {"@model", FlagForm::model, "model", "", ""},
    {"@dtype @torch_dtype", kWords, "weight_format",
     "bf16=torch.bfloat16 bf16<bfloat16 fp16=torch.float16 fp16<float16 fp16<torch.half "
     "fp32=torch.float32 fp32<float32 auto<auto",
     "auto"},
    {"@load_in_4bit", kWords, "weight_format", "bnb-4bit=True auto<False", "auto"},
    {"@load_in_8bit", kWords, "weight_format", "bnb-int8=True auto<False", "auto"},
    {"@attn_implementation", kWords, "flash_attn",
     "off=eager on=flash_attention_2 on<flash_attention_3 auto<sdpa", ""},
    {"@cache_implementation", kWords, "cache_implementation",
     "dynamic<dynamic static=static dynamic<dynamic_full", ""},
    {"@max_length", kValue, "context_tokens", "", ""},
    {"@batch_size", kValue, "num_requests", "", "1"},
};

constexpr EngineFlags kEngines[] = {
    {CommandEngine::vllm, "vllm", kVllm, std::size(kVllm), flag_lists::kVllmNotModelled,
     flag_lists::kVllmIgnored, true, true},
    {CommandEngine::sglang, "sglang", kSglang, std::size(kSglang), flag_lists::kSglangNotModelled,
     flag_lists::kSglangIgnored, true, false},
    {CommandEngine::tensorrt_llm, "tensorrt_llm", kTensorRtLlm, std::size(kTensorRtLlm),
     flag_lists::kTensorRtLlmNotModelled, flag_lists::kTensorRtLlmIgnored, false, false},
    {CommandEngine::llama_cpp, "llama_cpp", kLlamaCpp, std::size(kLlamaCpp),
     flag_lists::kLlamaCppNotModelled, flag_lists::kLlamaCppIgnored, false, false},
    {CommandEngine::ollama, "llama_cpp", kOllama, std::size(kOllama),
     flag_lists::kOllamaNotModelled, flag_lists::kOllamaIgnored, false, false},
    {CommandEngine::transformers, "transformers", kTransformers, std::size(kTransformers),
     flag_lists::kTransformersNotModelled, flag_lists::kTransformersIgnored, false, false},
};
static_assert(std::size(kEngines) == kNumCommandEngines);

}  // namespace

const EngineFlags& engine_flags(CommandEngine engine) {
  return kEngines[static_cast<uint64_t>(engine)];
}

}  // namespace vramgauge
