// Writes the accuracy tables of the READMEs from the truth files:
//   node tests/tools/accuracy_docs.mjs PROGRAM     (the command line, such as build/dev/core/tools/vramgauge)
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { repo_root } from "../architecture/source_tree.mjs";

const max_output_bytes = 64 << 20;

/** What a reader of llama.cpp's table looks for; other quantities are steps on the way there. */
const llama_cpp_rows = [
  ["llamacpp.csv.gz", "weights_detail"],
  ["llamacpp.csv.gz", "kv_detail"],
  ["llamacpp.csv.gz", "kv_indexer_bytes"],
  ["llamacpp.csv.gz", "rs_bytes"],
  ["llamacpp.csv.gz", "output_bytes"],
  ["llamacpp.csv.gz", "compute_detail"],
  ["llamacpp.csv.gz", "total_bytes"],
  ["llamacpp.csv.gz", "refused"],
  ["llamacpp_weights.csv", "gpu_all_device"],
  ["llamacpp_weights.csv", "cpu_plain"],
];

/** Figures of the campaign of vLLM runs, and whether their errors are a share or in GiB. */
const run_rows = [
  ["weights_gib", "share"],
  ["kv_gib", "share"],
  ["tokens", "share"],
  ["concurrency", "share"],
  ["activation_gib", "gib"],
  ["non_torch_gib", "gib"],
];

/** Figures of posted start-up logs. */
const log_rows = ["weights_gib", "kv_bytes_per_token", "hybrid_tokens", "hybrid_concurrency", "kv_needed_gib", "kv_gib"];

/** The documents that hold the tables, with their words: columns, then a caption per row. */
export const documents = [
  {
    file: "README.md",
    runs: {
      columns: ["vLLM 0.19 on H100, 38 runs", "mean error", "largest", "in the band", "constants of other models: mean", "largest"],
      captions: ["weights", "KV cache", "tokens in the cache", "concurrency", "activation peak", "memory beside PyTorch's"],
    },
    logs: {
      columns: ["posted start-up logs", "rows", "asked", "met", "in the band"],
      captions: [
        ["weights as loaded", "1.5 %"],
        ["cache bytes per token", "0.5 % and rounding"],
        ["hybrids: tokens in the cache", "0.5 % and rounding"],
        ["hybrids: concurrency", "0.5 % and rounding"],
        ["cache that one request needs", "1 %"],
        ["KV cache", "6 % of it or 1 % of the card"],
      ],
      outcome: ["starts, or is refused", "the verdict", (tight) => `${tight} tight`],
    },
    columns: ["llama.cpp", "compared", "equal to the byte", "median error", "99 % within", "largest", "in the band"],
    captions: [
      "weights, each buffer",
      "KV cache, each buffer",
      "index keys",
      "recurrent state",
      "output buffer",
      "compute, each buffer",
      "everything",
      "refusals, in the engine's words",
      "weights of 145 files, on one GPU",
      "the same, on the CPU",
    ],
  },
  {
    file: "README.zh-CN.md",
    runs: {
      columns: ["H100 上的 vLLM 0.19（38 次运行）", "平均误差", "最大误差", "在误差带内", "常数取自其他模型：平均误差", "最大误差"],
      captions: ["权重", "KV 缓存", "缓存的 token 数", "并发数", "激活峰值", "PyTorch 之外的内存"],
    },
    logs: {
      columns: ["公开的启动日志", "条数", "要求", "达到", "在误差带内"],
      captions: [
        ["加载后的权重", "1.5 %"],
        ["每个 token 的缓存字节数", "0.5 % 加舍入"],
        ["混合架构：缓存的 token 数", "0.5 % 加舍入"],
        ["混合架构：并发数", "0.5 % 加舍入"],
        ["一个请求所需的缓存", "1 %"],
        ["KV 缓存", "其 6 % 或显卡的 1 %"],
      ],
      outcome: ["能否启动", "结论", (tight) => `其中 ${tight} 条为勉强`],
    },
    columns: ["llama.cpp", "比较数", "逐字节相等", "误差中位数", "99 % 不超过", "最大误差", "在误差带内"],
    captions: [
      "权重（各缓冲区）",
      "KV 缓存（各缓冲区）",
      "索引键",
      "循环状态",
      "输出缓冲区",
      "计算缓冲区（各个）",
      "合计",
      "拒绝启动（与引擎原话一致）",
      "145 个文件的权重（单 GPU）",
      "同上（CPU）",
    ],
  },
];

