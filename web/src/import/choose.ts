import { ImportFailure } from "./failure";
import type { HubFile } from "./hub";

/** One thing that a repository holds: its files are read together. */
export interface Variant {
  name: string;
  /** In safetensors: it goes by the repository's name. */
  is_checkpoint: boolean;
  files: HubFile[];
  /** Bytes of the weight files. */
  size: number;
}

const kPart = /-(\d{5})-of-(\d{5})(?=\.(?:gguf|safetensors)$)/i;
const kWeights = /\.(gguf|safetensors)$/i;
const kPickle = /\.(bin|pt|pth|ckpt|pkl)$/i;
/** Projectors and importance matrices lie beside models, and are none. */
const kBesideModels = /(^|\/)(mmproj|imatrix)|imatrix[^/]*\.gguf$/i;
const kConfigs = [
  "config.json",
  "quantize_config.json",
  "quant_config.json",
  "hf_quant_config.json",
];
const kIndex = /\.safetensors\.index\.json$/i;

/**
 * What of a repository can be read: the checkpoint in safetensors first, then each GGUF from small to
 * large. `path` and `tag` narrow it down. Never empty.
 */
export function find_variants(files: HubFile[], path: string, tag: string): Variant[] {
  const variants = [...checkpoint(files), ...gguf_variants(files)];
  const matching = variants.filter((variant) => matches(variant, path, tag));
  if (matching.length > 0) return exact(matching, tag);
  if (variants.length > 0) throw new ImportFailure("file_missing", { file: path || tag, host: "" });
  throw nothing_readable(files);
}

function matches({ name, files }: Variant, path: string, tag: string): boolean {
  if (path !== "" && kWeights.test(path)) return files.some((file) => file.path === path);
  return (
    name.toLowerCase().includes(tag.toLowerCase()) &&
    (path === "" ||
      path.endsWith(".json") ||
      files.some((file) => file.path.startsWith(`${path}/`)))
  );
}

/** Q4_K is also a part of Q4_K_M: the name that ends so is meant. */
function exact(variants: Variant[], tag: string): Variant[] {
  const ending = variants.filter(({ name }) => name.toLowerCase().endsWith(tag.toLowerCase()));
  return tag !== "" && ending.length > 0 ? ending : variants;
}

function checkpoint(files: HubFile[]): Variant[] {
  const at_root = files.filter((file) => !file.path.includes("/"));
  const weights = checkpoint_weights(at_root.filter(({ path }) => /\.safetensors$/i.test(path)));
  if (weights.length === 0) return [];
  if (!at_root.some(({ path }) => path === kConfigs[0])) throw new ImportFailure("no_config");
  const beside = at_root.filter(({ path }) => kConfigs.includes(path) || kIndex.test(path));
  const files_read = [...beside, ...weights];
  return [{ name: "safetensors", is_checkpoint: true, files: files_read, size: total(weights) }];
}

/** A repository may hold the same weights again in one piece, or under names of another program. */
function checkpoint_weights(files: HubFile[]): HubFile[] {
  const parts = files.filter(({ path }) => /^model-\d{5}-of-\d{5}\.safetensors$/i.test(path));
  const whole = files.filter(({ path }) => /^model\.safetensors$/i.test(path));
  const others = files.filter(({ path }) => !/^(consolidated|adapter)/i.test(path));
  return [parts, whole, others, files].find((candidates) => candidates.length > 0) ?? [];
}

function gguf_variants(files: HubFile[]): Variant[] {
  const groups = new Map<string, HubFile[]>();
  for (const file of files) {
    if (!/\.gguf$/i.test(file.path) || kBesideModels.test(file.path)) continue;
    const name = file.path.replace(kPart, "").replace(/\.gguf$/i, "");
    groups.set(name, [...(groups.get(name) ?? []), file]);
  }
  return [...groups]
    .map(([name, parts]) => ({ name, is_checkpoint: false, files: parts, size: total(parts) }))
    .sort((a, b) => a.size - b.size || a.name.localeCompare(b.name));
}

/** Files that say "3 of 5" come with the other four. */
export function check_parts({ files }: Variant): void {
  const parts = files.map(({ path }) => kPart.exec(path)).filter((match) => match !== null);
  const count = Number(parts[0]?.[2] ?? 0);
  const present = new Set(parts.map((match) => Number(match[1])));
  for (let part = 1; part <= Math.min(count, files.length + 1); ++part)
    if (!present.has(part))
      throw new ImportFailure("part_missing", { part, count, file: files[0]?.path ?? "" });
}

function total(files: HubFile[]): number {
  return files.reduce((sum, file) => sum + (file.size ?? 0), 0);
}

function nothing_readable(files: HubFile[]): ImportFailure {
  return new ImportFailure(
    files.some(({ path }) => kPickle.test(path)) ? "pickle_only" : "no_model",
  );
}
