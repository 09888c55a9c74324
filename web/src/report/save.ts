import type { Store } from "../state/store";

/** Hands a file to the visitor. */
export function save_file(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // Some browsers read the address only after the click has returned.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const text_file = (text: string, type: string): Blob =>
  new Blob([text], { type: `${type};charset=utf-8` });

/** A name for files about the scenario: "vramgauge-llama-3.3-70b-instruct". */
export function file_stem(store: Store): string {
  const model = store.estimate?.model.name ?? "";
  const words = model.toLowerCase().match(/[\p{L}\p{N}.]+/gu) ?? [];
  return ["vramgauge", ...words].join("-").slice(0, 80);
}