/** Predictions for every row of the truth files, as `vramgauge accuracy --json` gives them. */
export function measured(program) {
  const files = [
    "tests/truth/llamacpp.csv.gz",
    "tests/data/llamacpp_weights.csv",
    "tests/truth/vllm_h100_v019.csv",
    "tests/truth/engine_logs.jsonl",
  ];
  const output = execFileSync(
    program,
    ["accuracy", ...files, "--headers", "tests/data/gguf_headers", "--json", "--worst", "1"],
    { cwd: repo_root, maxBuffer: max_output_bytes, encoding: "utf8" },
  );
  return JSON.parse(output);
}

function count(number) {
  return number.toLocaleString("en-US");
}

function per_cent(number) {
  return number === 0 ? "0" : `${number.toFixed(3)} %`;
}

function quantities_of(files, name) {
  return files.find((one) => one.file.endsWith(`/${name}`)).quantities;
}

function table(columns, rows) {
  const lines = [`| ${columns.join(" | ")} |`, `|${" --- |".repeat(columns.length)}`];
  for (const cells of rows) lines.push(`| ${cells.join(" | ")} |`);
  return `${lines.join("\n")}\n`;
}

function llama_cpp_table(files, { columns, captions }) {
  const rows = llama_cpp_rows.map(([file, key], index) => {
    const q = quantities_of(files, file)[key];
    return [
      captions[index],
      count(q.rows),
      count(q.exact),
      per_cent(q.median_pct),
      per_cent(q.p99_pct),
      per_cent(q.max_pct),
      `${q.band_pct.toFixed(1)} %`,
    ];
  });
  return table(columns, rows);
}

/** Mean and largest error of a quantity, as a share or in GiB. */
function errors(quantity, unit) {
  return unit === "share"
    ? [quantity.mean_pct, quantity.max_pct].map((value) => `${value.toFixed(2)} %`)
    : [quantity.mean_abs, quantity.max_abs].map((value) => `${value.toFixed(3)} GiB`);
}

function runs_table(files, { runs: { columns, captions } }) {
  const quantities = quantities_of(files, "vllm_h100_v019.csv");
  const rows = run_rows.map(([key, unit], index) => {
    const held_out = quantities[`${key}_held_out`];
    return [
      captions[index],
      ...errors(quantities[key], unit),
      `${quantities[key].band_pct.toFixed(1)} %`,
      ...(held_out === undefined ? ["–", "–"] : errors(held_out, unit)),
    ];
  });
  return table(columns, rows);
}

function logs_table(files, { logs: { columns, captions, outcome } }) {
  const quantities = quantities_of(files, "engine_logs.jsonl");
  const rows = log_rows.map((key, index) => {
    const q = quantities[key];
    const band = key === "kv_gib" ? `${q.band_pct.toFixed(1)} %` : "–";
    return [captions[index][0], q.rows, captions[index][1], `${q.within} (${q.within_pct.toFixed(1)} %)`, band];
  });
  const { rows: all, right, right_pct, tight } = quantities.outcome;
  const [caption, asked, tight_text] = outcome;
  rows.push([caption, all, asked, `${right} (${right_pct.toFixed(1)} %)`, tight_text(tight)]);
  return table(columns, rows);
}

/** Where each table stands in a document: between two comments of that name. */
const tables = [
  ["accuracy", llama_cpp_table],
  ["accuracy:runs", runs_table],
  ["accuracy:logs", logs_table],
];

/** A document's text with the tables in it. */
export function with_tables(text, files, document) {
  return tables.reduce((before, [name, make]) => {
    const begin = `<!-- ${name}:begin -->\n`;
    const from = before.indexOf(begin) + begin.length;
    const to = before.indexOf(`<!-- ${name}:end -->`);
    return before.slice(0, from) + make(files, document) + before.slice(to);
  }, text);
}

export function read_document(file) {
  return readFileSync(path.join(repo_root, file), "utf8");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const files = measured(path.resolve(process.argv[2]));
  for (const document of documents) {
    const text = with_tables(read_document(document.file), files, document);
    writeFileSync(path.join(repo_root, document.file), text);
  }
}
