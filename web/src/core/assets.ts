/**
 * Where the module and the catalogue come from. The site fetches them beside the page; the one-file
 * HTML carries both inside. The bundler chooses the implementation behind "virtual:core-assets".
 */
export interface CoreAssets {
  /** The compiled module; compiled once, instantiated again after a trap. */
  module(): Promise<WebAssembly.Module>;
  /** The catalogue document that is loaded first. */
  catalogue(): Promise<Uint8Array>;
  /** The facts of one model, by the file name that the core asked for. */
  model_facts(file: string): Promise<Uint8Array>;
}
