import type { Envelope, ErrorEnvelope } from "../core/types";
import type { ModelReader, ReadResult, Wanted } from "./model_reader";
import type { RangeSource } from "./range_source";

/** Requests at a time: what browsers open to one server anyway. */
const kMaxReads = 6;
/** Longer parts come in several reads, so that progress shows. */
const kMaxReadBytes = 2 ** 20;

export interface Progress {
  files: number;
  files_done: number;
  bytes: number;
  /** 0 to 1; never goes back. */
  frac: number;
}

/** The files of one model. */
export interface ModelSources {
  /** What the model is called where its files do not say it. */
  name: string;
  sources: readonly RangeSource[];
}

/**
 * Gives the reader the parts it asks for until it asks for nothing. Throws an ImportFailure where a
 * file cannot be read; what the reader finds wrong with a file is returned.
 */
export async function read_model(
  reader: ModelReader,
  { name, sources }: ModelSources,
  signal: AbortSignal,
  on_progress: (progress: Progress) => void,
): Promise<Envelope<ReadResult>> {
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    return await new Feeding(reader, sources, stopped.signal, on_progress).run(name);
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
    for (const source of sources) source.close();
  }
}

class Feeding {
  #wanted: readonly Wanted[] = [];
  /** A file is read by one request at a time. */
  readonly #busy = new Set<number>();
  /** Read of each file. */
  readonly #bytes: number[];
  #frac = 0;

  constructor(
    private readonly reader: ModelReader,
    private readonly sources: readonly RangeSource[],
    private readonly signal: AbortSignal,
    private readonly on_progress: (progress: Progress) => void,
  ) {
    this.#bytes = sources.map(() => 0);
  }

  async run(model_name: string): Promise<Envelope<ReadResult>> {
    const files = this.sources.map(({ name, size }) =>
      size === undefined ? { name } : { name, size_bytes: size },
    );
    const opened = this.reader.open({ files, name: model_name });
    if (!opened.ok) return opened;
    this.#wanted = opened.result.wanted;
    const refused = await this.#drain();
    return refused ?? this.reader.finish();
  }

  /** Reads until nothing is wanted, or until the first failure, which it throws, or refusal. */
  async #drain(): Promise<ErrorEnvelope | null> {
    const running = new Set<Promise<ErrorEnvelope | null>>();
    for (;;) {
      const ready = this.#wanted.filter(({ file }) => !this.#busy.has(file));
      for (const part of ready.slice(0, kMaxReads - running.size)) {
        const read = this.#read(part).finally(() => running.delete(read));
        running.add(read);
        // The first failure is thrown below; those that follow from it are nobody's concern.
        read.catch(() => {});
      }
      if (running.size === 0) return null;
      const refused = await Promise.race(running);
      if (refused) return refused;
    }
  }

  async #read({ file, offset_bytes, length_bytes }: Wanted): Promise<ErrorEnvelope | null> {
    this.#busy.add(file);
    try {
      const source = this.sources[file]!;
      const { size } = source;
      const length = Math.min(length_bytes, kMaxReadBytes);
      const bytes = await source.read(offset_bytes, length, this.signal);
      this.#bytes[file]! += bytes.length;
      const sized =
        size === undefined && source.size !== undefined
          ? this.reader.set_size(file, source.size)
          : null;
      const fed = sized?.ok === false ? sized : this.reader.feed(file, offset_bytes, bytes);
      if (!fed.ok) return fed;
      this.#wanted = fed.result.wanted;
    } finally {
      this.#busy.delete(file);
    }
    this.#report();
    return null;
  }

  #report(): void {
    const shares = this.#bytes.map((read, file) => read / (read + this.#left(file) || 1));
    const done = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    this.#frac = Math.max(this.#frac, done);
    this.on_progress({
      files: shares.length,
      files_done: shares.filter((share) => share === 1).length,
      bytes: this.#bytes.reduce((sum, bytes) => sum + bytes, 0),
      frac: this.#frac,
    });
  }

  /** What is known to be wanted of a file; the reader may come to want more. */
  #left(file: number): number {
    return this.#wanted.find((part) => part.file === file)?.length_bytes ?? 0;
  }
}
