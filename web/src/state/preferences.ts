import type { ByteUnit } from "../format/format";

/** What the visitor chose for the page itself; kept in this browser only, never part of a link. */
export interface Preferences {
  language: Language | null;
  theme: Theme;
  unit: ByteUnit;
}

export type Language = "en" | "zh-CN";
export type Theme = "system" | "light" | "dark";

const kPrefix = "vramgauge.";

export function read_preferences(): Preferences {
  return {
    language: one_of(["en", "zh-CN"] as const, read("language")),
    theme: one_of(["system", "light", "dark"] as const, read("theme")) ?? "system",
    unit: one_of(["GiB", "GB"] as const, read("unit")) ?? "GiB",
  };
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
  if (chosen) return chosen;
  const first = navigator.languages.find((tag) => /^(en|zh)\b/i.test(tag)) ?? "en";
  return first.toLowerCase().startsWith("zh") ? "zh-CN" : "en";
}

export function apply_theme(theme: Theme): void {
  const dark =
    theme === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
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
