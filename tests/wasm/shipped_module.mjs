// Loads the modules that the page loads, as the page does: the same files, their bytes handed over.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Facade } from "../../wasm/facade.mjs";
import { open_converter, open_session, open_tools } from "../../wasm/modules.mjs";

export const repo_root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const module_dir = process.env.VRAMGAUGE_CORE_DIR ?? path.join(repo_root, "build/wasm/wasm");
/** The native build that the modules are compared with. */
export const native_dir = process.env.VRAMGAUGE_NATIVE_DIR ?? path.join(repo_root, "build/dev");

/** The catalogue as it is published. */
export function bundle_catalogue() {
  const folder = mkdtempSync(path.join(tmpdir(), "vramgauge-catalogue-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const compiler = [process.execPath, path.join(repo_root, "wasm/compile.mjs"), module_dir];
  execFileSync(process.execPath, [path.join(repo_root, "presets/build.mjs"), folder, ...compiler], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return {
    core: readFileSync(path.join(folder, "core.json")),
    reader: readFileSync(path.join(folder, "reader.json")),
    all: readFileSync(path.join(folder, "all.json")),
    model: (file) => readFileSync(path.join(folder, "models", file)),
  };
}

/** A fresh main module as the page has it before anything else is asked for. */
export async function new_facade(catalogue, document) {
  const facade = new Facade(await open_session(module_dir, []), {
    open_reader: () => open_converter(module_dir, catalogue.reader),
    open_engine: (name) => open_session(module_dir, [], `vramgauge_${name}`),
    open_tools: () => open_tools(module_dir),
  });
  facade.load_catalogue(document);
  return facade;
}

/** All modules, fresh, with a document of the catalogue loaded into those that answer. */
export async function new_session(catalogue, document = catalogue.all) {
  const facade = await new_facade(catalogue, document);
  await Promise.all([
    facade.load_reader(),
    facade.load_engine("servers"),
    facade.load_engine("llama_cpp"),
    facade.load_tools(),
  ]);
  return {
    /** The reply as it is written. */
    call_text: (method, request) => facade.call_text(method, request),
    load: (document) => JSON.parse(facade.load_catalogue(document)),
    /** `request` is an object, or text to be sent as it is. */
    call: (method, request = {}) =>
      typeof request === "string" ? JSON.parse(facade.session.call(method, request)) : facade.call(method, request),
  };
}
