import { site_root } from "../core/assets_site";
import type { Store } from "../state/store";

/**
 * Keeps a copy of the page for visits without a network. A newer version is offered, never forced:
 * until it is accepted, or the page is closed everywhere, the version that is open stays whole.
 */
export async function start_offline(store: Store): Promise<void> {
  const workers = service_workers();
  if (!workers) return;
  const registration = await workers.register(new URL("sw.js", site_root)).catch(() => null);
  if (!registration) return;
  let accepted = false;
  const offer = (): void => {
    const { waiting } = registration;
    if (!waiting || !workers.controller) return;
    store.offer_update(() => {
      accepted = true;
      waiting.postMessage({ type: "SKIP_WAITING" });
    });
  };
  registration.addEventListener("updatefound", () =>
    registration.installing?.addEventListener("statechange", offer),
  );
  const had_controller = workers.controller !== null;
  workers.addEventListener("controllerchange", () => {
    if (accepted) location.reload();
    // Accepted in another window: this one has lost the files of its version.
    else if (had_controller) store.offer_update(() => location.reload());
  });
  offer();
}

/** Absent where the connection is not secure; a sandboxed frame may not even ask. */
function service_workers(): ServiceWorkerContainer | undefined {
  try {
    return navigator.serviceWorker;
  } catch {
    return undefined;
  }
}
