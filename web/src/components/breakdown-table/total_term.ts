import type { DeviceBreakdown, Term } from "../../core/types";
import type { Store } from "../../state/store";

/** Rounding of a share of the card to whole bytes, and of a card's pages. */
const kRoundingBytes = 2 ** 21;

/** How the total, what may be used and the margin come about, told as a term is. */
export function total_term(store: Store, device: DeviceBreakdown): Term {
  const { format } = store;
  const { total, terms, usable_bytes, capacity_bytes } = device;
  const sum = terms.map(({ bytes }) => format.exact(bytes)).join(" + ");
  const margin_bytes = usable_bytes - total.bytes;
  const needed = {
    label: "total",
    formula: terms.map(({ id }) => id).join(" + "),
    substituted: sum,
    result: total.bytes,
  };
  const lines = [needed];
  if (capacity_bytes > 0)
    lines.push(usable_line(store, device), {
      label: "margin",
      formula: "usable − needed",
      substituted: `${format.exact(usable_bytes)} − ${format.exact(total.bytes)}`,
      result: margin_bytes,
    });
  return { ...total, id: "total", lines, source: card_source(store) };
}

function usable_line(store: Store, { usable_bytes }: DeviceBreakdown): Term["lines"][number] {
  const { format } = store;
  const card = store.lists.item("gpus", String(store.value("gpu")));
  const share = Number(store.value("gpu_memory_utilization_frac") ?? 1);
  const bases: [string, number][] = [
    ["usable_bytes", Number(card?.["usable_bytes"] ?? 0)],
    ["total_bytes", Number(card?.["total_bytes"] ?? 0)],
  ];
  const found = bases.find(
    ([, bytes]) => bytes > 0 && Math.abs(share * bytes - usable_bytes) <= kRoundingBytes,
  );
  const line = { label: "usable", result: usable_bytes };
  if (!found)
    return { ...line, formula: "usable of the engine", substituted: format.exact(usable_bytes) };
  const [name, bytes] = found;
  return {
    ...line,
    formula: `${name} of the card × memory share`,
    substituted: `${format.exact(bytes)} × ${share}`,
  };
}

/** Where the card's memory is from. */
function card_source(store: Store): string {
  const card = store.lists.item("gpus", String(store.value("gpu")));
  const sources = [card?.["usable_source"], card?.["source"]];
  return sources.filter((source) => typeof source === "string" && source !== "").join("; ");
}
