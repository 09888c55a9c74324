// A GGUF header as converters write it for a model of 8 billion parameters: a vocabulary of words of
// all lengths with scores, types and merges, then the tensors.

const types = { u32: 4, i32: 5, f32: 6, string: 8, array: 9 };
const alignment = 32;
const q8_0 = 8;

class Writer {
  constructor() {
    this.parts = [];
  }
  u32(value) {
    const part = Buffer.alloc(4);
    part.writeUInt32LE(value);
    this.parts.push(part);
  }
  u64(value) {
    const part = Buffer.alloc(8);
    part.writeBigUInt64LE(BigInt(value));
    this.parts.push(part);
  }
  text(value) {
    const bytes = Buffer.from(value);
    this.u64(bytes.length);
    this.parts.push(bytes);
  }
  key(name, type) {
    this.text(name);
    this.u32(type);
  }
  u32_key(name, value) {
    this.key(name, types.u32);
    this.u32(value);
  }
  array_key(name, element, count) {
    this.key(name, types.array);
    this.u32(element);
    this.u64(count);
  }
}

/** Word of 1 to 12 letters, the same for the same number; some have letters of two bytes. */
function word(number) {
  const length = 1 + (number % 12);
  const letters = number % 7 === 0 ? "éàüñçøå" : "etaoinshrdlucmfwyp";
  let text = "";
  for (let i = 0, rest = number; i < length; ++i, rest = Math.floor(rest / 3) + 17 * i)
    text += letters[rest % letters.length];
  return text;
}

function write_vocabulary(writer, size) {
  writer.key("tokenizer.ggml.model", types.string);
  writer.text("gpt2");
  writer.array_key("tokenizer.ggml.tokens", types.string, size);
  for (let i = 0; i < size; ++i) writer.text(word(i));
  writer.array_key("tokenizer.ggml.scores", types.f32, size);
  writer.parts.push(Buffer.from(Float32Array.from({ length: size }, (_, i) => -i).buffer));
  writer.array_key("tokenizer.ggml.token_type", types.i32, size);
  writer.parts.push(Buffer.from(Int32Array.from({ length: size }, () => 1).buffer));
  writer.array_key("tokenizer.ggml.merges", types.string, size - 1000);
  for (let i = 0; i < size - 1000; ++i) writer.text(`${word(i)} ${word(i + 5)}`.slice(0, 14));
}

function tensors(vocabulary) {
  const hidden = 4096;
  const list = [["token_embd.weight", [hidden, vocabulary]], ["output_norm.weight", [hidden]]];
  for (let layer = 0; layer < 32; ++layer) {
    const blk = `blk.${layer}.`;
    list.push(
      [`${blk}attn_norm.weight`, [hidden]],
      [`${blk}attn_q.weight`, [hidden, 4096]],
      [`${blk}attn_k.weight`, [hidden, 1024]],
      [`${blk}attn_v.weight`, [hidden, 1024]],
      [`${blk}attn_output.weight`, [4096, hidden]],
      [`${blk}ffn_norm.weight`, [hidden]],
      [`${blk}ffn_gate.weight`, [hidden, 14336]],
      [`${blk}ffn_up.weight`, [hidden, 14336]],
      [`${blk}ffn_down.weight`, [14336, hidden]],
    );
  }
  return list;
}

/** The header's bytes, the length of the whole file, and the bytes of all tensors. */
export function gguf_header(vocabulary) {
  const writer = new Writer();
  const list = tensors(vocabulary);
  writer.parts.push(Buffer.from("GGUF"));
  writer.u32(3);
  writer.u64(list.length);
  writer.u64(12);
  writer.key("general.architecture", types.string);
  writer.text("llama");
  const numbers = { block_count: 32, embedding_length: 4096, feed_forward_length: 14336, context_length: 8192,
    "attention.head_count": 32, "attention.head_count_kv": 8 };
  for (const [name, value] of Object.entries(numbers)) writer.u32_key(`llama.${name}`, value);
  write_vocabulary(writer, vocabulary);
  let tensor_bytes = 0;
  for (const [name, dims] of list) {
    writer.text(name);
    writer.u32(dims.length);
    for (const dim of dims) writer.u64(dim);
    writer.u32(q8_0);
    writer.u64(tensor_bytes);
    // 34 bytes for 32 weights; every row is a multiple of them, and every tensor of the alignment.
    tensor_bytes += (dims.reduce((product, dim) => product * dim, 1) / 32) * 34;
  }
  const bytes = Buffer.concat(writer.parts);
  const header = Buffer.concat([bytes, Buffer.alloc((alignment - (bytes.length % alignment)) % alignment)]);
  return { header, file_bytes: header.length + tensor_bytes, tensor_bytes };
}
