/** Prints the sizes of both builds and fails when one is over its budget. */
import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const kSiteBudget = 260_000;
const kSingleBudget = 1_500_000;
/** Loaded later, on demand: not part of the first load. */
const kLazy = /^(chart|import|vramgauge_reader|vramgauge_llama_cpp)[-_.]/;
/** One of these is loaded; the largest counts. */
const kLanguage = /^language_/;

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const site = join(dist, "site");

const packed_size = (file) => gzipSync(readFileSync(join(site, file)), { level: 9 }).length;

function first_load_files() {
  const assets = readdirSync(join(site, "assets")).map((file) => join("assets", file));
  const named = (pattern) => assets.filter((file) => pattern.test(basename(file)));
  const [language] = named(kLanguage).sort((a, b) => packed_size(b) - packed_size(a));
  const always = assets.filter((file) => ![...named(kLazy), ...named(kLanguage)].includes(file));
  const catalogue = readdirSync(site).find((name) => name.startsWith("catalogue-"));
  const example = join(catalogue, "models", "meta-llama__Llama-3.3-70B-Instruct.json");
  return ["index.html", ...always, language, join(catalogue, "core.json"), example];
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
