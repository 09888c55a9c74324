import { catalogue_root, llama_cpp_url, main_url, reader_url, servers_url, tools_url } from "virtual:core-urls";
import type { CoreAssets } from "./assets";

/** The site's folder: scripts lie one below it. A foreign page that loads them has another address. */
const script_address = import.meta.url;
export const site_root = new URL("..", script_address);

async function fetch_ok(url: URL): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} ${url.pathname}`);
  return response;
}

async function fetch_bytes(path: string): Promise<Uint8Array> {
  const response = await fetch_ok(new URL(path, site_root));
  return new Uint8Array(await response.arrayBuffer());
}

/** Facts files are plain names below models/; anything else is not ours to fetch. */
function checked_file(file: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*\.json$/.test(file))
    throw new Error(`unexpected file name ${file}`);
  return file;
}

/** Whether a copy of the site is kept in this browser: it holds all models in one file. */
function is_kept(): boolean {
  try {
    return !!navigator.serviceWorker?.controller;
  } catch {
    return false;
  }
}

async function fetch_module(path: string): Promise<WebAssembly.Module> {
  const response = await fetch_ok(new URL(path, site_root));
  // Streaming compilation needs the right MIME type; some plain file servers do not send it.
  if (response.headers.get("content-type") === "application/wasm")
    return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

export const assets: CoreAssets = {
  module: () => fetch_module(main_url),
  catalogue: () => fetch_bytes(`${catalogue_root}/core.json`),
  first_catalogue: () => fetch_bytes(`${catalogue_root}/first.json`),
  model_facts: async (file) =>
    fetch_bytes(`${catalogue_root}/${is_kept() ? "models.json" : `models/${checked_file(file)}`}`),
  all_models: () => fetch_bytes(`${catalogue_root}/models.json`),
  engine_module: (name) => fetch_module(name === "servers" ? servers_url : llama_cpp_url),
  tools_module: () => fetch_module(tools_url),
  reader_module: () => fetch_module(reader_url),
  reader_catalogue: () => fetch_bytes(`${catalogue_root}/reader.json`),
};
