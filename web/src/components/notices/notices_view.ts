import { html, nothing, type TemplateResult } from "lit";
import type { Store } from "../../state/store";

/** The notices, which are loaded when there is something to tell. */
export function notices_view(store: Store): TemplateResult | typeof nothing {
  const findings = store.link_findings.length + store.catalogue_findings.length;
  if (findings === 0 && store.crash_link === null && store.update === null) return nothing;
  void import("./notices");
  return html`<vg-notices .store=${store}></vg-notices>`;
}
