import type { LanguageTexts } from "./language";
import texts from "./zh-CN.json";

export const language: LanguageTexts = texts;
