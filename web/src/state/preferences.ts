import type { ByteUnit } from "../format/format";

/** What the visitor chose for the page itself; kept in this browser only, never part of a link. */
export interface Preferences {
  language: Language | null;
  theme: Theme;
  unit: ByteUnit;
}

export type Language = "en" | "zh-CN";
export type Theme = "system" | "light" | "dark";

export const kThemes: readonly Theme[] = ["system", "light", "dark"];
const kPrefix = "vramgauge.";

export function read_preferences(): Preferences {
  return {
    language: one_of(["en", "zh-CN"] as const, read("language")),
    theme: one_of(kThemes, read("theme")) ?? "system",
    unit: one_of(["GiB", "GB"] as const, read("unit")) ?? "GiB",
  };
}

/** What the address asks for, for this visit only: `?embed&lang=zh-CN&theme=dark`. */
export function read_address_choices(): { embedded: boolean; choices: Partial<Preferences> } {
  const query = new URLSearchParams(location.search);
  const language = language_of(query.get("lang"));
  const theme = theme_of(query.get("theme"));
  return {
    embedded: query.has("embed"),
    choices: { ...(language && { language }), ...(theme && { theme }) },
  };
}

/** The language of a tag such as "zh", "zh-CN" or "en-GB"; null where it is none of ours. */
export function language_of(tag: string | null): Language | null {
  const [primary] = (tag ?? "").toLowerCase().split("-");
  return primary === "zh" ? "zh-CN" : primary === "en" ? "en" : null;
}

/** "auto" is another word for the system's theme. */
export function theme_of(word: string | null): Theme | null {
  return one_of(kThemes, word === "auto" ? "system" : word);
}

export function write_preference(name: keyof Preferences, value: string): void {
  try {
    localStorage.setItem(kPrefix + name, value);
  } catch {
    // Storage may be switched off; the choice then lasts as long as the page.
  }
}

/** The language to start in: the visitor's choice, else the browser's. */
export function initial_language(chosen: Language | null): Language {
  const own = navigator.languages.map(language_of).find((language) => language !== null);
  return chosen ?? own ?? "en";
}

/** What a theme comes to in the system as it is now. */
export function resolved_theme(theme: Theme): "light" | "dark" {
  if (theme !== "system") return theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function apply_theme(theme: Theme): void {
  document.documentElement.dataset["theme"] = resolved_theme(theme);
}

function read(name: string): string | null {
  try {
    return localStorage.getItem(kPrefix + name);
  } catch {
    return null;
  }
}

function one_of<T extends string>(allowed: readonly T[], value: string | null): T | null {
  return allowed.find((candidate) => candidate === value) ?? null;
}
