/** Fails when a component grows past what one can oversee. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const kMaxLines = 300;
const source = fileURLToPath(new URL("../src/", import.meta.url));
const files = readdirSync(source, { recursive: true }).filter((file) => file.endsWith(".ts"));
const too_long = files
  .map((file) => ({ file, lines: readFileSync(join(source, file), "utf8").split("\n").length - 1 }))
  .filter(({ lines }) => lines > kMaxLines);
for (const { file, lines } of too_long)
  console.error(`src/${file} has ${lines} lines; at most ${kMaxLines}`);
process.exit(too_long.length > 0 ? 1 : 0);
