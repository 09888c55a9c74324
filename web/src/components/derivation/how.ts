import { html, type TemplateResult } from "lit";
import { t, type LaterTexts } from "../../i18n/i18n";
import "./derivation";

/** Texts of how the parts below the answer come about. */
export const how_texts: LaterTexts = {
  en: () => import("../../i18n/how.en.json"),
  "zh-CN": () => import("../../i18n/how.zh-CN.json"),
};

/** How the figures of a part come about: a line a figure, its name before the bar; and their source. */
export function how(part: string, args: Record<string, string | number> = {}): TemplateResult {
  const lines = t(`how.${part}.formula`, args)
    .split("\n")
    .map((line) => {
      const [name = "", formula = ""] = line.split(" | ");
      return { name, formula };
    });
  return html`<vg-derivation .lines=${lines} source=${t(`how.${part}.source`, args)}></vg-derivation>`;
}
