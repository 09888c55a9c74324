// Loads the module that the page loads, as the page does: the same file, its bytes handed over.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const repo_root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const module_dir = path.join(repo_root, "build/wasm/wasm");

// The module is built for the web only; this is all of it that it looks at.
globalThis.window ??= globalThis;

const wasmBinary = readFileSync(path.join(module_dir, "vramgauge.wasm"));
const { default: create_module } = await import(pathToFileURL(path.join(module_dir, "vramgauge.mjs")).href);

/** The catalogue as it is published: {core, models(file), all}. */
export function bundle_catalogue() {
  const folder = mkdtempSync(path.join(tmpdir(), "vramgauge-catalogue-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  execFileSync(process.execPath, [path.join(repo_root, "presets/build.mjs"), folder], { stdio: ["ignore", "ignore", "inherit"] });
  return {
    core: readFileSync(path.join(folder, "core.json")),
    all: readFileSync(path.join(folder, "all.json")),
    model: (file) => readFileSync(path.join(folder, "models", file)),
  };
}

/** A session of a fresh instance, with these catalogue documents loaded. */
export async function new_session(...documents) {
  const module = await create_module({ wasmBinary });
  const session = new module.Session();
  for (const document of documents) {
    const reply = JSON.parse(session.load_catalogue(document));
    if (!reply.ok) throw new Error(JSON.stringify(reply.errors));
  }
  return {
    /** The reply as the module writes it. */
    call_text: (method, request) => session.call(method, request),
    load: (document) => JSON.parse(session.load_catalogue(document)),
    /** `request` is an object, or text to be sent as it is. */
    call: (method, request = {}) => JSON.parse(session.call(method, typeof request === "string" ? request : JSON.stringify(request))),
  };
}
