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
import type { Plugin } from "vite";

export type Flavour = "site" | "single";

interface Sources {
  glue_path: string;
  wasm: Buffer;
  catalogue_dir: string;
}

const kWebRoot = resolve(import.meta.dirname, "..");
const kRepoRoot = resolve(kWebRoot, "..");

function build_catalogue(): string {
  const given = process.env["VRAMGAUGE_CATALOGUE_DIR"];
  if (given) return resolve(given);
  const out = mkdtempSync(join(tmpdir(), "vramgauge-catalogue-"));
  process.on("exit", () => rmSync(out, { recursive: true, force: true }));
  execFileSync(process.execPath, [join(kRepoRoot, "presets/build.mjs"), out], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return existsSync(join(out, "catalogue")) ? join(out, "catalogue") : out;
}

function find_sources(): Sources {
  const core_dir = resolve(process.env["VRAMGAUGE_CORE_DIR"] ?? join(kRepoRoot, "build/wasm/wasm"));
  const glue_path = join(core_dir, "vramgauge.mjs");
  if (!existsSync(glue_path))
    throw new Error(
      `${glue_path} is missing: build the "wasm" preset first, or set VRAMGAUGE_CORE_DIR`,
    );
  return {
    glue_path,
    wasm: readFileSync(join(core_dir, "vramgauge.wasm")),
    catalogue_dir: build_catalogue(),
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

export function core_plugin(flavour: Flavour): Plugin {
  const sources = find_sources();
  const core_json = readFileSync(join(sources.catalogue_dir, "core.json"));
  const catalogue_root = `catalogue-${short_hash(readFileSync(join(sources.catalogue_dir, "all.json")))}`;
  const wasm_url = `assets/vramgauge-${short_hash(sources.wasm)}.wasm`;

  return {
    name: "vramgauge-core",
    enforce: "pre",
    resolveId(id) {
      if (id === "virtual:core-assets") return join(kWebRoot, `src/core/assets_${flavour}.ts`);
      if (id === "virtual:core-glue") return sources.glue_path;
      if (id === "virtual:core-urls" || id === "virtual:core-embedded") return `\0${id}`;
      return null;
    },
    load(id) {
      if (id === "\0virtual:core-urls") return exports_of({ wasm_url, catalogue_root });
      if (id === "\0virtual:core-embedded")
        return exports_of({
          wasm_deflated: deflated(sources.wasm),
          catalogue_deflated: deflated(readFileSync(join(sources.catalogue_dir, "all.json"))),
        });
      return null;
    },
    transform(code, id) {
      if (id !== sources.glue_path) return null;
      // The page hands over the compiled module itself, so the glue needs no address of the binary.
      return code.replace(
        /new URL\((["'])vramgauge\.wasm\1,\s*import\.meta\.url\)(\.toString\(\)|\.href)?/g,
        '"vramgauge.wasm"',
      );
    },
    generateBundle() {
      if (flavour !== "site") return;
      this.emitFile({ type: "asset", fileName: wasm_url, source: sources.wasm });
      this.emitFile({ type: "asset", fileName: `${catalogue_root}/core.json`, source: core_json });
      const models_dir = join(sources.catalogue_dir, "models");
      for (const file of readdirSync(models_dir))
        this.emitFile({
          type: "asset",
          fileName: `${catalogue_root}/models/${file}`,
          source: readFileSync(join(models_dir, file)),
        });
    },
  };
}
