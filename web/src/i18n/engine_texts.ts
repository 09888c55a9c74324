import type { Store } from "../state/store";
import { add_texts, type LaterTexts } from "./i18n";

/** Names of the fields, figures and lines that only single engines have: no first visit with the rule of thumb shows any. */
const kTexts: LaterTexts = {
  en: () => import("./fields.en.json"),
  "zh-CN": () => import("./fields.zh-CN.json"),
};

/** The engine whose fields have their names from the start. */
const kFirstEngine = "generic";

let loaded = false;

async function load_texts(): Promise<void> {
  await add_texts(kTexts);
  loaded = true;
}

/** Whether a field has its name by now; `engines` are those that have the field, none for all. */
export const has_name = (engines: readonly string[]): boolean =>
  loaded || engines.length === 0 || engines.includes(kFirstEngine);

/** What fetches the names of engines' own fields; null where they are there, or not shown. */
export function missing_texts(store: Store): (() => Promise<void>) | null {
  const is_shown =
    store.value("engine") !== kFirstEngine ||
    Object.keys(store.given).some((key) => !has_name(store.fields.get(key)?.engines ?? []));
  return !loaded && is_shown ? load_texts : null;
}
