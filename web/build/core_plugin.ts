/**
 * Brings the compiled core and the catalogue into the bundle: hashed files beside the page for the
 * site, deflated text inside the page for the one-file build.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { deflateRawSync } from "node:zlib";
import type { HtmlTagDescriptor, Plugin, Rolldown } from "vite";

export type Flavour = "site" | "single";

/** A compiled module: the binary, and the script that opens it. */
interface CoreModule {
  glue_path: string;
  wasm: Buffer;
  /** Where the site has the binary. */
  url: string;
}

/** Modules of the site. */
const kSiteModules = ["main", "servers", "llama_cpp", "reader", "tools"] as const;
type SiteModule = (typeof kSiteModules)[number];
type Modules = Record<SiteModule, CoreModule>;

interface Sources {
  modules: Modules;
  /** One with everything, for the one-file page. */
  all: CoreModule;
  catalogue_dir: string;
  /** The part of the catalogue that the first answer needs. */
  first_catalogue: string;
}

const kWebRoot = resolve(import.meta.dirname, "..");
const kRepoRoot = resolve(kWebRoot, "..");

function build_catalogue(core_dir: string): string {
  const given = process.env["VRAMGAUGE_CATALOGUE_DIR"];
  if (given) return resolve(given);
  const out = mkdtempSync(join(tmpdir(), "vramgauge-catalogue-"));
  process.on("exit", () => rmSync(out, { recursive: true, force: true }));
  const compiler = [process.execPath, join(kRepoRoot, "wasm/compile.mjs"), core_dir];
  execFileSync(process.execPath, [join(kRepoRoot, "presets/build.mjs"), out, ...compiler], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return out;
}

function first_catalogue(core_dir: string, catalogue_dir: string): string {
  const program = join(import.meta.dirname, "first_catalogue.mjs");
  return execFileSync(process.execPath, [program, core_dir, catalogue_dir], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}

function find_module(core_dir: string, name: string): CoreModule {
  const glue_path = join(core_dir, `${name}.mjs`);
  if (!existsSync(glue_path))
    throw new Error(
      `${glue_path} is missing: build the "wasm" preset first, or set VRAMGAUGE_CORE_DIR`,
    );
  const wasm = readFileSync(join(core_dir, `${name}.wasm`));
  return { glue_path, wasm, url: `assets/${name}-${short_hash(wasm)}.wasm` };
}

function find_sources(): Sources {
  const core_dir = resolve(process.env["VRAMGAUGE_CORE_DIR"] ?? join(kRepoRoot, "build/wasm/wasm"));
  const find = (name: SiteModule): CoreModule =>
    find_module(core_dir, name === "main" ? "vramgauge" : `vramgauge_${name}`);
  const catalogue_dir = build_catalogue(core_dir);
  return {
    modules: Object.fromEntries(kSiteModules.map((name) => [name, find(name)])) as Modules,
    all: find_module(core_dir, "vramgauge_all"),
    catalogue_dir,
    first_catalogue: first_catalogue(core_dir, catalogue_dir),
  };
}

const short_hash = (content: Buffer): string =>
  createHash("sha256").update(content).digest("hex").slice(0, 10);

const deflated = (content: Buffer): string =>
  deflateRawSync(content, { level: 9 }).toString("base64");

const exports_of = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
    .join("\n");

/** The page hands over the compiled module itself, so the glue needs no address of the binary. */
const without_address = (glue: string): string =>
  glue.replace(
    /new URL\((["'])(\w+\.wasm)\1,\s*import\.meta\.url\)(\.toString\(\)|\.href)?/g,
    '"$2"',
  );

type BundleFile = Rolldown.OutputBundle[string];

/** The first script's imports and the module are fetched with it, not when it has been read. */
function preloads(module_url: string, bundle: readonly BundleFile[]): HtmlTagDescriptor[] {
  const first = bundle.find((file) => file.type === "chunk" && file.name === "index");
  const imports = first?.type === "chunk" ? first.imports : [];
  const link = (attrs: Record<string, string | boolean>): HtmlTagDescriptor => ({
    tag: "link",
    attrs: { ...attrs, crossorigin: true },
    injectTo: "head",
  });
  return [
    link({ rel: "preload", as: "fetch", href: module_url }),
    ...imports.map((href) => link({ rel: "modulepreload", href })),
  ];
}

export function core_plugin(flavour: Flavour): Plugin {
  const { modules, all, catalogue_dir, first_catalogue } = find_sources();
  const document = (name: string): Buffer => readFileSync(join(catalogue_dir, name));
  const catalogue_root = `catalogue-${short_hash(document("all.json"))}`;
  const glue_of = (name: SiteModule): string =>
    (flavour === "site" ? modules[name] : all).glue_path;
  const glue = new Map([
    ["virtual:core-glue", glue_of("main")],
    ["virtual:core-servers-glue", glue_of("servers")],
    ["virtual:core-llama-cpp-glue", glue_of("llama_cpp")],
    ["virtual:core-reader-glue", glue_of("reader")],
    ["virtual:core-tools-glue", glue_of("tools")],
  ]);

  return {
    name: "vramgauge-core",
    enforce: "pre",
    resolveId(id) {
      if (id === "virtual:core-assets") return join(kWebRoot, `src/core/assets_${flavour}.ts`);
      if (id === "virtual:offline") return join(kWebRoot, `src/offline/offline_${flavour}.ts`);
      if (id === "virtual:core-urls" || id === "virtual:core-embedded") return `\0${id}`;
      return glue.get(id) ?? null;
    },
    load(id) {
      if (id === "\0virtual:core-urls")
        return exports_of({
          ...Object.fromEntries(kSiteModules.map((name) => [`${name}_url`, modules[name].url])),
          catalogue_root,
        });
      if (id === "\0virtual:core-embedded")
        return exports_of({
          all_deflated: deflated(all.wasm),
          catalogue_deflated: deflated(document("all.json")),
        });
      return null;
    },
    transform(code, id) {
      return [...glue.values()].includes(id) ? without_address(code) : null;
    },
    transformIndexHtml: {
      order: "post",
      handler: (_html, { bundle }) =>
        flavour === "site" && bundle
          ? preloads(modules.main.url, Object.values(bundle))
          : [],
    },
    generateBundle() {
      if (flavour !== "site") return;
      const models = readdirSync(join(catalogue_dir, "models")).map((file) => `models/${file}`);
      for (const { url, wasm } of Object.values(modules))
        this.emitFile({ type: "asset", fileName: url, source: wasm });
      for (const name of ["core.json", "reader.json", ...models])
        this.emitFile({
          type: "asset",
          fileName: `${catalogue_root}/${name}`,
          source: document(name),
        });
      this.emitFile({
        type: "asset",
        fileName: `${catalogue_root}/first.json`,
        source: first_catalogue,
      });
      // All models at once, for visits without a network.
      const { models: facts } = JSON.parse(document("all.json").toString()) as { models: unknown };
      this.emitFile({
        type: "asset",
        fileName: `${catalogue_root}/models.json`,
        source: JSON.stringify({ models: facts }),
      });
    },
  };
}
