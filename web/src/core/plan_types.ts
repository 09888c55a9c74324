/** What the planner's methods and the tools answer, see core/api/README.md. */
import type { Diag, JsonValue, Scenario, VerdictState } from "./types";

/** A scenario as the planner tried it, on the device that decides; or why the engine refuses it. */
export interface Outcome {
  state?: VerdictState;
  needed_bytes?: number;
  usable_bytes?: number;
  margin_bytes?: number;
  rank?: number;
  device?: string;
  refusal?: { code: string; args: Record<string, JsonValue> };
}

export interface Lever extends Outcome {
  id: string;
  field: string;
  value: JsonValue;
  /** Of the engine itself; empty where it has none. */
  flag: string;
  /** Key of what is at stake; empty where nothing is. */
  caution: string;
  source: string;
  freed_bytes: number;
  gained_requests: number | null;
  gained_tokens: number | null;
  /** It does not fit without, and fits with it alone. */
  crosses: boolean;
  scenario_patch: Scenario;
}

export interface LeverSet extends Outcome {
  levers: string[];
  scenario_patch: Scenario;
}

export interface Advice {
  before: Outcome;
  levers: Lever[];
  /** Cheapest first; none where it fits as it is. */
  combinations: LeverSet[];
}

export type SolveTarget =
  | "num_requests"
  | "context_tokens"
  | "cached_tokens"
  | "prefill_budget"
  | "gpu_count"
  | "weight_format"
  | "cache_type"
  | "gpu_layers"
  | "cpu_moe_layers";

export interface Binding {
  kind: "memory" | "engine" | "model_context" | "none";
  term?: string;
  rank?: number;
  device?: string;
}

export interface Solved {
  for: SolveTarget;
  /** Null where nothing fits. */
  value: number | string | null;
  scenario_patch: Scenario;
  /** The field that was varied, where it is a number. */
  field?: string;
  at?: Outcome;
  next?: Outcome & { value: number };
  one_less?: Outcome[];
  binding?: Binding;
  holds_again_at?: number | null;
}

export interface Command {
  engine: string;
  lines: { program: string; text: string }[];
  /** Fields that the engine's command line cannot say. */
  not_carried: string[];
}

export interface GivenFlag {
  flag: string;
  value: string;
}

export interface ParsedCommand {
  engine: string;
  program: string;
  scenario_patch: Scenario;
  unknown: GivenFlag[];
  ignored: GivenFlag[];
  not_modelled: GivenFlag[];
}

/** A figure of a log beside its prediction, in bytes or tokens. */
export interface CheckRow {
  quantity: string;
  unit: string;
  /** Number of a GPU, "host", or empty for the rank that decides. */
  where: string;
  measured: number;
  predicted?: number;
  low?: number;
  high?: number;
  residual?: number;
  in_band?: boolean;
  is_large?: boolean;
  /** Line of the log. */
  line: number;
  /** Stable name, and English text. */
  reasons: { name: string; text: string }[];
}

/** By how much a log moves terms; `text` is what the field calibration takes. */
export interface LogCalibration {
  terms: { term: string; add_bytes: number }[];
  text: string;
  scenario_patch: Scenario;
  /** Fragment of a link that carries it. */
  link?: string;
}

export interface LogCheck {
  engine: string;
  engine_version: string;
  outcome: string;
  verdict?: VerdictState;
  rows: CheckRow[];
  /** Why there are no predictions. */
  prediction_errors: Diag[];
  scenario_patch: Scenario;
  not_carried: string[];
  /** A row that `accuracy` reads. */
  observation: JsonValue;
  /** What to correct from now on; null where the log leaves nothing to. */
  calibration: LogCalibration | null;
}

/** A GPU, model or format in the place of the scenario's own. */
export interface SearchRow {
  model?: string;
  gpu?: string;
  weight_format?: string;
  state: VerdictState;
  needed_bytes: number;
  usable_bytes: number;
  margin_bytes: number;
  /** Per weight. */
  bits: number;
  parameters: number;
  max_requests: number | null;
}

export type SearchAxis = "gpus" | "models" | "formats";
export type SearchSort = "margin" | "needed" | "usable" | "bits" | "parameters" | "requests";

export interface SearchRequest {
  scenario: Scenario;
  over: SearchAxis;
  query?: string;
  verdict?: "any" | "tight" | "fits";
  sort?: SearchSort;
  descending?: boolean;
  limit?: number;
}

export interface SearchResult {
  /** Combinations that were looked at, and how many of them are listed at most. */
  points: number;
  found: number;
  fits: number;
  tight: number;
  rows: SearchRow[];
}

/** Requests of one length. */
export interface Replicas {
  tokens_per_request: number;
  requests_per_replica: number;
  /** Null where not even one request fits. */
  replicas: number | null;
}

export interface TrafficRequest {
  scenario: Scenario;
  requests_per_s: number;
  duration_s: number;
  prompt_tokens: { mean: number; p99: number };
  output_tokens: { mean: number; p99: number };
}

export interface Traffic {
  live_requests: number;
  mean_tokens: number;
  p99_tokens: number;
  live_tokens: number;
  paged_tokens: number;
  static_tokens: number;
  shared_saved_tokens: number;
  static_waste_frac: number;
  paged_waste_frac: number;
  mean: Replicas;
  p99: Replicas;
  static: Replicas;
}

/** The roofline: what a step cannot be faster than. */
export interface Speed {
  bound: "memory" | "compute";
  weight_bytes_per_step: number;
  cache_bytes_per_step: number;
  tera_operations_per_step: number;
  step_us: number;
  tokens_per_s_per_request: number;
  tokens_per_s: number;
  prefill_s: number;
  four_bit_full_gain_to_requests: number;
  four_bit_no_gain_from_requests: number;
  /** Share of the bound that public measurements reach. */
  reached: { low: number; high: number; source: string };
}
