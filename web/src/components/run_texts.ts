import type { LaterTexts } from "../i18n/i18n";

/** Texts of the parts that deal with a running engine: its command line, its log. */
export const run_texts: LaterTexts = {
  en: () => import("../i18n/run.en.json"),
  "zh-CN": () => import("../i18n/run.zh-CN.json"),
};
