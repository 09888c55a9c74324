/** Modules of the page for tests without a browser, bundled as the page bundles them. */
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const web = fileURLToPath(new URL("../../web/", import.meta.url));
const vite = await import(pathToFileURL(createRequire(`${web}package.json`).resolve("vite")).href);

/** What the source file at `entry`, relative to web/, exports. */
export async function load_module(entry) {
  const built = await vite.build({
    root: web,
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      minify: false,
      lib: { entry: `${web}${entry}`, formats: ["es"], fileName: "module" },
    },
  });
  const { code } = [built].flat()[0].output[0];
  return import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);
}
