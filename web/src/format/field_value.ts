import type { CatalogueKind, JsonValue } from "../core/types";
import type { Store } from "../state/store";

/** The value of a field as the page writes it: a name for what the catalogue has, 64K for tokens. */
export function field_value_text(store: Store, key: string, value: JsonValue | undefined): string {
  const field = store.fields.get(key);
  if (typeof value === "string")
    return (field?.list && store.lists.item(field.list as CatalogueKind, value)?.name) ?? value;
  if (typeof value !== "number") return value === undefined ? "" : JSON.stringify(value);
  if (field?.unit === "tokens") return store.format.tokens(value);
  return store.format.tick(value);
}
