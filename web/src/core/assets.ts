import type { EngineModule } from "../../../wasm/facade.mjs";

/**
 * Where the modules and the catalogue come from. The site fetches them beside the page; the one-file
 * HTML carries all of it inside. The bundler chooses the implementation behind "virtual:core-assets".
 */
export interface CoreAssets {
  /** The compiled main module; compiled once, instantiated again after a trap. */
  module(): Promise<WebAssembly.Module>;
  /** The catalogue without the facts of models. */
  catalogue(): Promise<Uint8Array>;
  /** What the default scenario needs of it, the facts of its model among it; null where all comes at once. */
  first_catalogue(): Promise<Uint8Array> | null;
  /** The facts of one model, by the file name that the core asked for. */
  model_facts(file: string): Promise<Uint8Array>;
  /** The facts of all models at once; null where the first document has them. */
  all_models(): Promise<Uint8Array> | null;
  /** A compiled module of engines. */
  engine_module(name: EngineModule): Promise<WebAssembly.Module>;
  /** The compiled module of methods without a catalogue. */
  tools_module(): Promise<WebAssembly.Module>;
  /** The compiled reader of foreign formats. */
  reader_module(): Promise<WebAssembly.Module>;
  /** The catalogue document that the reader needs. */
  reader_catalogue(): Promise<Uint8Array>;
}
