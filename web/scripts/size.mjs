/** Prints the sizes of both builds and fails when one is over its budget. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const kSiteBudget = 260_000;
const kSingleBudget = 1_500_000;
/** Loaded later, on demand: not part of the first load. */
const kLazy = /^chart-/;

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const site = join(dist, "site");

function first_load_files() {
  const assets = readdirSync(join(site, "assets")).filter((file) => !kLazy.test(file));
  const catalogue = readdirSync(site).find((name) => name.startsWith("catalogue-"));
  const facts = readdirSync(join(site, catalogue, "models")).find((file) => file.toLowerCase().includes("llama-3.3-70b-instruct"));
  return ["index.html", ...assets.map((file) => join("assets", file)), join(catalogue, "core.json"), join(catalogue, "models", facts)];
}

let total = 0;
for (const file of first_load_files()) {
  const content = readFileSync(join(site, file));
  const packed = gzipSync(content, { level: 9 }).length;
  total += packed;
  console.log(`${String(packed).padStart(9)}  ${String(content.length).padStart(9)}  ${file}`);
}
const single = readFileSync(join(dist, "single", "vramgauge.html")).length;
console.log(`site, first load: ${total} bytes gzipped (budget ${kSiteBudget})`);
console.log(`one-file HTML: ${single} bytes (budget ${kSingleBudget})`);
if (total > kSiteBudget || single > kSingleBudget) {
  console.error("over budget");
  process.exit(1);
}
