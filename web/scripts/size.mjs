/** Prints the sizes of both builds and fails when one is over its budget. */
import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const kSiteBudget = 260_000;
const kSingleBudget = 1_500_000;
/** Loaded at once although the first script only asks for them: the page itself, and the module. */
const kAtOnce = [/^app-.*\.js$/, /^vramgauge-.*\.wasm$/];
/** One of these is loaded; the largest counts. */
const kLanguage = /^language_/;

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const site = join(dist, "site");

const packed_size = (file) => gzipSync(readFileSync(join(site, file)), { level: 9 }).length;

/** The files that a text names by an attribute or by a static import. */
const named_in = (text, pattern) => [...text.matchAll(pattern)].map((match) => basename(match[1]));

/** These scripts and all that they import statically. */
function with_imports(scripts) {
  const found = new Set(scripts);
  for (const script of found) {
    const text = readFileSync(join(site, "assets", script), "utf8");
    for (const file of named_in(text, /(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)) found.add(file);
  }
  return [...found];
}

function first_load_files() {
  const assets = readdirSync(join(site, "assets"));
  const html = readFileSync(join(site, "index.html"), "utf8");
  const linked = named_in(html, /(?:src|href)="(\.\/assets\/[^"]+)"/g);
  const [language] = assets
    .filter((file) => kLanguage.test(file))
    .sort((a, b) => packed_size(`assets/${b}`) - packed_size(`assets/${a}`));
  const at_once = kAtOnce.map((pattern) => assets.find((file) => pattern.test(file)));
  const start = [...linked, ...at_once, language];
  const scripts = with_imports(start.filter((file) => file.endsWith(".js")));
  const loaded = new Set([...start, ...scripts].map((file) => join("assets", file)));
  const catalogue = readdirSync(site).find((name) => name.startsWith("catalogue-"));
  const documents = ["first.json", "core.json"].map((name) => join(catalogue, name));
  return ["index.html", ...loaded, ...documents];
}

let total = 0;
for (const file of first_load_files()) {
  const packed = packed_size(file);
  total += packed;
  console.log(`${String(packed).padStart(9)}  ${file}`);
}
const single = readFileSync(join(dist, "single", "vramgauge.html")).length;
console.log(`site, first load: ${total} bytes gzipped (budget ${kSiteBudget})`);
console.log(`one-file HTML: ${single} bytes (budget ${kSingleBudget})`);
if (total > kSiteBudget || single > kSingleBudget) {
  console.error("over budget");
  process.exit(1);
}
