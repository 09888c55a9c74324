import {
  catalogue_deflated,
  llama_cpp_deflated,
  main_deflated,
  reader_deflated,
  tools_deflated,
} from "virtual:core-embedded";
import type { CoreAssets } from "./assets";

async function inflate(base64: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export const assets: CoreAssets = {
  module: async () => WebAssembly.compile(await inflate(main_deflated)),
  catalogue: () => inflate(catalogue_deflated),
  model_facts: (file) => Promise.reject(new Error(`${file} is not in the embedded catalogue`)),
  all_models: () => null,
  llama_cpp_module: async () => WebAssembly.compile(await inflate(llama_cpp_deflated)),
  tools_module: async () => WebAssembly.compile(await inflate(tools_deflated)),
  reader_module: async () => WebAssembly.compile(await inflate(reader_deflated)),
  reader_catalogue: () => inflate(catalogue_deflated),
};
