import type { Envelope } from "../core/types";
import type { Store } from "../state/store";
import type { ModelReader } from "./model_reader";

/** The core's reader. */
export async function open_model_reader(store: Store): Promise<ModelReader> {
  const { instance, catalogue } = await store.reader_module();
  const reader = new instance.Reader();
  reader.load_catalogue(catalogue);
  const answer = <T>(text: string): Envelope<T> => JSON.parse(text) as Envelope<T>;
  return {
    open: (request) => answer(reader.open(JSON.stringify(request))),
    feed: (file, offset_bytes, bytes) => answer(reader.feed(file, offset_bytes, bytes)),
    set_size: (file, size_bytes) => answer(reader.set_size(file, size_bytes)),
    finish: () => answer(reader.finish()),
    close: () => reader.delete(),
  };
}
