/** Adds the theme script (before first paint) and the content security policy to the page. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";
import type { Flavour } from "./core_plugin.ts";

function policy(flavour: Flavour, theme_script: string): string {
  if (flavour === "single")
    return "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'";
  const theme_hash = createHash("sha256").update(theme_script).digest("base64");
  return `default-src 'self'; script-src 'self' 'wasm-unsafe-eval' 'sha256-${theme_hash}'; style-src 'self'; img-src 'self' data:; connect-src 'self' https: http:; object-src 'none'; base-uri 'self'`;
}

export function html_plugin(flavour: Flavour): Plugin {
  const theme_script = readFileSync(join(import.meta.dirname, "theme.js"), "utf8").trim();
  const head = `<meta http-equiv="Content-Security-Policy" content="${policy(flavour, theme_script)}" />\n    <script>${theme_script}</script>`;
  return {
    name: "vramgauge-html",
    transformIndexHtml: {
      order: "post",
      handler: (html) => html.replace("<!-- policy and theme -->", () => head),
    },
  };
}
