/** Why reading a model did not succeed; each has a text and a remedy of its own in every language. */
export type FailureCode =
  | "bad_name"
  | "bad_base"
  | "no_access"
  | "gated"
  | "token_refused"
  | "repo_missing"
  | "revision_missing"
  | "file_missing"
  | "rate_limited"
  | "rate_limited_until"
  | "server_error"
  | "unreachable"
  | "offline"
  | "insecure"
  | "policy_blocked"
  | "ranges_refused"
  | "wrong_range"
  | "wrong_length"
  | "cut_short"
  | "timeout"
  | "cancelled"
  | "not_a_listing"
  | "pickle_only"
  | "no_model"
  | "no_config"
  | "part_missing"
  | "unknown_files"
  | "unreadable_file"
  | "reader_failed"
  | "internal";

/** Arguments of the text; those named *_bytes are shown as sizes. */
export type FailureArgs = Record<string, string | number>;

export class ImportFailure extends Error {
  constructor(
    readonly code: FailureCode,
    readonly args: FailureArgs = {},
  ) {
    super(code);
  }
}

/** What was thrown, as a failure; anything that is none is the page's own fault. */
export function as_failure(thrown: unknown): ImportFailure {
  return thrown instanceof ImportFailure
    ? thrown
    : new ImportFailure("internal", { detail: String(thrown) });
}
