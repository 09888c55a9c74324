interface ImportMeta {
  readonly env: { readonly MODE: string };
}

declare module "*.css?inline" {
  const text: string;
  export default text;
}

declare module "virtual:core-assets" {
  export const assets: import("./core/assets").CoreAssets;
}

declare module "virtual:offline" {
  export function start_offline(store: import("./state/store").Store): Promise<void>;
}

declare module "virtual:core-urls" {
  export const main_url: string;
  export const servers_url: string;
  export const llama_cpp_url: string;
  export const reader_url: string;
  export const tools_url: string;
  export const catalogue_root: string;
}

declare module "virtual:core-embedded" {
  export const all_deflated: string;
  export const catalogue_deflated: string;
}

/** What the scripts that open the modules take; both are made by the same linker. */
interface ModuleOptions {
  instantiateWasm(
    imports: WebAssembly.Imports,
    done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): Record<string, never>;
  print?(text: string): void;
  printErr?(text: string): void;
  onAbort?(reason: unknown): void;
}

interface RawSessionModule {
  Session: new () => import("../../wasm/facade.mjs").RawSession;
}

declare module "virtual:core-glue" {
  export default function create(options: ModuleOptions): Promise<RawSessionModule>;
}

declare module "virtual:core-servers-glue" {
  export default function create(options: ModuleOptions): Promise<RawSessionModule>;
}

declare module "virtual:core-llama-cpp-glue" {
  export default function create(options: ModuleOptions): Promise<RawSessionModule>;
}

declare module "virtual:core-tools-glue" {
  interface RawToolsModule {
    Tools: new () => import("../../wasm/facade.mjs").RawTools;
  }
  export default function create(options: ModuleOptions): Promise<RawToolsModule>;
}

declare module "virtual:core-reader-glue" {
  export interface RawReaderModule {
    Converter: new () => import("../../wasm/facade.mjs").RawConverter;
    Reader: new () => import("../../wasm/facade.mjs").RawReader;
  }
  export default function create(options: ModuleOptions): Promise<RawReaderModule>;
}
