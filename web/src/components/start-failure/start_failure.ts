import { html, type TemplateResult } from "lit";
import { t } from "../../i18n/i18n";

/** What stands in the calculator's place where it could not be started. */
export const start_failure = (detail: string): TemplateResult =>
  html`<main class="failure" role="alert">
    <h1>${t("app.start_failed", { detail })}</h1>
    <p>${t("app.start_failed_hint")}</p>
  </main>`;
