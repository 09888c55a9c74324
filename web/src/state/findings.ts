import type { Diag, Envelope } from "../core/types";

/** What is wrong with a field, or worth knowing about it. */
export interface Finding {
  severity: "error" | "warning";
  diag: Diag;
}

/** A custom model takes the place of the preset; the one goes when the other comes. */
export const kModelKeys = ["model", "model_config"];

/** The scenario field that a finding is about, "" where it is none. */
export function field_of(diag: Diag): string {
  return diag.path.replace(/^\/scenario(?=\/|$)/, "").split("/")[1] ?? "";
}

/** Warnings about a model are many and long; they are listed rather than put beside its field. */
export function has_place(warning: Diag): boolean {
  return !kModelKeys.includes(field_of(warning));
}

/** The engine does not load weights in the format that was chosen. */
export const is_format_refused = (reply: Envelope<unknown>): boolean =>
  !reply.ok && reply.errors.some(({ code }) => code === "engine.format_not_served");
