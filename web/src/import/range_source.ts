import { ImportFailure } from "./failure";

export type Bytes = Uint8Array<ArrayBuffer>;

/** A file of which parts can be read, wherever it lies. */
export interface RangeSource {
  readonly name: string;
  /** Bytes; undefined until it is known. */
  readonly size: number | undefined;
  /** `length` bytes from `offset`; fewer only where the file ends. One call at a time. */
  read(offset: number, length: number, signal: AbortSignal): Promise<Bytes>;
  /** Lets go of whatever is still open. */
  close(): void;
}

/** A file of this computer; what is not asked for is never read. */
export class FileSource implements RangeSource {
  readonly name: string;
  readonly size: number;

  constructor(private readonly file: Blob & { name: string }) {
    this.name = file.name;
    this.size = file.size;
  }

  async read(offset: number, length: number, signal: AbortSignal): Promise<Bytes> {
    if (signal.aborted) throw new ImportFailure("cancelled");
    try {
      return new Uint8Array(await this.file.slice(offset, offset + length).arrayBuffer());
    } catch (thrown) {
      // Moved, changed or withheld since it was chosen.
      throw new ImportFailure("unreadable_file", { file: this.name, detail: String(thrown) });
    }
  }

  close(): void {}
}
