import type { CatalogueItem, CatalogueKind, JsonValue } from "../../core/types";
import type { Formatter } from "../../format/format";
import { t } from "../../i18n/i18n";

const kExtra: Partial<Record<CatalogueKind, { id: string; name: string; detail: string }>> = {
  gpus: { id: "custom", name: "choices.custom_gpu", detail: "choices.custom_gpu_detail" },
  formats: { id: "auto", name: "choices.auto_format", detail: "choices.auto_format_detail" },
};

/** Choices that the core knows but its catalogue does not list, where they match what was typed. */
export function extra_items(
  kind: CatalogueKind,
  query: string,
  listed: CatalogueItem[],
): CatalogueItem[] {
  const extra = kExtra[kind];
  if (!extra || listed.some((item) => item.id === extra.id)) return [];
  const item = { id: extra.id, name: t(extra.name) };
  const wanted = query.trim().toLowerCase();
  return `${item.id} ${item.name}`.toLowerCase().includes(wanted) ? [item] : [];
}

/** The name in the chosen language. */
export function item_name(item: CatalogueItem): string {
  const extra = Object.values(kExtra).find((candidate) => candidate.id === item.id);
  return extra ? t(extra.name) : item.name;
}

/** What helps to tell entries apart. */
export function item_detail(kind: CatalogueKind, item: CatalogueItem, format: Formatter): string {
  const extra = Object.values(kExtra).find((candidate) => candidate.id === item.id);
  if (extra) return t(extra.detail);
  if (item["refused"] !== undefined) return t("choices.refused");
  const memory = item["total_bytes"];
  if (kind === "gpus") return typeof memory === "number" ? format.size(memory, 1) : "";
  return parameters_text(item["parameters"], format) ?? item.family ?? "";
}

/** A published count is exact, or a rounded text such as "671B". */
function parameters_text(parameters: JsonValue | undefined, format: Formatter): string | null {
  if (typeof parameters === "string") return parameters;
  return typeof parameters === "number" ? format.parameters(parameters) : null;
}
