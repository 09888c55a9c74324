import type { Estimate, Scenario } from "../core/types";
import { kGibBytes } from "../format/format";

/** A custom GPU starts with the memory of the one before it; a known GPU has its own. */
export function settle_custom_memory(next: Scenario, before: Estimate | null): void {
  const usable_bytes = before?.devices[0]?.usable_bytes;
  if (next["gpu"] !== "custom") delete next["gpu_memory_gib"];
  else if (usable_bytes !== undefined)
    next["gpu_memory_gib"] ??= Math.round((100 * usable_bytes) / kGibBytes) / 100;
}
