// Rows of ../truth/engine_logs.jsonl as questions to the gate: a machine, a scenario, and what happened.
import { existsSync, readFileSync } from "node:fs";
import { GIB } from "./device_machine.mjs";

const url_of = (name) => new URL(name, import.meta.url);
const read = (name) => readFileSync(url_of(name), "utf8");
const gpus = JSON.parse(read("../../presets/gpus.json")).gpus;
export const rows = read("../truth/engine_logs.jsonl").trim().split("\n").map((line) => JSON.parse(line));

/** Releases that a log does not print, by its date, as the truth tests take them (../truth/README.md). */
const dates = [["2023", "0.2"], ["Mar 2024", "0.3.3"], ["Jul 2024", "0.5.3"], ["Aug 2024", "0.5.5"], ["Oct 2024", "0.6.3"],
  ["Dec 2024", "0.6.5"], ["Jan 2025", "0.7.0"], ["Feb 2025", "0.7.2"], ["Mar 2025", "0.8.1"], ["Apr 2025", "0.8.4"],
  ["Jul 2025", "0.9.2"], ["Oct 2025", "0.11.0"], ["Jan 2026", "0.14.0"], ["Feb 2026", "0.15.0"], ["Apr 2026", "0.19.0"],
  ["2025", "0.8.4"], ["V0", "0.7.2"]];

/** What the row's source says and the row does not: ../truth/README.md, "fact, and where it is published". */
const facts = {
  "vllm44376-dsv4-flash-2xgh200": { max_num_batched_tokens: 16384 },
  "trtllm-llama31-8b-5090": { cache_type_k: "fp8", weight_format: "fp8-per-tensor" },
  // Refused before anything is loaded, whatever the model: the catalogue's smallest stands for one that it does not have.
  "vllm30707-5080-nvfp4": { model: "Qwen/Qwen3-0.6B", weight_format: "auto", max_model_len: 2048, context_tokens: 2048 },
  "ollama6160-mistral-small-22b-48k": { weight_format: "Q6_K", cache_type_k: "q8_0" },
};

/** How a checkpoint is stored that has no entry of its own, by its name and flags. */
const formats = [[/bnb-4bit|bitsandbytes/i, "bnb-4bit-double"], [/fp8-dynamic/i, "fp8-per-channel"], [/fp8/i, "fp8-per-channel"],
  [/w8a8/i, "ct-w8-int8"], [/nvfp4/i, "nvfp4"], [/awq/i, "awq-4bit-g128"], [/gptq|w4a16|4-bit/i, "gptq-4bit-g128"]];
const dtypes = { float16: "fp16", half: "fp16", bfloat16: "bf16", bf16: "bf16" };
const engines = { vllm: "vllm", sglang: "sglang", "tensorrt-llm": "tensorrt_llm", "llama.cpp": "llama_cpp", ollama: "llama_cpp" };

const words = (text) => ` ${text.toLowerCase().replace(/[^a-z0-9]+/g, " ").trim()} `;

const memory_of = (gpu) => gpu.usable_bytes ?? gpu.total_bytes;

/** The catalogue's GPU whose name or alias stands in the text, the longest of several; of a bare family the smallest. */
function named_gpu(text) {
  const stated = words(text);
  const names = gpus.filter((gpu) => !gpu.id.includes("-mig-"))
    .flatMap((gpu) => [gpu.name, ...(gpu.aliases ?? [])].map((name) => ({ name: words(name), gpu })));
  const found = names.filter(({ name }) => stated.includes(name));
  const longest = Math.max(0, ...found.map(({ name }) => name.length));
  const fitting = found.some(({ name }) => name === stated) ? names.filter(({ name }) => name.startsWith(stated))
    : found.filter(({ name }) => name.length === longest);
  return fitting.map(({ gpu }) => gpu).sort((a, b) => memory_of(a) - memory_of(b))[0];
}

/** What was free before the engine started, and by what line of the log; nothing when no line tells. */
function free_of(row) {
  const { measured } = row;
  if (measured.free_at_start_gib) return [measured.free_at_start_gib, "stated"];
  if (row.avail_at_start_gib) return [row.avail_at_start_gib, "stated"];
  if (measured.free_mib) return [measured.free_mib / 1024, "stated"];
  const available = row.gpu?.match(/([\d.]+) avail/);
  if (available) return [Number(available[1]), "stated"];
  // vLLM's first profile: what is in use once the model is loaded is the model, its context and others.
  if (measured.initial_memory_usage_gib) {
    const others = measured.initial_memory_usage_gib - measured.weights_gib - measured.non_torch_gib;
    return [row.total_gib - Math.max(0, others), "derived"];
  }
  return undefined;
}

function machine_of(row) {
  const gpu = named_gpu(row.gpu);
  const [free_gib, basis] = free_of(row) ?? [];
  const stated_gib = row.total_gib ?? row.measured.gpu_total_gib;
  const total = stated_gib ? Math.round(stated_gib * GIB) : gpu?.usable_bytes ?? gpu?.total_bytes ?? (free_gib && Math.round(free_gib * GIB));
  if (!total) return undefined;
  // Other makers' chips have no such number; their cards are asked about by memory alone.
  const [, major, minor] = gpu?.compute_capability?.match(/^(\d+)\.(\d+)$/)?.map(Number) ?? [0, 8, 0];
  return {
    basis: basis ?? (stated_gib ? "total" : "name"),
    total_bytes: total,
    free_bytes: Math.min(total, free_gib ? Math.round(free_gib * GIB) : total),
    device: { name: gpu?.vendor === "NVIDIA" ? gpu.name : "GPU of a log", total_bytes: total, usable_bytes: total, reserved_bytes: 0,
      capability_major: major, capability_minor: minor, multiprocessors: gpu?.multiprocessors ?? 108 },
  };
}

