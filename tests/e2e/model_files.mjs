/** Model files for tests of the page. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { split_in_two, with_vocabulary } from "./gguf_edit.mjs";
import { virtual_file } from "./hub_server.mjs";

const kHeaders = new URL("../data/gguf_headers/", import.meta.url);
const rows = readFileSync(new URL("../data/llamacpp_weights.csv", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => line.split(","));
const kColumns = rows[0];

/** What llama.cpp says of a file, by "model.quantisation". */
function facts(name) {
  const row = rows.find(([model, , quant]) => `${model}.${quant}` === name);
  const value = (column) => Number(row[kColumns.indexOf(column)]);
  return {
    tensor_bytes: value("tensor_bytes_sum"),
    data_bytes: value("gguf_data_bytes_aligned32"),
  };
}

const real_header = (name) => gunzipSync(readFileSync(new URL(`${name}.gguf.head.gz`, kHeaders)));

/**
 * A real header before data that is all zeros, as long as the real file. `extra_bytes` of vocabulary
 * make the header longer.
 */
export function gguf_file(name, extra_bytes = 0) {
  const { tensor_bytes, data_bytes } = facts(name);
  const real = real_header(name);
  const head = extra_bytes > 0 ? with_vocabulary(real, extra_bytes) : real;
  return { head, tensor_bytes, file: virtual_file(head, head.length + data_bytes) };
}

/** The same in two files, by name. */
export function gguf_parts(name) {
  const { tensor_bytes, data_bytes } = facts(name);
  const { first, second, cut } = split_in_two(real_header(name));
  return {
    tensor_bytes,
    files: {
      [`${name}-00001-of-00002.gguf`]: virtual_file(first, first.length + cut),
      [`${name}-00002-of-00002.gguf`]: virtual_file(second, second.length + data_bytes - cut),
    },
  };
}

/** A small Llama: 2 layers, all in 16 bits, in three shards. */
const kConfig = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  hidden_size: 512,
  intermediate_size: 1536,
  num_hidden_layers: 2,
  num_attention_heads: 8,
  num_key_value_heads: 2,
  head_dim: 64,
  vocab_size: 32_000,
  max_position_embeddings: 8192,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: false,
  torch_dtype: "bfloat16",
};

const kLayer = {
  "input_layernorm.weight": [512],
  "self_attn.q_proj.weight": [512, 512],
  "self_attn.k_proj.weight": [128, 512],
  "self_attn.v_proj.weight": [128, 512],
  "self_attn.o_proj.weight": [512, 512],
  "post_attention_layernorm.weight": [512],
  "mlp.gate_proj.weight": [1536, 512],
  "mlp.up_proj.weight": [1536, 512],
  "mlp.down_proj.weight": [512, 1536],
};
const layer = (index) =>
  Object.fromEntries(
    Object.entries(kLayer).map(([name, shape]) => [`model.layers.${index}.${name}`, shape]),
  );
const kShards = [
  { "model.embed_tokens.weight": [32_000, 512], ...layer(0) },
  layer(1),
  { "model.norm.weight": [512], "lm_head.weight": [32_000, 512] },
];
/**
 * Embedding and output 2 x 32,000 x 512; per layer 2 x 512 norms, q and o 2 x 512 x 512, k and v
 * 2 x 128 x 512, feed-forward 3 x 1,536 x 512; the last norm 512. Two bytes each.
 */
const kTensorBytes =
  2 * (2 * 32_000 * 512 + 2 * (2 * 512 + 2 * 512 * 512 + 2 * 128 * 512 + 3 * 1536 * 512) + 512);

function safetensors(shapes) {
  let at = 0;
  const header = Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => {
      const bytes = 2 * shape.reduce((product, dim) => product * dim, 1);
      const data_offsets = [at, (at += bytes)];
      return [name, { dtype: "BF16", shape, data_offsets }];
    }),
  );
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return virtual_file(Buffer.concat([length, text]), 8 + text.length + at);
}

/** Its files by name, and the bytes of its tensors. */
export function small_checkpoint() {
  const names = kShards.map((_, index) => `model-0000${index + 1}-of-00003.safetensors`);
  const weight_map = Object.fromEntries(
    kShards.flatMap((shapes, index) => Object.keys(shapes).map((name) => [name, names[index]])),
  );
  const index = { metadata: { total_size: kTensorBytes }, weight_map };
  return {
    tensor_bytes: kTensorBytes,
    files: {
      "README.md": virtual_file("x"),
      "config.json": virtual_file(JSON.stringify(kConfig)),
      "model.safetensors.index.json": virtual_file(JSON.stringify(index)),
      ...Object.fromEntries(kShards.map((shapes, part) => [names[part], safetensors(shapes)])),
    },
  };
}
