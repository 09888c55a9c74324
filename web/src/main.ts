import { assets } from "virtual:core-assets";
import { CoreClient } from "./core/client";
import { describe_document, load_error_texts, start_i18n } from "./i18n/i18n";
import { add_configured, configured_catalogue } from "./state/configured_catalogue";
import { Store } from "./state/store";
import {
  apply_theme,
  initial_language,
  read_address_choices,
  read_preferences,
} from "./state/preferences";

/** The copy is made once the visitor has an answer. */
const kKeepCopyMs = 1500;

/** The page, or only the answer where another page shows it in a frame. */
const load_shell = (embedded: boolean): Promise<unknown> =>
  embedded ? import("./components/embed-view/embed_view") : import("./components/app/app");

async function start(): Promise<void> {
  const { embedded, choices } = read_address_choices();
  const preferences = { ...read_preferences(), ...choices };
  apply_theme(preferences.theme);
  const shell = document.createElement(embedded ? "vg-embed-view" : "vg-app");
  document.body.append(shell);
  const language = initial_language(preferences.language);
  const is_default = is_default_visit(embedded);
  const start_core = is_default ? CoreClient.start_quickly : CoreClient.start;
  const [core] = await Promise.all([
    start_core(assets).catch((failure: unknown) => String(failure)),
    start_i18n(language).then(() => (is_default ? undefined : load_error_texts())),
    load_shell(embedded),
  ]);
  describe_document();
  if (typeof core === "string") {
    shell.failure = core;
    return;
  }
  const store = new Store(core, preferences, language);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    apply_theme(store.preferences.theme),
  );
  const own_catalogue = configured_catalogue();
  if (own_catalogue) await add_configured(store, own_catalogue);
  store.start();
  shell.store = store;
  after_paint(() => void complete(store));
  if (!embedded) setTimeout(() => void keep_copy(store), kKeepCopyMs);
}

/** Nothing is asked but what the page opens with. */
const is_default_visit = (embedded: boolean): boolean =>
  !embedded && location.hash.length < 2 && !configured_catalogue();

function after_paint(work: () => void): void {
  requestAnimationFrame(() => setTimeout(work));
}

/** Says so on the document, for those who wait for it. Where the rest cannot be fetched now, the next change asks again. */
async function complete(store: Store): Promise<void> {
  await store.complete().catch(() => undefined);
  document.documentElement.toggleAttribute("data-complete", store.core.is_complete);
}

/** For visits without a network. A page that cannot be kept is the page all the same. */
async function keep_copy(store: Store): Promise<void> {
  const { start_offline } = await import("virtual:offline");
  await start_offline(store);
}

void start();
