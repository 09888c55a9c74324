/**
 * Takes the source's indentation out of HTML and CSS templates. Once the code is minified, line
 * breaks stand nowhere else, and no template of the page depends on them.
 */
import type { Plugin } from "vite";

export function indent_plugin(): Plugin {
  return {
    name: "vramgauge-indent",
    enforce: "post",
    generateBundle: {
      order: "pre",
      handler(_options, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type === "chunk") file.code = file.code.replace(/\n\s*/g, " ");
        }
      },
    },
  };
}
