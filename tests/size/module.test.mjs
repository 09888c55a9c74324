// The modules stay small: a page that opens at once is the point of it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { module_dir } from "../wasm/shipped_module.mjs";

// The page starts with the main module alone. The others are loaded when what they have is asked for, by
// no first visit: they may be larger, and have bounds of their own. The one-file page holds one of
// everything; its own size is bounded.
const budgets = {
  vramgauge: { raw_bytes: 450_000, packed_bytes: 170_000 },
  vramgauge_servers: { raw_bytes: 530_000, packed_bytes: 230_000 },
  vramgauge_llama_cpp: { raw_bytes: 500_000, packed_bytes: 220_000 },
  vramgauge_tools: { raw_bytes: 450_000, packed_bytes: 170_000 },
  vramgauge_reader: { raw_bytes: 500_000, packed_bytes: 205_000 },
};

for (const [name, { raw_bytes, packed_bytes }] of Object.entries(budgets)) {
  const wasm = readFileSync(path.join(module_dir, `${name}.wasm`));

  test(`${name}.wasm is at most ${raw_bytes / 1000} kB`, (context) => {
    context.diagnostic(`${wasm.length} bytes`);
    assert.ok(wasm.length <= raw_bytes, `${wasm.length} bytes`);
  });

  test(`${name}.wasm is at most ${packed_bytes / 1000} kB gzipped`, (context) => {
    const packed = gzipSync(wasm, { level: 9 }).length;
    context.diagnostic(`${packed} bytes`);
    assert.ok(packed <= packed_bytes, `${packed} bytes`);
  });
}
