import texts from "./en.json";
import type { LanguageTexts } from "./language";

/** English texts of error codes are the core's own. */
export const language: LanguageTexts = { texts, errors: {} };
