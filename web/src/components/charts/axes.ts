import type { Estimate } from "../../core/types";

/** Contexts that are looked at where a model names no end. */
const kUsualTokens = 131_072;
const kFirstTokens = 2048;
const kMaxColumns = 16;
const kMaxRows = 14;
const kMinTopRequests = 32;
const kMaxTopRequests = 4096;
/** Beyond the present context: whether a longer one would do is worth seeing. */
const kRoom = 1.25;

/** The longest context that is drawn: the model's own end, or what is asked for beyond it. */
export function last_context({ scenario, model }: Estimate): number {
  const asked = Number(scenario["context_tokens"]);
  const own = model.max_context_tokens || kUsualTokens;
  return asked > own ? Math.ceil(asked * kRoom) : own;
}

/** `steps` contexts evenly spread. */
export function linear_contexts(estimate: Estimate, steps: number): number[] {
  const last = last_context(estimate);
  const values = Array.from({ length: steps }, (_, i) =>
    Math.max(1, Math.round((last * i) / (steps - 1))),
  );
  return [...new Set(values)];
}

/** Powers of two and the middles between them, up to `last`; the newest ones where they are too many. */
function octaves(first: number, last: number, limit: number): number[] {
  const values: number[] = [];
  for (let value = first; value <= last; value *= 2) values.push(value, value * 1.5);
  const whole = values.filter((value) => value <= last && Number.isInteger(value));
  return whole.slice(-limit);
}

/** Round contexts for the columns of the map. */
export const map_contexts = (estimate: Estimate): number[] =>
  octaves(kFirstTokens, Math.max(last_context(estimate), 2 * kFirstTokens), kMaxColumns);

/** Numbers of requests for the rows: from one to well beyond the present one. */
export function map_requests({ scenario }: Estimate): number[] {
  const asked = 4 * Number(scenario["num_requests"]);
  const top = Math.min(kMaxTopRequests, Math.max(kMinTopRequests, 2 ** Math.ceil(Math.log2(asked))));
  const all = octaves(1, top, Number.MAX_SAFE_INTEGER);
  // Every other one where there are too many: the powers of two.
  return all.length <= kMaxRows ? all : all.filter((value) => Number.isInteger(Math.log2(value)));
}

/** The entry that a value belongs to: the nearest by ratio. */
export function nearest(values: readonly number[], value: number): number {
  const distance = (other: number): number => Math.abs(Math.log(other / value));
  return values.reduce((best, other, i) => (distance(other) < distance(values[best]!) ? i : best), 0);
}
