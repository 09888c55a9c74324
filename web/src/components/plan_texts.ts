import type { LaterTexts } from "../i18n/i18n";

/** Texts of the parts that show what the planner says. */
export const plan_texts: LaterTexts = {
  en: () => import("../i18n/plan.en.json"),
  "zh-CN": () => import("../i18n/plan.zh-CN.json"),
};
