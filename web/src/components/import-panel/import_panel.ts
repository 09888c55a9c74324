import { css, html, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";
import type { ImportBody } from "../import-body/import_body";
import { LaterPanel } from "../later_panel";

/** Opens what reads a model of one's own. */
export class ImportPanel extends LaterPanel {
  static override styles = [
    ...LaterPanel.styles,
    css`
      :host {
        margin-inline-start: var(--label-width);
        padding-bottom: 14px;
      }
    `,
  ];

  /** Reads files that were dropped on the page. */
  async read_files(files: Promise<File[]>): Promise<void> {
    await this.show();
    const body = this.renderRoot.querySelector<ImportBody>("vg-import-body");
    await body?.read_files(await files.catch(() => []));
  }

  protected override title_text(): string {
    return t("import.open");
  }

  protected override async fetch_body(): Promise<void> {
    await (await import("../import-body/import_body")).load_import_texts();
  }

  protected override body(): TemplateResult {
    return html`<vg-import-body .store=${this.store}></vg-import-body>`;
  }
}

customElements.define("vg-import-panel", ImportPanel);
