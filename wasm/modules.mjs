// Opens the built modules under Node, as the page opens them: the shipped files, their bytes handed
// over.
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

// The modules are built for the web only; this is all of it that they look at.
globalThis.window ??= globalThis;

async function instance(folder, name) {
  const wasmBinary = readFileSync(path.join(folder, `${name}.wasm`));
  const { default: create } = await import(pathToFileURL(path.join(folder, `${name}.mjs`)).href);
  return create({ wasmBinary });
}

function load(target, document) {
  const reply = JSON.parse(target.load_catalogue(document));
  if (!reply.ok) throw new Error(JSON.stringify(reply.errors));
}

/** A Session of a fresh module in `folder`, the main one unless named, with these documents loaded. */
export async function open_session(folder, documents, module = "vramgauge") {
  const { Session } = await instance(folder, module);
  const session = new Session();
  for (const document of documents) load(session, document);
  return session;
}

/** A Tools object of a fresh module. */
export async function open_tools(folder) {
  const { Tools } = await instance(folder, "vramgauge_tools");
  return new Tools();
}

/** A Converter of a fresh reader module, with the class defaults of a catalogue document. */
export async function open_converter(folder, document) {
  const { Converter } = await instance(folder, "vramgauge_reader");
  const converter = new Converter();
  load(converter, document);
  return converter;
}
