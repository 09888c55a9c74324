import type { Envelope, ImportResult } from "../core/types";
import type { Bytes } from "./range_source";

/** A part of a file that the reader needs next. */
export interface Wanted {
  /** Which of the files that were named, from 0. */
  file: number;
  offset: number;
  length: number;
}

export interface ReaderStep {
  /** Everything that is wanted now, at most one part of each file; nothing once all has been read. */
  wanted: Wanted[];
}

/** What was read of a model. */
export interface ReadResult extends ImportResult {
  weights?: { total_bytes: number };
}

/** Reads what model files hold from the few parts of them that say it; the core's, or a test's own. */
export interface ModelReader {
  open(files: { name: string; size?: number }[]): Envelope<ReaderStep>;
  /** Takes a wanted part or the beginning of one; no bytes say that the file ends there. */
  feed(file: number, offset: number, bytes: Bytes): Envelope<ReaderStep>;
  finish(): Envelope<ReadResult>;
  /** Gives its memory back. */
  close(): void;
}