function version_of(row) {
  const stated = row.engine_version ?? "";
  const number = stated.match(/\d+\.\d+(\.\d+)?/);
  if (number) return number[0];
  return row.engine === "vllm" ? dates.find(([text]) => stated.includes(text))?.[1] ?? "" : "";
}

function weight_format_of(row) {
  const gguf = row.model.match(/\b(I?Q\d_\w+)\b/);
  if (gguf) return gguf[1];
  // A preset that is the checkpoint itself knows how it is stored.
  const own = (model_of(row) ?? "").split("__")[1] ?? "";
  const text = `${row.model} ${row.flags.quantization ?? ""}`;
  const found = formats.find(([pattern]) => pattern.test(text) && !pattern.test(own));
  return found?.[1] ?? dtypes[row.flags.dtype] ?? "auto";
}

/** The longest request that the model itself takes. */
const model_length = (preset) => JSON.parse(read(`../../presets/models/${preset}.json`)).max_context_tokens;

/**
 * What was asked for at once: the longest request. SGLang and TensorRT-LLM start with a pool that is shorter, and then it is nine
 * tenths of the pool that the log states.
 */
function asked_tokens(row, length) {
  const pool = row.measured.kv_tokens_full ?? row.measured.kv_tokens;
  const starts_with_less = !row.engine.startsWith("vllm") && row.measured.outcome === "fits" && pool < length;
  return starts_with_less ? Math.floor(pool * 0.9) : length;
}

const cache_types = (name) => (/^fp8/.test(name) ? "fp8" : { f16: "fp16", auto: "auto" }[name] ?? name);
const on_off = (value) => (value ? "on" : "off");

/** Flags of the row that are fields of every server. */
function server_fields(row) {
  const { flags, measured } = row;
  const gpu_count = row.gpu_count ?? 1;
  const length = flags.max_model_len ?? flags.context_length ?? flags.max_seq_len ?? measured.max_concurrency_len ?? model_length(model_of(row));
  const speculative = String(flags.speculative ?? "");
  return {
    gpu_count,
    tensor_ranks: flags.tensor_parallel_size ?? flags.world_size ?? gpu_count / (flags.pipeline_parallel_size ?? 1),
    pipeline_stages: flags.pipeline_parallel_size ?? 1,
    context_ranks: flags.decode_context_parallel_size,
    expert_parallel: flags.enable_expert_parallel === undefined ? undefined : on_off(flags.enable_expert_parallel),
    memory_frac: flags.gpu_memory_utilization ?? flags.mem_fraction_static,
    max_model_len: length,
    context_tokens: asked_tokens(row, length),
    max_num_batched_tokens: flags.max_num_batched_tokens ?? flags.chunked_prefill_size ?? flags.max_num_tokens,
    max_num_seqs: flags.max_num_seqs ?? flags.max_running_requests ?? flags.max_batch_size,
    block_tokens: flags.block_size,
    enforce_eager: flags.enforce_eager && "on",
    prefix_caching: flags.enable_prefix_caching === false ? "off" : undefined,
    cache_type_k: cache_types(flags.kv_cache_dtype ?? "auto"),
    speculative: speculative.includes("mtp") ? "mtp" : undefined,
    draft_tokens: Number(speculative.match(/k=(\d+)/)?.[1] ?? 0) || undefined,
    max_loras: flags.enable_lora ? 1 : undefined,
    max_lora_rank: flags.max_lora_rank,
    swa_full_tokens_ratio: flags.swa_full_tokens_ratio,
    cpu_offload_gib: flags.cpu_offload_gb,
  };
}

function llama_fields(row) {
  const { flags } = row;
  return { gpu_count: row.gpu_count ?? 1, context_tokens: flags.ctx ?? flags.n_ctx ?? flags.num_ctx, gpu_layers: flags.n_gpu_layers ?? flags.num_gpu,
    ubatch_tokens: flags.n_ubatch, swa_full: flags.swa_full === undefined ? undefined : on_off(flags.swa_full) };
}

/** The catalogue's model: the row's own, else the one of the name that the log prints; nothing when there is none. */
function model_of(row) {
  const named = row.preset ?? row.model.replace("/", "__");
  const given = facts[row.id]?.model?.replace("/", "__");
  return [named, given].find((id) => id && existsSync(url_of(`../../presets/models/${id}.json`)));
}

/** A row as {row, machine, scenario, outcome}, or {row, reason} where the gate cannot be asked about it. */
export function question_of(row) {
  const cannot = (reason) => ({ row, reason });
  const { outcome } = row.measured;
  if (outcome !== "fits" && outcome !== "oom") return cannot(`no outcome: ${outcome}`);
  const model = model_of(row);
  if (!model) return cannot("the log names no model that is known");
  const engine = engines[row.engine.split(/[ (]/)[0]];
  if (!engine) return cannot(`${row.engine} is not modelled`);
  if (!row.gpu || row.gpu === "CPU") return cannot("no GPU");
  const machine = machine_of(row);
  if (!machine) return cannot("the card's memory is neither stated nor known");
  const scenario = { engine, model: model.replace("__", "/"), num_requests: 1, weight_format: weight_format_of(row), engine_version: version_of(row),
    ...(engine === "llama_cpp" ? llama_fields(row) : server_fields(row)), ...facts[row.id] };
  for (const [key, value] of Object.entries(scenario)) if (value === undefined || value === "") delete scenario[key];
  return { row, machine, scenario, outcome };
}
