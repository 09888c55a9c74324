/** Renames one output file after everything else has run. */
import { rename } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "vite";

export function rename_plugin(from: string, to: string): Plugin {
  return {
    name: "vramgauge-rename",
    enforce: "post",
    async writeBundle(options) {
      const dir = options.dir ?? ".";
      await rename(join(dir, from), join(dir, to));
    },
  };
}
