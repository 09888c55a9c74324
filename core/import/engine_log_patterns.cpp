#include "import/engine_log_patterns.h"

#include <iterator>

namespace vramgauge {
namespace {

using enum LogMark;
constexpr LogEngine kAny = LogEngine::unknown;
constexpr LogEngine kVllm = LogEngine::vllm;
constexpr LogEngine kSglang = LogEngine::sglang;
constexpr LogEngine kTrtLlm = LogEngine::tensorrt_llm;
constexpr LogEngine kLlama = LogEngine::llama_cpp;
constexpr LogEngine kOllama = LogEngine::ollama;

/// Facts about what the engines print: vLLM 0.2 to 0.29 (worker/worker.py, v1/worker/gpu_worker.py,
/// v1/worker/gpu_model_runner.py, v1/core/kv_cache_utils.py, executor/executor_base.py), SGLang 0.4
/// to 0.5 (model_executor/model_runner.py, mem_cache/memory_pool.py), TensorRT-LLM 0.5 to 1.x
/// (batch_manager/kvCacheManager.cpp, _torch/pyexecutor/_util.py), llama.cpp 2024 to 2026
/// (llama-model.cpp, llama-context.cpp, llama-kv-cache.cpp, common/fit.cpp), Ollama 0.1 to 0.15
/// (llm/memory.go, llm/server.go, ml/device.go, discover/types.go).
constexpr LogPattern kPatterns[] = {
    // vLLM: what runs
    {kVllm, start, "vLLM API server version {t:@version}"},
    {kVllm, none, "\xe2\x96\x88 version {t:@version}"},
    {kVllm, none, "\xe2\x96\x88 model {t:@model}"},
    {kVllm, start_settings, "LLM engine (v{t:@version}) with config:"},
    {kVllm, settings, "non-default args:"},
    {kVllm, settings, "args: Namespace("},
    {kVllm, none, "Using max model len {n:@max_model_len}"},
    {kVllm, none,
     "Chunked prefill is enabled with max_num_batched_tokens={n:@max_num_batched_tokens}"},
    {kVllm, none, "Resolved architecture: {t:@architecture}"},
    // vLLM: what it measures
    {kVllm, none, "Loading model weights took {b:weights}"},
    {kVllm, none, "Model loading took {b:weights}"},
    {kVllm, none, "total_gpu_memory={b:gpu_total}"},
    {kVllm, none,
     "total_gpu_memory ({b:gpu_total}) x gpu_memory_utilization "
     "({t:@gpu_memory_utilization}) = {b:usable}"},
    {kVllm, none, "total_gpu_memory {b:gpu_total}"},
    {kVllm, none, "initial_memory_usage={b:initial_memory_usage}"},
    {kVllm, none, "peak_torch_memory={b:torch_peak_total}"},
    {kVllm, none, "memory_usage_post_profile={b:post_profile_usage}"},
    {kVllm, none, "memory_usage_post_profile ={b:post_profile_usage}"},
    {kVllm, none, "non_torch_memory={b:non_torch}"},
    {kVllm, none, "kv_cache_size={b:kv_cache}"},
    {kVllm, none, "gpu_memory_utilization={x:@gpu_memory_utilization}"},
    {kVllm, none, "gpu_memory_utilization {x:@gpu_memory_utilization}"},
    {kVllm, none, "the current vLLM instance can use {b:usable}"},
    {kVllm, none, "model weights take {b:weights}"},
    {kVllm, none, "non_torch_memory takes {b:non_torch}"},
    {kVllm, none, "non_torch_memory {b:non_torch}"},
    {kVllm, none, "PyTorch activation peak memory takes {b:activation_peak}"},
    {kVllm, none, "PyTorch activation peak memory {b:activation_peak}"},
    {kVllm, none, "the rest of the memory reserved for KV Cache is {b:kv_cache}"},
    {kVllm, none, "available_kv_cache_memory {b:kv_cache}"},
    {kVllm, none,
     "Initial free memory: {b:free_at_start}; Requested memory: "
     "{x:@gpu_memory_utilization} (util), {b:usable}"},
    {kVllm, none, "Initial free memory {b:free_at_start}"},
    {kVllm, none, "Free memory after profiling: {b:free_after_profile} (total)"},
    {kVllm, none, "torch peak memory increase: {b:activation_peak}"},
    {kVllm, none, "non-torch forward increase memory: {b:non_torch}"},
    {kVllm, none, "weights memory: {b:weights}"},
    {kVllm, none, "Available KV cache memory: {b:kv_cache}"},
    {kVllm, none, "Free memory on device{*}({g:free_at_start}/{b:gpu_total}) on startup"},
    {kVllm, none, "Desired GPU memory utilization is ({x:@gpu_memory_utilization}, {b:usable})"},
    {kVllm, oom,
     "is less than desired GPU memory utilization "
     "({x:@gpu_memory_utilization}, {b:usable})"},
    {kVllm, none,
     "Actual usage is {b:weights} for weight, {b:activation_peak} for peak activation, "
     "{b:non_torch} for non-torch memory, and {b:cuda_graph} for CUDAGraph memory"},
    {kVllm, none,
     "Actual usage is {b:weights_plus_non_torch} for consumed memory{*}, "
     "{b:activation_peak} for peak activation, and {b:cuda_graph} for CUDAGraph memory"},
    {kVllm, none,
     "Actual usage: {b:weights} for weights, {b:activation_peak} for peak activation, "
     "{b:non_torch} for non-torch memory, {b:cuda_graph} for"},
    {kVllm, none, "Current kv cache memory in use is {b:kv_cache}"},
    {kVllm, none, "Graph capturing finished in {*}secs, took {b:cuda_graph}"},
    {kVllm, none, "Graph capturing finished in {*}sec, took {b:cuda_graph}"},
    {kVllm, none, "Estimated CUDA graph memory: {b:cuda_graph_est}"},
    {kVllm, none, "The current --gpu-memory-utilization={x:@gpu_memory_utilization} is equivalent"},
    {kVllm, none,
     "CUDA graph pool memory: {b:cuda_graph} (actual), {b:cuda_graph_est} (estimated)"},
    {kVllm, none, "# GPU blocks: {n:gpu_blocks}, # CPU blocks: {n:cpu_blocks}"},
    {kVllm, none, "# GPU blocks: {n:gpu_blocks}"},
    {kVllm, none, "# CUDA blocks: {n:gpu_blocks}, # CPU blocks: {n:cpu_blocks}"},
    {kVllm, none, "# cuda blocks: {n:gpu_blocks}, # CPU blocks: {n:cpu_blocks}"},
    {kVllm, none, "# rocm blocks: {n:gpu_blocks}, # CPU blocks: {n:cpu_blocks}"},
    {kVllm, none, "num_gpu_blocks is: {n:gpu_blocks}"},
    {kVllm, fits, "GPU KV cache size: {n:kv_tokens} tokens"},
    {kVllm, none,
     "Maximum concurrency for {n:max_concurrency_len} tokens per request: "
     "{x:max_concurrency}x"},
    {kVllm, none, "Setting attention block size to {n:attention_block_size} tokens"},
    {kVllm, none, "Add {n:padding_layers} padding layers"},
    {kVllm, fits, "Application startup complete"},
    {kVllm, fits, "init engine (profile, create kv cache, warmup model) took"},
    // vLLM: refusals
    {kVllm, oom, "max seq len ({n:kv_needed_len}), ({b:kv_needed} KV cache is needed"},
    {kVllm, oom, "max seq len ({n:kv_needed_len}), {b:kv_needed} KV cache is needed"},
    {kVllm, oom, "larger than the available KV cache memory ({b:kv_cache})"},
    {kVllm, oom, "the estimated maximum model length is {n:est_max_len}"},
    {kVllm, oom, "The estimated maximum model length is {n:est_max_len}"},
    {kVllm, oom,
     "max seq len ({n:kv_needed_len}) is larger than the maximum number of tokens that "
     "can be stored in KV cache ({n:est_max_len})"},
    {kVllm, oom, "No available memory for the cache blocks"},
    // SGLang
    {kSglang, start_settings, "server_args=ServerArgs("},
    {kSglang, none,
     "Load weight end.{*}avail mem={b:avail_after_weights^}, mem usage={b:weights^}"},
    {kSglang, none, "Load weight end.{*}type={t:@architecture},"},
    {kSglang, none,
     "KV Cache is allocated.{*}#tokens: {n:kv_tokens^}, K size: {b:kv_k^}, "
     "V size: {b:kv_v^}"},
    {kSglang, none, "KV Cache is allocated.{*}#tokens: {n:kv_tokens^}, KV size: {b:kv_cache^}"},
    {kSglang, none,
     "SWAKVPool mem usage: {b:kv_cache^}, swa size: {n:kv_tokens_swa^}, "
     "full size: {n:kv_tokens_full^}"},
    {kSglang, none,
     "Mamba Cache is allocated.{*}conv_state size: {b:state+}{*}"
     "ssm_state size: {b:state+}"},
    {kSglang, none, "Memory pool end. avail mem={b:avail_after_pool^}"},
    {kSglang, none, "Capture cuda graph end.{*}mem usage={b:cuda_graph^}"},
    {kSglang, none, "Capture target decode CUDA graph end.{*}mem usage={b:cuda_graph^}"},
    {kSglang, none, "Capture piecewise CUDA graph end.{*}mem usage={b:piecewise_graph^}"},
    {kSglang, none,
     "max_total_num_tokens={n:kv_tokens}, chunked_prefill_size="
     "{n:@chunked_prefill_size}"},
    {kSglang, none,
     "max_running_requests={n:@max_running_requests}, context_len={n:@context_length}"},
    {kSglang, fits, "The server is fired up and ready to roll"},
    {kSglang, oom, "Not enough memory. Please try to increase --mem-fraction-static"},
    // TensorRT-LLM
    {kTrtLlm, none, "TensorRT-LLM version: {t:@version}"},
    {kTrtLlm, none, "Engine version {t:@version} found"},
    {kTrtLlm, none, "MPI size: {n:@world_size},"},
    {kTrtLlm, none, "TRTGptModel maxBatchSize: {n:@max_batch_size}"},
    {kTrtLlm, none, "TRTGptModel maxSequenceLen: {n:@max_seq_len}"},
    {kTrtLlm, none, "TRTGptModel maxNumTokens: {n:@max_num_tokens}"},
    {kTrtLlm, none,
     "max_seq_len={n:@max_seq_len}, max_num_requests={*}, "
     "max_num_tokens={n:@max_num_tokens}, max_batch_size={n:@max_batch_size}"},
    {kTrtLlm, none, "Loaded engine size: {b:weights}"},
    {kTrtLlm, none, "Allocated {b:runtime_buffers} GPU memory for runtime buffers"},
    {kTrtLlm, none, "Allocated {b:decoder} GPU memory for decoder"},
    {kTrtLlm, none, "Allocated {b:activation_peak} for execution context memory"},
    {kTrtLlm, none,
     "max tokens in paged kv cache: total: {b:gpu_total}, "
     "available: {b:avail_after_weights}"},
    {kTrtLlm, none, "Number of blocks in KV cache primary pool: {n:gpu_blocks}"},
    {kTrtLlm, none, "Number of tokens per block: {n:block_size}."},
    {kTrtLlm, fits, "Allocated {b:kv_cache} for max tokens in paged KV cache ({n:kv_tokens})"},
    {kTrtLlm, none, "Allocate {b:kv_cache} for k/v cache"},
    {kTrtLlm, none, "Using {n:kv_tokens} tokens in paged KV cache"},
    {kTrtLlm, none, "Using {n:kv_tokens} total tokens in paged KV cache"},
    {kTrtLlm, none, "tokens per block={n:block_size}, primary blocks={n:gpu_blocks},"},
    {kTrtLlm, none,
     "Memory used after loading model weights (inside torch) in memory usage "
     "profiling: {b:weights}"},
    {kTrtLlm, none,
     "allocated during inference (inside torch) in memory usage profiling: "
     "{b:activation_peak}"},
    {kTrtLlm, none, "(e.g., NCCL and CUDA graphs) in memory usage profiling: {b:non_torch}"},
    {kTrtLlm, none, "memory usage profiling (torch + non-torch): {b:peak_total}"},
    {kTrtLlm, none, "fraction is set {x:@free_gpu_memory_fraction}"},
    {kTrtLlm, none, "free_gpu_memory_fraction={x:@free_gpu_memory_fraction}"},
    {kTrtLlm, none, "device total memory {b:gpu_total}"},
    {kTrtLlm, none, "maxSequenceLen is reduced to {n:est_max_len}"},
    {kTrtLlm, none, "Adjusted max_seq_len to {n:est_max_len}"},
    // llama.cpp: what runs
    {kLlama, start, "build: {n:@build} ("},
    {kLlama, start, "main: build = {n:@build} ("},
    {kLlama, load, "llama_model_loader: loaded meta data with"},
    {kLlama, draft, "loading draft model"},
    {kLlama, none, "general.name str = {e:@model}"},
    {kLlama, none, "print_info: general.name = {e:@model}"},
    {kLlama, none, "general.architecture str = {t:@architecture}"},
    {kLlama, none, "print_info: file type = {e:@file_type}"},
    {kLlama, none, "model ftype = {e:@file_type}"},
    {kLlama, none, ": n_ctx = {n:@n_ctx}"},
    {kLlama, none, ": n_seq_max = {n:@n_seq_max}"},
    {kLlama, none, ": n_batch = {n:@n_batch}"},
    {kLlama, none, ": n_ubatch = {n:@n_ubatch}"},
    {kLlama, none, ": flash_attn = {t:@flash_attn}"},
    {kLlama, none, ": kv_unified = {t:@kv_unified}"},
    {kLlama, none, ": n_swa = {n:@n_swa}"},
    {kLlama, none, "ggml_cuda_init: found {n:@gpu_count} "},
    {kLlama, none, "ggml_vulkan: Found {n:@gpu_count} "},
    {kLlama, none, "Device 0: {t:@gpu},"},
    {kLlama, none, "using device {w} ({t:@gpu}){*}- {m:free_at_start} MiB free"},
    // llama.cpp: what it allocates
    {kLlama, none, "offloaded {n:layers_offloaded}/{n:layers} layers to GPU"},
    {kLlama, none, ": {w} model buffer size = {b:weights+}"},
    {kLlama, none, "llm_load_tensors: {w} buffer size = {b:weights+}"},
    {kLlama, none, ": {w} KV buffer size = {b:kv_cache+}"},
    {kLlama, none, ": {w} RS buffer size = {b:rs_buffer+}"},
    {kLlama, none, ": {w} compute buffer size = {b:compute_buffer}"},
    {kLlama, none, ": {w} output buffer size = {b:output_buffer}"},
    {kLlama, none, ": size = {*}MiB ({n:kv_cells^} cells"},
    {kLlama, none, "creating SWA KV cache, size = {n:kv_swa_cells} cells"},
    {kLlama, none, ", K ({t:@type_k}): {b:kv_k+}, V ({t:@type_v}): {b:kv_v+}"},
    {kLlama, none, "| - {w} ({t:@gpu}) | {m:gpu_total} ="},
    {kLlama, none, "projected to use {m:projected} MiB of device memory vs. {m:fit_free} MiB"},
    {kLlama, fits, "main: server is listening on"},
    {kLlama, fits, "main: model loaded"},
    {kLlama, fits, "llama_perf_context_print: load time"},
    {kLlama, oom,
     "allocating {m:alloc_attempt} MiB on device {*}: cudaMalloc failed: out of memory"},
    {kLlama, oom, "cudaMalloc failed: out of memory"},
    {kLlama, oom, "unable to allocate {w} buffer"},
    {kLlama, oom, "failed to allocate compute"},
    {kLlama, oom, "failed to allocate buffer for kv cache"},
    {kLlama, oom, "ErrorOutOfDeviceMemory"},
    // Ollama: its estimate, then what its own engine allocates; llama.cpp's lines may follow
    {kOllama, start, "msg=\"system memory\""},
    {kOllama, none, "Listening on {*}(version {t:@version})"},
    {kOllama, none, "msg=\"inference compute\"{*}library={t:@library}"},
    {kOllama, none, "name=\"{t:@gpu}\" total=\"{b:gpu_total}\" available=\"{b:free_at_start}\""},
    {kOllama, none, "description=\"{t:@gpu}\""},
    {kOllama, none, "type=discrete total=\"{b:gpu_total}\" available=\"{b:free_at_start}\""},
    {kOllama, none, "--ctx-size {n:@num_ctx}"},
    {kOllama, none, "--batch-size {n:@num_batch}"},
    {kOllama, none, "--n-gpu-layers {n:@num_gpu}"},
    {kOllama, none, "--parallel {n:@num_parallel}"},
    {kOllama, none, "--kv-cache-type {t:@kv_cache_type}"},
    {kOllama, none,
     "Parallel:{n:@num_parallel} BatchSize:{n:@num_batch} FlashAttention:"
     "{t:@flash_attention} KvSize:{n:@num_ctx} KvCacheType:{t:@kv_cache_type} N"},
    {kOllama, none, "layers.model={n:layers}"},
    {kOllama, none, "layers.offload={n:layers_offloaded}"},
    {kOllama, none, "memory.available=\"[{l:free_at_start}]"},
    {kOllama, none, "memory.required.full=\"{b:required_full}\""},
    {kOllama, none, "memory.required.partial=\"{b:required_partial}\""},
    {kOllama, none, "memory.required.kv=\"{b:required_kv}\""},
    {kOllama, none, "memory.required.allocations=\"[{l:projected}]"},
    {kOllama, none, "memory.weights.total=\"{b:required_weights}\""},
    {kOllama, none, "memory.graph.full=\"{b:graph_full}\""},
    {kOllama, none, "memory.graph.partial=\"{b:graph_partial}\""},
    {kOllama, none, "projector.weights=\"{b:projector}\""},
    {kOllama, none, "msg=\"offloaded {n:layers_offloaded}/{n:layers} layers to GPU\""},
    {kOllama, none, "msg=\"model weights\" device={w} size=\"{b:weights}\""},
    {kOllama, none, "msg=\"model weights\" buffer={w} size=\"{b:weights}\""},
    {kOllama, none, "msg=\"kv cache\" device={w} size=\"{b:kv_cache}\""},
    {kOllama, none, "msg=\"compute graph\" device={w} size=\"{b:compute_buffer}\""},
    {kOllama, none,
     "msg=\"compute graph\" backend={w} buffer_type={*} size=\"{b:compute_buffer}\""},
    {kOllama, none, "msg=\"total memory\" size=\"{b:total_memory}\""},
    {kOllama, fits, "llama runner started in"},
    {kOllama, other, "model requires more system memory"},
    // Any of them
    {kAny, oom,
     "CUDA out of memory. Tried to allocate {b:alloc_attempt}. GPU {*} has a total "
     "capacity of {b:gpu_total} of which {b:alloc_free} is free"},
    {kAny, oom, "CUDA out of memory. Tried to allocate {b:alloc_attempt}"},
    {kAny, oom, "HIP out of memory. Tried to allocate {b:alloc_attempt}"},
    {kAny, oom, "torch.cuda.OutOfMemoryError"},
};

// A reader counts them in a byte.
static_assert(std::size(kPatterns) < 255);

}  // namespace

LogPatternTable log_patterns() { return {kPatterns, std::size(kPatterns)}; }

}  // namespace vramgauge
