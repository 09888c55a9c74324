import texts from "./en.json";
import type { LanguageTexts } from "./language";

export const language: LanguageTexts = texts;
