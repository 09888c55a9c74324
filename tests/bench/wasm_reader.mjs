// The reader module as the page uses it, over bytes in memory; says how much memory it took.
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const repo_root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const module_dir = process.env.VRAMGAUGE_CORE_DIR ?? path.join(repo_root, "build/wasm/wasm");

// The module is built for the web only; this is all of it that it looks at.
globalThis.window ??= globalThis;

/** A fresh instance, with a way to see its memory. */
export async function new_reader() {
  const { default: create } = await import(pathToFileURL(path.join(module_dir, "vramgauge_reader.mjs")).href);
  const binary = readFileSync(path.join(module_dir, "vramgauge_reader.wasm"));
  let memory = null;
  const module = await create({
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(binary, imports).then(({ instance, module: compiled }) => {
        memory = Object.values(instance.exports).find((value) => value instanceof WebAssembly.Memory);
        done(instance, compiled);
      });
      return {};
    },
  });
  return { reader: new module.Reader(), memory_bytes: () => memory.buffer.byteLength };
}

function result_of(reply) {
  const envelope = JSON.parse(reply);
  if (!envelope.ok) throw new Error(JSON.stringify(envelope.errors));
  return envelope.result;
}

/** Reads files {name, bytes, size_bytes}; the answer of finish_document(). */
export function read_files(reader, files) {
  const named = files.map(({ name, size_bytes }) => ({ name, size_bytes }));
  let { wanted } = result_of(reader.open(JSON.stringify({ files: named })));
  while (wanted.length > 0) {
    const { file, offset_bytes, length_bytes } = wanted[0];
    const bytes = files[file].bytes.subarray(offset_bytes, offset_bytes + length_bytes);
    ({ wanted } = result_of(reader.feed(file, offset_bytes, bytes)));
  }
  return result_of(reader.finish_document());
}
