// Time to read a GGUF header with a large vocabulary: the reader module beside the npm package
// @huggingface/gguf, in one process. Printed, never asserted. The native reader:
// build/release/tests/bench/vramgauge_bench --benchmark_filter=Header
import { gguf } from "@huggingface/gguf";
import { gguf_header } from "./gguf_header.mjs";
import { new_reader, read_files } from "./wasm_reader.mjs";

const vocabulary = 262_144;
const rounds = 15;

async function median_ms(run) {
  const times = [];
  for (let i = 0; i < rounds; ++i) {
    const begin = performance.now();
    await run();
    times.push(performance.now() - begin);
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)];
}

/** Ranges of the file from memory, as the package asks for them. */
function memory_fetch(header, file_bytes) {
  return async (_url, { headers }) => {
    const [, begin, end] = headers.Range.match(/bytes=(\d+)-(\d+)/).map(Number);
    const last = Math.min(end, file_bytes - 1);
    return new Response(header.subarray(begin, end + 1), {
      status: 206,
      headers: { "content-range": `bytes ${begin}-${last}/${file_bytes}` },
    });
  };
}

const { header, file_bytes } = gguf_header(vocabulary);
const megabytes = header.length / 1e6;
const { reader, memory_bytes } = await new_reader();
const files = [{ name: "model.gguf", bytes: header, size_bytes: file_bytes }];
const memory_before = memory_bytes();

const wasm_ms = await median_ms(() => read_files(reader, files));
const npm_ms = await median_ms(() => gguf("https://localhost/model.gguf", { fetch: memory_fetch(header, file_bytes) }));

const line = (name, ms) => console.log(`${name.padEnd(24)}${ms.toFixed(2).padStart(9)} ms ${(megabytes / ms).toFixed(3).padStart(9)} GB/s`);
console.log(`GGUF header of ${megabytes.toFixed(1)} MB, ${vocabulary} words, median of ${rounds}`);
line("vramgauge, WASM", wasm_ms);
line("@huggingface/gguf", npm_ms);
console.log(`${(npm_ms / wasm_ms).toFixed(1)} times as fast; its memory grew by ${(memory_bytes() - memory_before) / 1024} KiB`);
