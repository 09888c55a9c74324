import type en from "./en.json";

/** Texts of one finding: what is wrong, and the remedy. */
export interface FindingTexts {
  message: string;
  hint: string;
}

/** Everything in one language. Each is a chunk of its own, so that a visitor loads only one. */
export interface LanguageTexts {
  texts: typeof en;
  /** By error code of the core; where one is missing the core's English text stands. */
  errors: Record<string, FindingTexts>;
}
