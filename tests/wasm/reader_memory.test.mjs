// How much memory the reader module takes for headers: a count, not a time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gguf_header } from "../bench/gguf_header.mjs";
import { new_reader, read_files } from "../bench/wasm_reader.mjs";

test("a GGUF header with a vocabulary of 262,144 words takes less than three times its length", async () => {
  const { header, file_bytes, tensor_bytes } = gguf_header(262_144);
  assert.ok(header.length > 11e6);
  const { reader, memory_bytes } = await new_reader();
  const before = memory_bytes();
  const { stored } = read_files(reader, [{ name: "model.gguf", bytes: header, size_bytes: file_bytes }]);
  assert.equal(stored.total_bytes, tensor_bytes);
  // What the module begins with counts as well: its code's data and an empty heap.
  assert.ok(memory_bytes() < 3 * header.length, `${memory_bytes()} bytes, ${before} before`);
});

test("a header of 32 MB of words needs no more memory than one of 11 MB", async () => {
  const { header, file_bytes } = gguf_header(700_000);
  assert.ok(header.length > 30e6);
  const { reader, memory_bytes } = await new_reader();
  const before = memory_bytes();
  read_files(reader, [{ name: "model.gguf", bytes: header, size_bytes: file_bytes }]);
  assert.equal(memory_bytes(), before);
});

test("a safetensors header takes less than three times its length", async () => {
  // The names of the experts of one layer of DeepSeek-V3, in many layers: some 20 MB.
  const header = {};
  let end = 0;
  for (let layer = 0; layer < 200; ++layer) {
    header[`model.layers.${layer}.input_layernorm.weight`] = { dtype: "BF16", shape: [2], data_offsets: [end, (end += 4)] };
    for (let expert = 0; expert < 256; ++expert) {
      for (const part of ["gate_proj", "up_proj", "down_proj"])
        header[`model.layers.${layer}.mlp.experts.${expert}.${part}.weight`] = { dtype: "F8_E4M3", shape: [2, 2], data_offsets: [end, (end += 4)] };
    }
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const bytes = Buffer.concat([length, json]);
  const { reader, memory_bytes } = await new_reader();
  const before = memory_bytes();
  assert.throws(() => read_files(reader, [{ name: "model.safetensors", bytes, size_bytes: bytes.length + end }]), /import\.no_config/);
  assert.ok(memory_bytes() - before < 3 * bytes.length, `${memory_bytes() - before} bytes for ${bytes.length}`);
});
