import { all_deflated, catalogue_deflated } from "virtual:core-embedded";
import type { CoreAssets } from "./assets";

async function inflate(base64: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** One module has everything: several would each carry what they have in common. */
let everything: Promise<WebAssembly.Module> | null = null;
const module = (): Promise<WebAssembly.Module> =>
  (everything ??= inflate(all_deflated).then((binary) => WebAssembly.compile(binary)));

export const assets: CoreAssets = {
  module,
  catalogue: () => inflate(catalogue_deflated),
  first_catalogue: () => null,
  model_facts: (file) => Promise.reject(new Error(`${file} is not in the embedded catalogue`)),
  all_models: () => null,
  engine_module: module,
  tools_module: module,
  reader_module: module,
  reader_catalogue: () => inflate(catalogue_deflated),
};
