declare module "virtual:core-assets" {
  export const assets: import("./core/assets").CoreAssets;
}

declare module "virtual:core-urls" {
  export const wasm_url: string;
  export const catalogue_root: string;
}

declare module "virtual:core-embedded" {
  export const wasm_deflated: string;
  export const catalogue_deflated: string;
}

declare module "virtual:core-glue" {
  interface RawSession {
    load_catalogue(document: Uint8Array | string): string;
    call(method: string, request: string): string;
    delete(): void;
  }
  interface RawModule {
    Session: new () => RawSession;
  }
  interface ModuleOptions {
    instantiateWasm(
      imports: WebAssembly.Imports,
      done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ): Record<string, never>;
    print?(text: string): void;
    printErr?(text: string): void;
    onAbort?(reason: unknown): void;
  }
  export default function create(options: ModuleOptions): Promise<RawModule>;
}
