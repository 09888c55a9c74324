import type en from "./en.json";

/** Texts of one finding: what is wrong, and the remedy. */
export interface FindingTexts {
  message: string;
  hint: string;
}

/** What a language has from the start. Each is a chunk of its own, so that a visitor loads only one. */
export type LanguageTexts = typeof en;
