// Models from files on the command line: headers of GGUF and safetensors files, indexes, folders, and
// what is said about files that are none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gguf_header } from "../bench/gguf_header.mjs";

const repo_root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const native_dir = process.env.VRAMGAUGE_NATIVE_DIR ?? path.join(repo_root, "build/dev");
const program = path.join(native_dir, "core/tools/vramgauge");
const folder = mkdtempSync(path.join(tmpdir(), "vramgauge-files-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function run(args, input = "") {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", input });
  return { status, stdout, stderr };
}

function result_of({ status, stdout }) {
  assert.equal(status, 0, stdout);
  return JSON.parse(stdout).result;
}

/** Writes a file whose data are a hole: `size_bytes` long, but no longer on disk than `bytes`. */
function write(name, bytes, size_bytes = bytes.length) {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, bytes);
  truncateSync(file, size_bytes);
  return file;
}

const config = { model_type: "llama", hidden_size: 64, intermediate_size: 128, num_hidden_layers: 2,
  num_attention_heads: 4, num_key_value_heads: 2, vocab_size: 100, max_position_embeddings: 4096, tie_word_embeddings: false, torch_dtype: "bfloat16" };

const tensors = [["model.embed_tokens", [100, 64]], ["model.norm", [64]], ["lm_head", [100, 64]]];
for (const layer of [0, 1]) {
  const shapes = { input_layernorm: [64], "self_attn.q_proj": [64, 64], "self_attn.k_proj": [32, 64], "self_attn.v_proj": [32, 64],
    "self_attn.o_proj": [64, 64], post_attention_layernorm: [64], "mlp.gate_proj": [128, 64], "mlp.up_proj": [128, 64],
    "mlp.down_proj": [64, 128] };
  for (const [name, shape] of Object.entries(shapes)) tensors.push([`model.layers.${layer}.${name}`, shape]);
}
// 2 x 100 x 64 + 64 + 2 x (64 + 64 x 64 + 2 x 32 x 64 + 64 x 64 + 64 + 3 x 128 x 64) parameters in BF16.
const checkpoint_bytes = 2 * (2 * 6400 + 64 + 2 * (64 + 4096 + 2 * 2048 + 4096 + 64 + 3 * 8192));

const shard_name = (index, count) => `model-0000${index + 1}-of-0000${count}.safetensors`;

