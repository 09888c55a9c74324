import { css, html, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";
import { LaterPanel } from "../later_panel";
import type { ProbeBody } from "../probe-body/probe_body";

/** Opens what takes a measured machine in. */
export class ProbePanel extends LaterPanel {
  static override styles = [
    ...LaterPanel.styles,
    css`
      :host {
        margin: -9px 0 14px var(--label-width);
      }
    `,
  ];

  /** Takes a probe's text that was given elsewhere on the page. */
  async take(text: string): Promise<void> {
    await this.show();
    this.renderRoot.querySelector<ProbeBody>("vg-probe-body")?.take(text);
  }

  protected override title_text(): string {
    return t("import.open_probe");
  }

  protected override async fetch_body(): Promise<void> {
    await (await import("../probe-body/probe_body")).load_probe_texts();
  }

  protected override body(): TemplateResult {
    return html`<vg-probe-body .store=${this.store}></vg-probe-body>`;
  }
}

customElements.define("vg-probe-panel", ProbePanel);
