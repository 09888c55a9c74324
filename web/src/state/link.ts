import type { CoreClient } from "../core/client";
import type { Diag, Scenario } from "../core/types";

/** Browsers refuse more than about 200 history changes in 30 s; typing must not reach that. */
const kWriteDelayMs = 150;

export interface DecodedLink {
  scenario: Scenario;
  findings: Diag[];
}

/** What a link's fragment says. */
export function decode_link(core: CoreClient, fragment: string): DecodedLink {
  if (fragment === "") return { scenario: {}, findings: [] };
  const reply = core.call("link_decode", { link: `#${fragment}` });
  if (!reply.ok) return { scenario: {}, findings: [...reply.errors, ...reply.warnings] };
  return { scenario: reply.result.scenario, findings: reply.warnings };
}

/** The fragment that stands for a scenario; null where it holds something that is no value. */
export function encode_link(core: CoreClient, scenario: Scenario): string | null {
  const reply = core.call("link_encode", { scenario });
  return reply.ok ? reply.result.fragment : null;
}

/** The page's own address, without a scenario and without choices made for one visit. */
export function page_address(): string {
  return location.href.replace(/[?#].*$/, "");
}

/** Keeps the scenario in the address bar. The codec itself lives in the core. */
export class AddressBar {
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The fragment last seen or written, so that our own writes are not read back. */
  #current = "";

  constructor(private readonly core: CoreClient) {}

  /** Reads the address bar; null where the fragment is the one already shown. */
  read(): DecodedLink | null {
    const fragment = location.hash.replace(/^#/, "");
    if (fragment === this.#current) return null;
    clearTimeout(this.#timer);
    this.#current = fragment;
    return decode_link(this.core, fragment);
  }

  write_soon(scenario: Scenario): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#write(scenario), kWriteDelayMs);
  }

  #write(scenario: Scenario): void {
    const fragment = encode_link(this.core, scenario);
    if (fragment === null || fragment === this.#current) return;
    this.#current = fragment;
    history.replaceState(null, "", `#${fragment}`);
  }
}
