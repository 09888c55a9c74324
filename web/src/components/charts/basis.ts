import type { Store } from "../../state/store";

/** Fields that only move the present point on charts over both of them. */
const kPointFields = ["context_tokens", "num_requests"];

/** What charts depend on: the fields that are given, but for those whose every value they show, and how it is written. */
export function chart_basis({ given, language, format }: Store, ...axes: number[][]): string {
  const others = Object.entries(given).filter(([key]) => !kPointFields.includes(key));
  return JSON.stringify([others.sort(), axes, language, format.unit]);
}