function write_shard(name, some) {
  const header = {};
  let end = 0;
  for (const [tensor, shape] of some) {
    const begin = end;
    end += 2 * shape.reduce((product, dim) => product * dim, 1);
    header[`${tensor}.weight`] = { dtype: "BF16", shape, data_offsets: [begin, end] };
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return write(name, Buffer.concat([length, json]), 8 + json.length + end);
}

function write_checkpoint(name, count) {
  const files = [write(`${name}/config.json`, Buffer.from(JSON.stringify(config)))];
  for (let i = 0; i < count; ++i)
    files.push(write_shard(`${name}/${shard_name(i, count)}`, tensors.filter((_, at) => at % count === i)));
  return files;
}

const small = gguf_header(1000);
const large_gguf = write("llama.gguf", small.header, small.file_bytes);

test("a GGUF file of 8 GB is read from its header, and its weights are exact", () => {
  const { stored, num_layers } = result_of(run(["import", "--json", large_gguf]));
  assert.equal(stored.total_bytes, small.tensor_bytes);
  assert.equal(stored.container, "gguf");
  assert.equal(num_layers, 32);
  const { weights, devices } = result_of(run(["estimate", "--json", "--model-file", large_gguf]));
  assert.equal(weights.total_bytes, small.tensor_bytes);
  assert.equal(devices[0].terms.find(({ id }) => id === "weights").basis, "exact");
});

test("people are told how much the files hold", () => {
  const { status, stdout, stderr } = run(["import", large_gguf]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^Weights: \d+\.\d\d GiB in 290 tensors \(gguf\)$/m);
});

test("a folder is its configuration and its shards; so are the files one by one", () => {
  const files = write_checkpoint("two", 2);
  write("two/tokenizer.json", Buffer.from("{}"));
  const whole = result_of(run(["import", "--json", path.join(folder, "two")]));
  assert.equal(whole.stored.total_bytes, checkpoint_bytes);
  assert.equal(whole.stored.container, "safetensors");
  assert.deepEqual(result_of(run(["import", "--json", ...files.reverse()])), whole);
});

test("an index and a configuration give the total", () => {
  const weight_map = Object.fromEntries(tensors.map(([name]) => [`${name}.weight`, shard_name(0, 2)]));
  const index = (total_size) => Buffer.from(JSON.stringify({ metadata: { total_size }, weight_map }));
  const files = [
    write("index/config.json", Buffer.from(JSON.stringify(config))),
    write("index/model.safetensors.index.json", index(checkpoint_bytes)),
  ];
  // The total is what the configuration's own tensors take: each of them is known.
  const agreeing = run(["import", "--json", ...files]);
  assert.equal(result_of(agreeing).stored.total_bytes, checkpoint_bytes);
  assert.deepEqual(JSON.parse(agreeing.stdout).warnings, []);
  write("index/model.safetensors.index.json", index(checkpoint_bytes + 1000));
  const other = run(["estimate", "--json", "--context-tokens", "4096", "--model-file", path.join(folder, "index")]);
  assert.equal(result_of(other).weights.total_bytes, checkpoint_bytes + 1000);
  assert.deepEqual(JSON.parse(other.stdout).warnings.map(({ code }) => code), ["import.total_only"]);
});

test("a model that was saved is the same model", () => {
  const saved = path.join(folder, "saved.json");
  assert.equal(run(["import", "--save", saved, large_gguf]).status, 0);
  const estimate = (...args) => result_of(run(["estimate", "--json", "--gpu-count", "2", ...args]));
  const direct = estimate("--model-file", large_gguf);
  assert.deepEqual(estimate("--model-file", saved), direct);
  assert.deepEqual(estimate("--config", saved, "--weight-format", "auto"), direct);
});

test("a flag overrides what the files say about the weights", () => {
  const { weights } = result_of(run(["estimate", "--json", "--model-file", path.join(folder, "two"), "--weight-format", "fp32"]));
  assert.equal(weights.total_bytes, 2 * checkpoint_bytes);
});

test("a configuration from standard input is read as a file is", () => {
  const file = write("config/config.json", Buffer.from(JSON.stringify(config)));
  assert.deepEqual(result_of(run(["import", "--json", "-"], JSON.stringify(config))), result_of(run(["import", "--json", file])));
});

test("what is wrong with files is said with their names", () => {
  write_checkpoint("missing", 3);
  rmSync(path.join(folder, "missing", shard_name(1, 3)));
  const cut = write("cut.gguf", small.header, small.header.length + 100);
  const cases = [
    [[path.join(folder, "missing")], "model-00002-of-00003.safetensors"],
    [[cut], `needs? ${small.file_bytes}`],
    [[large_gguf, write("other.gguf", small.header, small.file_bytes)], "llama.gguf and other.gguf"],
    [[write("pytorch_model.bin", Buffer.from("PK"))], "pytorch_model.bin is a pickle file"],
    [[write_shard("alone.safetensors", tensors)], "config.json is missing"],
    [[write("page.gguf", Buffer.from("<!doctype html><html><title>Sign in</title>"))], "does not begin with GGUF"],
  ];
  for (const [files, message] of cases) {
    const { status, stdout, stderr } = run(["import", ...files]);
    assert.equal(status, 3, stderr);
    assert.equal(stdout, "");
    assert.match(stderr, new RegExp(`^error: .*${message}`));
  }
  assert.equal(run(["estimate", "--model-file", cut]).status, 3);
  const unreadable = run(["import", path.join(folder, "no such file.gguf")]);
  assert.equal(unreadable.status, 64);
  assert.match(unreadable.stderr, /cannot read .*no such file\.gguf/);
});
