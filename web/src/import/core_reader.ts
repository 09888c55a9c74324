import type { RawReader } from "../../../wasm/facade.mjs";
import type { Envelope } from "../core/types";
import type { Store } from "../state/store";
import type { ModelReader, ReadResult } from "./model_reader";

/** What was read, before the main module has summarised it. */
interface ReadDocument {
  text: string;
  name: string;
  stored: NonNullable<ReadResult["stored"]> | null;
}

/** The core's reader, in the module that is fetched when it is first needed. */
export async function open_model_reader(store: Store): Promise<ModelReader> {
  const { instance, catalogue } = await store.core.reader_module();
  return new CoreReader(store, new instance.Reader(), catalogue);
}

class CoreReader implements ModelReader {
  #is_trapped = false;

  constructor(
    private readonly store: Store,
    private readonly raw: RawReader,
    catalogue: Uint8Array,
  ) {
    const loaded = this.#call<object>(() => raw.load_catalogue(catalogue));
    if (!loaded.ok) throw new Error(loaded.errors.map(({ message }) => message).join("; "));
  }

  readonly open: ModelReader["open"] = (request) =>
    this.#call(() => this.raw.open(JSON.stringify(request)));

  readonly feed: ModelReader["feed"] = (file, offset_bytes, bytes) =>
    this.#call(() => this.raw.feed(file, offset_bytes, bytes));

  readonly set_size: ModelReader["set_size"] = (file, size_bytes) =>
    this.#call(() => this.raw.set_size(file, size_bytes));

  readonly finish: ModelReader["finish"] = () => {
    const read = this.#call<ReadDocument>(() => this.raw.finish_document());
    if (!read.ok) return read;
    const { text, name, stored } = read.result;
    const summary = this.store.core.call("import", { text, name });
    return summary.ok ? { ...summary, result: { ...summary.result, stored } } : summary;
  };

  close(): void {
    if (!this.#is_trapped) this.raw.delete();
  }

  /** A module that has trapped is not used again. */
  #call<T>(action: () => string): Envelope<T> {
    try {
      return JSON.parse(action()) as Envelope<T>;
    } catch (trap) {
      this.#is_trapped = true;
      this.store.core.drop_reader();
      throw trap;
    }
  }
}
