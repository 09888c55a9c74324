import type { Envelope, ImportResult } from "../core/types";
import type { Bytes } from "./range_source";

/** A part of a file that the reader needs. */
export interface Wanted {
  /** Which of the files that were named, from 0. */
  file: number;
  offset_bytes: number;
  length_bytes: number;
}

export interface ReaderStep {
  /** Everything that is wanted now, at most one part of each file; nothing once all has been read. */
  wanted: Wanted[];
}

export interface ReaderRequest {
  files: { name: string; size_bytes?: number }[];
  /** What a model is called that has no name of its own. */
  name: string;
}

/** What was read of a model. */
export interface ReadResult extends ImportResult {
  /** The tensors by the headers of the files; null where only a configuration was read. */
  stored?: { total_bytes: number; is_total_only: boolean } | null;
}

/** Reads what model files hold from the few parts of them that say it; the core's, or a test's own. */
export interface ModelReader {
  open(request: ReaderRequest): Envelope<ReaderStep>;
  /** Takes a wanted part or the beginning of one; no bytes say that the file ends there. */
  feed(file: number, offset_bytes: number, bytes: Bytes): Envelope<ReaderStep>;
  /** Says how long a file is, where that was not known from the beginning. */
  set_size(file: number, size_bytes: number): Envelope<ReaderStep>;
  finish(): Envelope<ReadResult>;
  /** Gives its memory back. */
  close(): void;
}
