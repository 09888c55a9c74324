/** The JSON contract of the core's facade, as the page uses it. Byte counts are integers below 2^53. */

import type {
  Advice,
  Command,
  LogCheck,
  ParsedCommand,
  SearchRequest,
  SearchResult,
  SolveTarget,
  Solved,
  Speed,
  Traffic,
  TrafficRequest,
} from "./plan_types";

export type JsonValue =
  null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** Scenario fields that were given; everything left out takes the core's default. */
export type Scenario = Record<string, JsonValue>;

/** One finding about the input: where it is, what is wrong, what to do. */
export interface Diag {
  code: string;
  /** JSON Pointer into what the user gave. */
  path: string;
  at?: { line: number; column: number };
  args: Record<string, JsonValue>;
  message: string;
  hint: string;
}

export interface OkEnvelope<T> {
  ok: true;
  result: T;
  warnings: Diag[];
}

export interface ErrorEnvelope {
  ok: false;
  errors: Diag[];
  warnings: Diag[];
}

export type Envelope<T> = OkEnvelope<T> | ErrorEnvelope;

export type FieldKind = "choice" | "option" | "integer" | "fraction" | "decimal" | "text" | "json";

/** Form metadata of one scenario field. */
export interface FieldInfo {
  key: string;
  kind: FieldKind;
  unit: string;
  min?: number | null;
  max?: number | null;
  default?: JsonValue;
  /** Engines that have the field; empty or absent = all. */
  engines?: string[];
  group: string;
  /** The catalogue list that a choice is taken from. */
  list?: CatalogueKind;
  /** The words of an option. */
  options?: string[];
}

export interface DescribeResult {
  fields: FieldInfo[];
  terms: string[];
  bases: string[];
  verdicts: string[];
  error_codes: { code: string; severity: string; message: string; hint: string }[];
}

export type CatalogueKind = "models" | "gpus" | "formats" | "cache_types" | "engines";

export interface CatalogueItem {
  id: string;
  name: string;
  family?: string;
  [detail: string]: JsonValue | undefined;
}

export interface CatalogueResult {
  items: CatalogueItem[];
  total: number;
}

/** Layers that keep the same cache: fixed bytes per request, and bytes per entry up to a limit. */
export interface CacheSegment {
  kind: string;
  mixer: string;
  layers: number;
  fixed_bytes: number;
  entry_bytes: number;
  tokens_per_entry: number;
  saturation_tokens: number;
  basis: string;
}

/** Equal mixers counted; heads and widths only where the kind has them. */
export interface MixerSummary {
  kind: string;
  layers: number;
  num_heads?: number;
  num_kv_heads?: number;
  head_dim?: number;
  kv_lora_rank?: number;
  qk_rope_head_dim?: number;
}

export interface ModelSummary {
  id: string;
  name: string;
  family?: string;
  source?: string;
  verified?: string;
  model_type?: string;
  /** How the checkpoint is quantised, as its configuration names it; empty where it is not. */
  quant_method: string;
  /** What kind of files the tensors were read from; empty where they are derived. */
  container: "gguf" | "safetensors" | "";
  parameters: {
    total: number | null;
    active: number | null;
    by_role: Record<string, number | null>;
  };
  /** 0 where the model names none. */
  max_context_tokens: number;
  num_layers: number;
  /** The cache in 16 bits; null where it cannot be laid out. */
  kv: { bytes_per_token: number; segments: CacheSegment[] } | null;
  mixers: MixerSummary[];
  assumptions: { key: string; value: string }[];
}

export interface ImportResult extends ModelSummary {
  scenario_patch: Scenario;
}

export interface Amount {
  bytes: number;
  low_bytes: number;
  high_bytes: number;
  basis: string;
}

export interface ArithmeticLine {
  label: string;
  formula: string;
  substituted: string;
  /** Bytes. */
  result: number;
}

export interface Term extends Amount {
  id: string;
  lines: ArithmeticLine[];
  source: string;
}

export interface DeviceBreakdown {
  name: string;
  count: number;
  first_rank: number;
  last_rank: number;
  capacity_bytes: number;
  usable_bytes: number;
  total: Amount;
  terms: Term[];
}

export type VerdictState = "fits" | "tight" | "does_not_fit";

export interface Verdict {
  state: VerdictState;
  margin_bytes: number;
  needed_bytes: number;
  usable_bytes: number;
  worst_device: number;
}

export interface Answers {
  max_requests: number | null;
  max_context_tokens: number | null;
  max_cached_tokens: number | null;
  model_max_context_tokens: number | null;
}

export interface CacheSummary {
  bytes_per_token: number;
  fixed_bytes_per_request: number;
  bytes_per_request: number;
  total_bytes: number;
}

export interface WeightsSummary {
  format: string;
  name: string;
  total_bytes: number;
  elements: number;
}

export interface Estimate {
  scenario: Scenario;
  model: ModelSummary;
  weights: WeightsSummary;
  verdict: Verdict;
  devices: DeviceBreakdown[];
  cache: CacheSummary;
  answers: Answers;
  /** Figures that only this engine has. */
  engine?: { id: string; value: number | string; unit: string }[];
}

/** A field and the values of it that are looked at. */
export interface SweepAxis {
  field: string;
  values: number[];
}

/** A field's values at which the same scenario is computed; x runs fastest in the arrays. */
export interface SweepResult {
  /** A letter per point: f fits, t tight, n does not fit, - refused. */
  states: string;
  needed_bytes: number[];
  /** One number where it is the same everywhere. */
  usable_bytes: number[];
  terms?: Record<string, number[]>;
}

/** Request and result of every method the page calls. */
export interface Methods {
  version: { request: Record<string, never>; result: { version: string; link_version: number } };
  describe: { request: Record<string, never>; result: DescribeResult };
  catalogue: {
    request: { kind: CatalogueKind; query?: string; limit?: number };
    result: CatalogueResult;
  };
  model: { request: { id: string } | { config_text: string }; result: ModelSummary };
  import: { request: { text: string; name?: string }; result: ImportResult };
  estimate: { request: { scenario: Scenario }; result: Estimate };
  sweep: {
    request: { scenario: Scenario; x: SweepAxis; y?: SweepAxis; terms?: boolean };
    result: SweepResult;
  };
  advise: { request: { scenario: Scenario }; result: Advice };
  solve: { request: { scenario: Scenario; for: SolveTarget }; result: Solved };
  search: { request: SearchRequest; result: SearchResult };
  traffic: { request: TrafficRequest; result: Traffic };
  speed: { request: { scenario: Scenario }; result: Speed };
  command: { request: { scenario: Scenario }; result: Command };
  parse_command: { request: { text: string }; result: ParsedCommand };
  check_log: { request: { text: string }; result: LogCheck };
  link_encode: { request: { scenario: Scenario }; result: { fragment: string } };
  link_decode: { request: { link: string }; result: { scenario: Scenario } };
}

export type Method = keyof Methods;
