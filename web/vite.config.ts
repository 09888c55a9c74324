import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { core_plugin, type Flavour } from "./build/core_plugin.ts";
import { html_plugin } from "./build/html_plugin.ts";
import { indent_plugin } from "./build/indent_plugin.ts";
import { offline_plugin } from "./build/offline_plugin.ts";
import { pack_plugin } from "./build/pack_plugin.ts";

/** The page, and the script that foreign pages load by its lasting name. */
const site_entries = {
  input: { index: "index.html", "vram-gauge": "src/element/element.ts" },
  output: {
    entryFileNames: ({ name }: { name: string }) =>
      name === "vram-gauge" ? "vram-gauge.js" : "assets/[name]-[hash].js",
  },
};

export default defineConfig(({ mode }) => {
  const flavour: Flavour = mode === "single" ? "single" : "site";
  return {
    base: "./",
    build: {
      outDir: `dist/${flavour}`,
      emptyOutDir: true,
      target: "es2022",
      modulePreload: false,
      ...(flavour === "site" && { rolldownOptions: site_entries }),
    },
    plugins: [
      core_plugin(flavour),
      html_plugin(flavour),
      indent_plugin(),
      ...(flavour === "single"
        ? [
            viteSingleFile({ removeViteModuleLoader: true }),
            pack_plugin("index.html", "vramgauge.html"),
          ]
        : [offline_plugin()]),
    ],
  };
});
