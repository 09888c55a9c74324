import type { Store } from "../state/store";
import type { Envelope } from "../core/types";
import { add_texts, has_error_texts, load_error_texts, type LaterTexts } from "./i18n";

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

/** What fetches the texts that an answer needs: names of engines' own fields, findings; null where they are there. */
export function missing_texts(
  store: Store,
  reply: Envelope<unknown>,
): (() => Promise<void>) | null {
  const is_shown =
    store.value("engine") !== kFirstEngine ||
    Object.keys(store.given).some((key) => !has_name(store.fields.get(key)?.engines ?? []));
  if (!loaded && is_shown) return load_texts;
  const has_findings = !reply.ok || reply.warnings.length > 0;
  return has_findings && !has_error_texts() ? load_error_texts : null;
}
