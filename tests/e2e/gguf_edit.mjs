/** Changes to real GGUF headers (version 3, little-endian), for tests: longer ones and split ones. */

const kFixedHeader = 24;
const kAlignment = 32;
const kString = 8;
const kArray = 9;
/** Bytes of values by type identifier. */
const kWidths = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
const kU16 = 2;
const kI32 = 5;

const u32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const text = (value) => Buffer.concat([u64(value.length), Buffer.from(value)]);
const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc(-bytes.length & (kAlignment - 1))]);

function number_entry(key, type, value) {
  const bytes = Buffer.alloc(kWidths[type]);
  bytes.writeUIntLE(value, 0, bytes.length);
  return Buffer.concat([text(key), u32(type), bytes]);
}

/** Where the value of that type at `at` ends. */
function value_end(head, type, at) {
  if (type === kString) return at + 8 + Number(head.readBigUInt64LE(at));
  if (type !== kArray) return at + kWidths[type];
  const element = head.readUInt32LE(at);
  const count = Number(head.readBigUInt64LE(at + 4));
  let end = at + 12;
  for (let index = 0; index < count; ++index) end = value_end(head, element, end);
  return end;
}

/** The entries as they stand, and the tensors one by one. */
function parse(head) {
  const num_tensors = Number(head.readBigUInt64LE(8));
  const num_entries = Number(head.readBigUInt64LE(16));
  let at = kFixedHeader;
  for (let index = 0; index < num_entries; ++index) {
    const type_at = value_end(head, kString, at);
    at = value_end(head, head.readUInt32LE(type_at), type_at + 4);
  }
  const entries = head.subarray(kFixedHeader, at);
  const tensors = Array.from({ length: num_tensors }, () => {
    const name_end = value_end(head, kString, at);
    const end = name_end + 4 + 8 * head.readUInt32LE(name_end) + 4;
    const tensor = { info: head.subarray(at, end), offset: Number(head.readBigUInt64LE(end)) };
    at = end + 8;
    return tensor;
  });
  return { num_entries, entries, tensors };
}

function write(num_entries, entries, tensors) {
  const base = tensors[0].offset;
  const infos = tensors.map(({ info, offset }) => Buffer.concat([info, u64(offset - base)]));
  const fixed = Buffer.concat([Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(num_entries)]);
  return padded(Buffer.concat([fixed, ...entries, ...infos]));
}

/** The same header with a list of strings of about `bytes` bytes before everything else. */
export function with_vocabulary(head, bytes) {
  const { num_entries, entries, tensors } = parse(head);
  const token = text("x".repeat(24));
  const count = Math.ceil(bytes / token.length);
  const list = Buffer.concat([
    text("test.vocabulary"),
    u32(kArray),
    u32(kString),
    u64(count),
    Buffer.alloc(count * token.length, token),
  ]);
  return write(num_entries + 1, [list, entries], tensors);
}

/** The header in two: of the first file, of the second, and where the data is cut. */
export function split_in_two(head) {
  const { num_entries, entries, tensors } = parse(head);
  const half = Math.floor(tensors.length / 2);
  const part = (index) => [
    number_entry("split.no", kU16, index),
    number_entry("split.count", kU16, 2),
    number_entry("split.tensors.count", kI32, tensors.length),
  ];
  return {
    first: write(num_entries + 3, [entries, ...part(0)], tensors.slice(0, half)),
    second: write(3, part(1), tensors.slice(half)),
    cut: tensors[half].offset,
  };
}
