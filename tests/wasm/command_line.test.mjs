// The command line as people use it: what it prints, where, and its exit codes.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { native_dir } from "./shipped_module.mjs";

const program = path.join(native_dir, "core/tools/vramgauge");
const folder = mkdtempSync(path.join(tmpdir(), "vramgauge-cli-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function run(args, input = "") {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", input });
  return { status, stdout, stderr };
}

test("the example does not fit, and says why", () => {
  const { status, stdout, stderr } = run(["estimate"]);
  assert.equal(status, 0);
  assert.equal(stderr, "");
  assert.match(stdout, /^Does not fit: \d+\.\d\d GiB short/);
  assert.match(stdout, /2 × 80 × 8 × 128 × 2 B = 327,680/);
});

test("a scenario from standard input, a file, a link and flags is the same scenario", () => {
  const scenario = { model: "meta-llama/Llama-3.1-8B-Instruct", weight_format: "bf16", context_tokens: 8192 };
  const file = path.join(folder, "scenario.json");
  writeFileSync(file, JSON.stringify(scenario));
  const answers = [
    run(["estimate", "--json", "--scenario", "-"], JSON.stringify(scenario)),
    run(["estimate", "--json", "--scenario", file]),
    run(["estimate", "--json", "v=1&model=meta-llama/Llama-3.1-8B-Instruct&weight_format=bf16&context_tokens=8192"]),
    run(["estimate", "--json", "--model", "llama 3.1 8b instruct", "--weight-format", "BF16", "--context-tokens", "8k"]),
  ];
  for (const { status, stdout } of answers) {
    assert.equal(status, 0);
    assert.equal(stdout, answers[0].stdout);
  }
});

test("flags override the link, and the link of both comes back", () => {
  const { stdout } = run(["link", "v=1&context_tokens=8192&num_requests=5", "--context-tokens", "4K"]);
  assert.equal(stdout, "v=1&context_tokens=4096&num_requests=5\n");
  assert.deepEqual(JSON.parse(run(["link", "--decode", stdout.trim()]).stdout), { context_tokens: 4096, num_requests: 5 });
});

test("the catalogue is searched by words", () => {
  const { status, stdout } = run(["catalog", "gpus", "h100 nvl"]);
  assert.equal(status, 0);
  assert.match(stdout, /^nvidia-h100-nvl /);
});

test("import reads a configuration and names what is wrong with one", () => {
  const config = { model_type: "llama", hidden_size: 4096, intermediate_size: 14336, num_hidden_layers: 32,
    num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 128256, tie_word_embeddings: false };
  const good = run(["import", "-"], JSON.stringify(config));
  assert.equal(good.status, 0);
  assert.match(good.stdout, /Parameters: 8,030,261,248/);
  const bad = run(["import", "-"], JSON.stringify({ ...config, num_key_value_heads: 7 }));
  assert.equal(bad.status, 3);
  assert.equal(bad.stdout, "");
  assert.match(bad.stderr, /\[\/num_key_value_heads\] \(line 1, column \d+\)/);
});

test("what cannot be answered ends with 3, wrong usage with 64", () => {
  assert.equal(run(["estimate", "--gpu", "no such card"]).status, 3);
  assert.equal(run(["estimate", "v=99"]).status, 3);
  for (const args of [[], ["estimate", "--no-such-flag"], ["import", path.join(folder, "missing")], ["catalog"]])
    assert.equal(run(args).status, 64, args.join(" "));
});

test("fit says what is chosen, and its patch is a scenario that fits", () => {
  const flags = ["--model", "llama 3.1 8b instruct", "--weight-format", "Q8_0", "--gpu", "custom", "--gpu-memory-gib", "8"];
  const { status, stdout, stderr } = run(["fit", ...flags]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^Layers are divided between GPUs and host memory; the verdict is (fits|tight)\n {2}context {9}4,096 tokens, 4 requests/);
  const { result } = JSON.parse(run(["fit", "--json", ...flags]).stdout);
  const scenario = { model: "llama 3.1 8b instruct", weight_format: "Q8_0", gpu: "custom", gpu_memory_gib: 8, ...result.scenario_patch };
  const estimate = JSON.parse(run(["estimate", "--json", "--scenario", "-"], JSON.stringify(scenario)).stdout);
  assert.equal(estimate.result.verdict.state, result.verdict);
  const ollama = JSON.parse(run(["fit", "--json", "--launcher", "ollama", ...flags]).stdout);
  assert.equal(ollama.result.num_requests, 1);
});
