// Writes the accuracy tables of the READMEs from the truth files:
//   node tests/tools/accuracy_docs.mjs PROGRAM     (the command line, such as build/dev/core/tools/vramgauge)
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { repo_root } from "../architecture/source_tree.mjs";

const begin = "<!-- accuracy:begin -->\n";
const end = "<!-- accuracy:end -->";
const max_output_bytes = 64 << 20;

/** What a reader of the table looks for; other quantities are steps on the way there. */
const rows = [
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

/** The documents that hold the table, with its words: columns, then a caption per row. */
export const documents = [
  {
    file: "README.md",
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
  const files = ["tests/truth/llamacpp.csv.gz", "tests/data/llamacpp_weights.csv"];
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

export function accuracy_table(files, { columns, captions }) {
  const lines = [`| ${columns.join(" | ")} |`, `|${" --- |".repeat(columns.length)}`];
  for (const [index, [file, key]] of rows.entries()) {
    const { quantities } = files.find((one) => one.file.endsWith(`/${file}`));
    const q = quantities[key];
    const cells = [
      captions[index],
      count(q.rows),
      count(q.exact),
      per_cent(q.median_pct),
      per_cent(q.p99_pct),
      per_cent(q.max_pct),
      `${q.band_pct.toFixed(1)} %`,
    ];
    lines.push(`| ${cells.join(" | ")} |`);
  }
  return `${lines.join("\n")}\n`;
}

/** A document with that table in it. */
export function with_table(text, table) {
  const from = text.indexOf(begin) + begin.length;
  return text.slice(0, from) + table + text.slice(text.indexOf(end));
}

export function read_document(file) {
  return readFileSync(path.join(repo_root, file), "utf8");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const files = measured(path.resolve(process.argv[2]));
  for (const document of documents) {
    const text = with_table(read_document(document.file), accuracy_table(files, document));
    writeFileSync(path.join(repo_root, document.file), text);
  }
}
