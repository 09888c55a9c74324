import type { Store } from "../state/store";

/** The one-file page is its own copy. */
export async function start_offline(_store: Store): Promise<void> {}
