/** Deflates the script of the one-file page; a few lines in its place inflate it again. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import type { Plugin } from "vite";

const kModule = /<script type="module"[^>]*>([\s\S]*)<\/script>/;

/** The page's policy allows scripts that stand in the page, and those that such a script adds. */
const unpacking = (packed: string): string =>
  `<script>(async()=>{const script=document.createElement("script");script.type="module";` +
  `const bytes=Uint8Array.from(atob("${packed}"),(char)=>char.charCodeAt(0));` +
  `script.textContent=await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();` +
  `document.head.append(script)})()</script>`;

function packed(html: string): string {
  const script = kModule.exec(html)?.[1];
  if (script === undefined) throw new Error("the page has no module script");
  const text = deflateRawSync(script, { level: 9 }).toString("base64");
  return html.replace(kModule, () => unpacking(text));
}

/** Writes the page `from`, once everything is in it, as the one file `to`. */
export function pack_plugin(from: string, to: string): Plugin {
  return {
    name: "vramgauge-pack",
    enforce: "post",
    async writeBundle(options) {
      const dir = options.dir ?? ".";
      const page = join(dir, from);
      await writeFile(join(dir, to), packed(await readFile(page, "utf8")));
      await rm(page);
    },
  };
}
