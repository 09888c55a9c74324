import type { Store } from "../state/store";
import type { ModelReader } from "./model_reader";

/** The core's reader. */
export function open_model_reader(_store: Store): Promise<ModelReader> {
  return Promise.reject(new Error("not there"));
}
