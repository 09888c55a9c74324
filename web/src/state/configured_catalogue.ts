import type { Store } from "./store";

/** A page can name the catalogue of its organisation by address, or hold it: see web/README.md. */
const kAddress = 'meta[name="vramgauge-catalogue"]';
const kHeld = 'script[type="application/json"]#vramgauge-catalogue';

const kKept = "vramgauge-catalogue";

/** Where the page's configuration has a catalogue; null where it has none. */
export function configured_catalogue(): (() => Promise<string>) | null {
  const held = document.querySelector(kHeld)?.textContent;
  if (held) return () => Promise.resolve(held);
  const address = document.querySelector<HTMLMetaElement>(kAddress)?.content;
  return address ? () => fetch_text(new URL(address, document.baseURI)) : null;
}

/** Adds it before the first answer, which may be about a model of it. The page works without it too. */
export async function add_configured(store: Store, read: () => Promise<string>): Promise<void> {
  const { add_catalogue, findings_of } = await import("./own_catalogue");
  try {
    await add_catalogue(store.core, await read());
    store.renew_catalogue();
  } catch (failure) {
    store.catalogue_findings = findings_of(failure);
  }
}

/** The newest one; without a network the one that was read last. */
async function fetch_text(url: URL): Promise<string> {
  // Absent where the connection is not secure.
  const kept = await globalThis.caches?.open(kKept);
  const response = await fetch(url).catch(async (failure: unknown) => {
    const copy = await kept?.match(url);
    if (!copy) throw failure;
    return copy;
  });
  if (!response.ok) throw new Error(`${response.status} ${url.href}`);
  await kept?.put(url, response.clone());
  return response.text();
}
