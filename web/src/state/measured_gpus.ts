import { page_error, type CoreClient } from "../core/client";
import type { JsonValue, Scenario } from "../core/types";
import { kGibBytes } from "../format/format";
import { CatalogueProblem } from "./own_catalogue";

/** One device of a machine, as `vramgauge probe --json` found it. */
export interface MeasuredDevice {
  index: number;
  name: string;
  /** Id of its kind's entry in the catalogue. */
  gpu: string;
  total_bytes: number;
  usable_bytes: number;
  free_bytes: number;
}

export interface Probe {
  devices: MeasuredDevice[];
  /** Entries of the catalogue, one for each kind of device. */
  gpus: Record<string, JsonValue>[];
  /** What uses the devices of the first kind. */
  scenario_patch: Scenario;
}

const kKind = "probe";
const kVersion = 1;
const kSizes = ["total_bytes", "usable_bytes", "free_bytes"] as const;

/** Whether a text is what the probe writes, understood or not. */
export function is_probe(text: string): boolean {
  return /^\s*\{/.test(text) && parsed(text)?.["kind"] === kKind;
}

/** Reads a probe's document; a CatalogueProblem where it is none. */
export function read_probe(text: string): Probe {
  const document = parsed(text);
  if (document?.["kind"] !== kKind || document["version"] !== kVersion) throw not_a_probe();
  const gpus = objects(document["gpus"]);
  const devices = objects(document["devices"]).map(as_device);
  const first = devices[0]?.gpu;
  if (first === undefined || !gpus.some(({ id }) => id === first)) throw not_a_probe();
  return {
    devices,
    gpus,
    scenario_patch: { gpu: first, gpu_count: devices.filter(({ gpu }) => gpu === first).length },
  };
}

/** GiB that others held on the fullest device of the first kind, rounded up to a hundredth. */
export function held_gib({ devices }: Probe): number {
  const held = devices
    .filter(({ gpu }) => gpu === devices[0]?.gpu)
    .map(({ usable_bytes, free_bytes }) => Math.max(usable_bytes - free_bytes, 0));
  return Math.ceil((Math.max(0, ...held) / kGibBytes) * 100) / 100;
}

/** Adds the measured kinds to the core's catalogue, named apart from those of the data sheets. */
export function add_probe(core: CoreClient, { gpus }: Probe, mark: string): void {
  const named = gpus.map((gpu) => ({ ...gpu, name: `${String(gpu["name"])} · ${mark}` }));
  const reply = core.load_document(JSON.stringify({ gpus: named }));
  if (!reply.ok) throw new CatalogueProblem(reply.errors);
}

const not_a_probe = (): CatalogueProblem =>
  new CatalogueProblem(page_error("page.not_a_probe").errors);

function parsed(text: string): Record<string, JsonValue> | null {
  try {
    const value = JSON.parse(text) as JsonValue;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function objects(value: JsonValue | undefined): Record<string, JsonValue>[] {
  const list = Array.isArray(value) ? value : [];
  return list.filter(
    (item): item is Record<string, JsonValue> =>
      typeof item === "object" && item !== null && !Array.isArray(item),
  );
}

function as_device(device: Record<string, JsonValue>): MeasuredDevice {
  const sizes = kSizes.map((key) => Number(device[key]));
  if (sizes.some((size) => !Number.isSafeInteger(size) || size < 0)) throw not_a_probe();
  const [total_bytes = 0, usable_bytes = 0, free_bytes = 0] = sizes;
  return {
    index: Number(device["index"]),
    name: String(device["name"]),
    gpu: String(device["gpu"]),
    total_bytes,
    usable_bytes,
    free_bytes,
  };
}
