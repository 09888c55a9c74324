// Thirty scenarios across mixers, formats, cache types and sizes: every face must answer them alike.
const models = [
  ["meta-llama/Llama-3.3-70B-Instruct", "Q4_K_M"],
  ["meta-llama/Llama-3.1-8B-Instruct", "bf16"],
  ["deepseek-ai/DeepSeek-V3.1", "fp8-block-128"],
  ["deepseek-ai/DeepSeek-V4-Flash", "bf16"],
  ["openai/gpt-oss-120b", "mxfp4"],
  ["google/gemma-3-27b-it", "Q5_K_M"],
  ["Qwen/Qwen3-30B-A3B", "awq-4bit-g128"],
  ["Qwen/Qwen3-Next-80B-A3B-Instruct", "Q4_K_M"],
  ["state-spaces/mamba-2.8b-hf", "fp16"],
  ["tiiuae/falcon-7b", "gptq-4bit-g128"],
];

const workloads = [
  {},
  { gpu: "nvidia-h200", gpu_count: 2, context_tokens: 10_000_000, num_requests: 8, cache_type_k: "fp8" },
  { gpu: "custom", gpu_memory_gib: 23.5, context_tokens: "8k", num_requests: 33, kv_block_tokens: 16,
    shared_prefix_tokens: 1000, live_buffers: 4, overhead_factor: 1.25 },
];

const llama_cpp_scenarios = [
  { model: "google/gemma-3-27b-it", gpu: "nvidia-geforce-rtx-4090", gpu_count: 2, context_tokens: 32768, num_requests: 1, tensor_split: "3,1" },
  { model: "Qwen/Qwen3-30B-A3B", gpu: "nvidia-geforce-rtx-4090", context_tokens: "8k", num_requests: 4, cpu_moe_layers: 20, host_ram_gib: 64 },
  { model: "deepseek-ai/DeepSeek-V3.1", gpu: "nvidia-h200", gpu_count: 8, context_tokens: "64k", num_requests: 2, ubatch_tokens: 2048 },
  { model: "Qwen/Qwen3-Next-80B-A3B-Instruct", context_tokens: "16k", num_requests: 1, cache_type_k: "q8_0", program: "bench" },
  { model: "state-spaces/mamba-2.8b-hf", weight_format: "fp16", context_tokens: "2k", num_requests: 8, gpu_layers: 10 },
];

const staged_scenarios = [
  { engine: "sglang", model: "google/gemma-3-27b-it", weight_format: "bf16", gpu: "nvidia-h100-80gb-hbm3", context_tokens: "32k", num_requests: 4, swa_full_tokens_ratio: 0.25 },
  { engine: "sglang", model: "deepseek-ai/DeepSeek-V3.1", weight_format: "fp8-block-128", gpu: "nvidia-h200", gpu_count: 8, data_ranks: 8, dp_attention: "on", context_tokens: "16k", num_requests: 64 },
  { engine: "tensorrt_llm", model: "Qwen/Qwen3-30B-A3B", weight_format: "fp8-per-tensor", gpu: "nvidia-geforce-rtx-5090", gpu_count: 2, pipeline_stages: 2, cache_type_k: "fp8", context_tokens: "8k" },
  { engine: "transformers", model: "openai/gpt-oss-120b", weight_format: "mxfp4", gpu: "nvidia-gb10", context_tokens: "8k", prefill_tokens: 1000 },
  { engine: "transformers", model: "Qwen/Qwen3-30B-A3B", weight_format: "bf16", gpu: "nvidia-h100-80gb-hbm3", gpu_count: 2, cache_implementation: "static", flash_attn: "off", context_tokens: "4k" },
];

const vllm_scenarios = [
  { model: "meta-llama/Llama-3.1-8B-Instruct", weight_format: "bf16", context_tokens: "8k", num_requests: 16 },
  { model: "deepseek-ai/DeepSeek-V3.1", gpu: "nvidia-h200", gpu_count: 16, pipeline_stages: 2, cache_type_k: "fp8", context_tokens: "32k" },
  { model: "Qwen/Qwen3.5-9B", weight_format: "bf16", gpu_count: 2, speculative: "mtp", engine_version: "0.19.0", context_tokens: "16k" },
  { model: "openai/gpt-oss-120b", gpu_count: 2, expert_parallel: "on", max_num_seqs: 64, enforce_eager: "on" },
  { model: "google/gemma-3-27b-it", weight_format: "bf16", max_loras: 2, context_tokens: "8k", max_model_len: "32k" },
  { model: "meta-llama/Llama-3.1-8B-Instruct", weight_format: "Q4_K_M", gpu: "nvidia-geforce-rtx-4090", context_tokens: "4k" },
];

export const scenarios = [
  ...models.flatMap(([model, weight_format]) =>
    workloads.map((workload) => ({ model, weight_format, ...workload }))),
  ...staged_scenarios,
  ...llama_cpp_scenarios.map((scenario) => ({ engine: "llama_cpp", ...scenario })),
  ...vllm_scenarios.map((scenario) => ({ engine: "vllm", weight_format: "auto", ...scenario })),
];
