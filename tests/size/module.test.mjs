// The modules stay small: a page that opens at once is the point of it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { module_dir } from "../wasm/shipped_module.mjs";

for (const name of ["vramgauge", "vramgauge_reader"]) {
  const wasm = readFileSync(path.join(module_dir, `${name}.wasm`));

  test(`${name}.wasm is at most 450 kB`, (context) => {
    context.diagnostic(`${wasm.length} bytes`);
    assert.ok(wasm.length <= 450_000, `${wasm.length} bytes`);
  });

  test(`${name}.wasm is at most 170 kB gzipped`, (context) => {
    const packed = gzipSync(wasm, { level: 9 }).length;
    context.diagnostic(`${packed} bytes`);
    assert.ok(packed <= 170_000, `${packed} bytes`);
  });
}
