import { assets } from "virtual:core-assets";
import { CoreClient } from "./core/client";
import { start_i18n } from "./i18n/i18n";
import { Store } from "./state/store";
import { apply_theme, initial_language, read_preferences } from "./state/preferences";
import "./components/app/app";

async function start(): Promise<void> {
  const preferences = read_preferences();
  apply_theme(preferences.theme);
  const app = document.querySelector("vg-app");
  if (!app) return;
  const [core] = await Promise.all([
    CoreClient.start(assets).catch((failure: unknown) => String(failure)),
    start_i18n(initial_language(preferences.language)),
  ]);
  if (typeof core === "string") {
    app.failure = core;
    return;
  }
  const store = new Store(core, preferences);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    apply_theme(store.preferences.theme),
  );
  store.start();
  app.store = store;
}

void start();
