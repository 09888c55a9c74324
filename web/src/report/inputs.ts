import type { JsonValue, Scenario } from "../core/types";
import { t, t_core } from "../i18n/i18n";
import type { Store } from "../state/store";

/** One input as people read it. */
export interface ShownInput {
  key: string;
  name: string;
  value: string;
}

/** What every answer is read with; anything else is told where it was given. */
const kAlways = [
  "model",
  "weight_format",
  "gpu",
  "gpu_count",
  "engine",
  "cache_type_k",
  "context_tokens",
  "num_requests",
];
/** Told as another input: the custom model as the model. */
const kNeverAlone = new Set(["model_config"]);

/** The inputs that the answer belongs to: the main ones, then what else differs from the defaults. */
export function chosen_inputs(store: Store): ShownInput[] {
  const scenario: Scenario = { ...store.estimate?.scenario, ...store.given };
  const given = Object.keys(store.given).filter(
    (key) => !kAlways.includes(key) && !kNeverAlone.has(key),
  );
  return [...kAlways, ...given]
    .filter((key) => store.fields.has(key) && scenario[key] !== undefined)
    .map((key) => ({
      key,
      name: t(`fields.${key}`),
      value: input_text(store, key, store.resolved(key) ?? null),
    }));
}

function input_text(store: Store, key: string, value: JsonValue): string {
  const info = store.fields.get(key);
  if (key === "model") return store.estimate?.model.name || t("model.custom_unnamed");
  if (key === "weight_format" && store.estimate) return store.estimate.weights.name;
  if (key === "engine" && value === "generic") return t("choices.generic");
  if (key === "gpu" && value === "custom") return t("choices.custom_gpu");
  if (info?.list && typeof value === "string") return store.lists.item(info.list, value)?.name ?? value;
  if (typeof value !== "number") return t_core("options", String(value ?? ""));
  if (info?.unit === "tokens") return store.format.tokens(value);
  return info?.kind === "integer" ? store.format.integer(value) : store.format.tick(value);
}
