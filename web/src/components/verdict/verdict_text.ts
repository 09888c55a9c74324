import type { Estimate } from "../../core/types";
import type { Formatter } from "../../format/format";
import { current_language, device_name, t } from "../../i18n/i18n";

/** Cache and weights within this of each other are "as large as". */
const kAlikeFrac = 0.05;

/** The answer in one sentence, with the number that matters. */
export function headline(estimate: Estimate, format: Formatter): string {
  const { state, margin_bytes } = estimate.verdict;
  if (state === "tight") return t("verdict.tight");
  const amount = format.margin(margin_bytes);
  const each = holds_alike(estimate) ? "_each" : "";
  if (state === "does_not_fit") return t(`verdict.does_not_fit${each}`, { amount });
  const { max_requests } = estimate.answers;
  if (max_requests === null) return t("verdict.fits_unlimited", { amount });
  const requests = t("verdict.requests", { count: max_requests, n: format.integer(max_requests) });
  return t(`verdict.fits${each}`, {
    amount,
    requests,
    context: format.integer(Number(estimate.scenario["context_tokens"])),
  });
}

/** What is needed of what there is, and what takes the most of it. */
export function explanation(estimate: Estimate, format: Formatter): string {
  const { needed_bytes, usable_bytes, worst_device } = estimate.verdict;
  const device = device_name(estimate.devices[worst_device]?.name ?? "");
  const needs = t("verdict.needs", {
    needed: format.size(needed_bytes),
    usable: format.size(usable_bytes),
    device,
  });
  return `${needs}${sentence_gap()}${largest_part(estimate, format)}`;
}

/** The same in the fewest words, for the slim bar. */
export function slim_text(
  estimate: Estimate,
  format: Formatter,
): { state: string; amount: string } {
  const { state, margin_bytes } = estimate.verdict;
  const amount = t(margin_bytes < 0 ? "verdict.slim.short" : "verdict.slim.spare", {
    amount: format.margin(margin_bytes),
  });
  return { state: t(`verdict.slim.${state}`), amount };
}

/** Several devices that all hold the same. */
function holds_alike({ devices, verdict }: Estimate): boolean {
  return devices.length === 1 && (devices[verdict.worst_device]?.count ?? 1) > 1;
}

function largest_part(estimate: Estimate, format: Formatter): string {
  const terms = estimate.devices[estimate.verdict.worst_device]?.terms ?? [];
  const bytes_of = (id: string): number => terms.find((term) => term.id === id)?.bytes ?? 0;
  const cache = bytes_of("kv_cache");
  const weights = bytes_of("weights");
  const args = { cache: format.size(cache), weights: format.size(weights) };
  if (Math.abs(cache - weights) <= kAlikeFrac * weights) return t("verdict.cache_equal", args);
  return t(cache > weights ? "verdict.cache_more" : "verdict.weights_most", args);
}

/** Chinese full stops carry their own space. */
function sentence_gap(): string {
  return current_language() === "zh-CN" ? "" : " ";
}
