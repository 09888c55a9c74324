/** The service worker of the site: every file of one version, so that a visit needs no network. */
import type { PluginOption } from "vite";
import { VitePWA } from "vite-plugin-pwa";

const kMaxFileBytes = 4_000_000;

export function offline_plugin(): PluginOption {
  return VitePWA({
    filename: "sw.js",
    registerType: "prompt",
    injectRegister: null,
    manifest: false,
    workbox: {
      // Single models are in models.json, which is loaded in their place.
      globPatterns: ["index.html", "assets/*.{js,css,wasm}", "catalogue-*/*.json"],
      maximumFileSizeToCacheInBytes: kMaxFileBytes,
      // Names hold a hash of the contents already.
      dontCacheBustURLsMatching: /(assets|catalogue-\w+)\//,
      // Other folders below this one are other versions: the worker must not answer for them.
      navigateFallback: null,
      ignoreURLParametersMatching: [/./],
      // It would take the caches of versions in folders below for its own.
      cleanupOutdatedCaches: false,
      inlineWorkboxRuntime: true,
      sourcemap: false,
      mode: "production",
    },
  });
}
