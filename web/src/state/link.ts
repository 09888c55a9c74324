import type { CoreClient } from "../core/client";
import type { Diag, Scenario } from "../core/types";

/** Browsers refuse more than about 200 history changes in 30 s; typing must not reach that. */
const kWriteDelayMs = 150;

export interface DecodedLink {
  scenario: Scenario;
  findings: Diag[];
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
    return fragment === "" ? { scenario: {}, findings: [] } : this.#decode(fragment);
  }

  write_soon(scenario: Scenario): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#write(scenario), kWriteDelayMs);
  }

  /** The full address that opens this scenario. */
  link_to(scenario: Scenario): string {
    const url = new URL(location.href);
    url.hash = this.#encode(scenario) ?? "";
    return url.href;
  }

  #decode(fragment: string): DecodedLink {
    const reply = this.core.call("link_decode", { link: `#${fragment}` });
    if (!reply.ok) return { scenario: {}, findings: [...reply.errors, ...reply.warnings] };
    return { scenario: reply.result.scenario, findings: reply.warnings };
  }

  #encode(scenario: Scenario): string | null {
    const reply = this.core.call("link_encode", { scenario });
    return reply.ok ? reply.result.fragment : null;
  }

  #write(scenario: Scenario): void {
    const fragment = this.#encode(scenario);
    if (fragment === null || fragment === this.#current) return;
    this.#current = fragment;
    history.replaceState(null, "", `#${fragment}`);
  }
}
