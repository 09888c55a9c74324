import i18next from "i18next";
import type { Diag, JsonValue } from "../core/types";
import type { Language } from "../state/preferences";
import type { FindingTexts, LanguageTexts } from "./language";

const kLanguages: Record<Language, () => Promise<{ language: LanguageTexts }>> = {
  en: () => import("./language_en"),
  "zh-CN": () => import("./language_zh_cn"),
};
/** Texts of parts of the page that are loaded later. */
export type LaterTexts = Record<Language, () => Promise<{ default: object }>>;

const later_texts: LaterTexts[] = [];
/** Texts as they are written, by language and key, in the plural that was asked for: they are asked for on every key. */
const templates = new Map<string, string>();
const plurals = new Map<Language, Intl.PluralRules>();
let active_language: Language = "en";
const english_errors: Record<string, FindingTexts> = {};
const translated_errors: Partial<Record<string, Record<string, FindingTexts>>> = {};

/** Readies the texts of a language; the first one loaded is the active one. */
export async function start_i18n(language: Language): Promise<void> {
  if (!i18next.isInitialized)
    await i18next.init({
      lng: language,
      fallbackLng: false,
      keySeparator: ".",
      interpolation: { escapeValue: false, prefix: "{", suffix: "}" },
      resources: {},
    });
  await load_language(language);
  active_language = language;
}

/** Fetches the texts of a language, those of the parts that are loaded by now among them. */
export async function load_language(language: Language): Promise<void> {
  if (translated_errors[language]) return;
  const loaded = (await kLanguages[language]()).language;
  i18next.addResourceBundle(language, "translation", loaded.texts);
  templates.clear();
  translated_errors[language] = loaded.errors;
  await Promise.all(later_texts.map((texts) => load_texts(texts, language)));
}

/** The language of every text asked for from now on; its texts must be loaded. */
export function use_language(language: Language): void {
  active_language = language;
}

/** Adds the texts of a part of the page, now in the languages in use and later in others. */
export async function add_texts(texts: LaterTexts): Promise<void> {
  if (!later_texts.includes(texts)) later_texts.push(texts);
  const known = Object.keys(translated_errors) as Language[];
  await Promise.all(known.map((language) => load_texts(texts, language)));
}

async function load_texts(texts: LaterTexts, language: Language): Promise<void> {
  i18next.addResourceBundle(language, "translation", (await texts[language]()).default, true);
  templates.clear();
}

export function current_language(): Language {
  return active_language;
}

export function t(key: string, args?: Record<string, string | number>): string {
  return args ? fill(template(key, args["count"]), args) : template(key);
}

function template(key: string, count?: string | number): string {
  const plural = typeof count === "number" ? plural_rules().select(count) : "";
  const name = `${active_language} ${plural} ${key}`;
  const known = templates.get(name) ?? find_template(key, count);
  templates.set(name, known);
  return known;
}

const find_template = (key: string, count?: string | number): string =>
  i18next.t(key, {
    lng: active_language,
    skipInterpolation: true,
    ...(typeof count === "number" && { count }),
  });

function plural_rules(): Intl.PluralRules {
  const known = plurals.get(active_language) ?? new Intl.PluralRules(active_language);
  plurals.set(active_language, known);
  return known;
}

/** i18next gives the key itself where it has no text. */
const has_text = (key: string): boolean => template(key) !== key;

/** The text of a key that the core made up, or the key itself where no translation exists. */
export function t_core(section: string, key: string): string {
  return has_text(`${section}.${key}`) ? t(`${section}.${key}`) : key;
}

/** Takes the core's own table of English texts. */
export function use_error_texts(rows: readonly (FindingTexts & { code: string })[]): void {
  for (const { code, message, hint } of rows) english_errors[code] = { message, hint };
}

/** A GPU's name; the custom one goes by the page's. */
export function device_name(name: string): string {
  if (name === "host") return t("choices.host");
  return name === "custom" ? t("choices.custom_gpu") : name;
}

/** One sentence for a finding, and its remedy, in the chosen language. */
export function diag_text(diag: Diag): { message: string; hint: string } {
  const args = text_args(diag);
  if (diag.code.startsWith("page."))
    return { message: t(`page_errors.${diag.code.slice(5)}`, args), hint: "" };
  const texts =
    translated_errors[current_language()]?.[diag.code] ?? english_errors[diag.code] ?? diag;
  return { message: fill(texts.message, args), hint: fill(texts.hint, args) };
}

/** A warning in the few words that fit beside a field; the whole of it stands below the answer. */
export function short_text(diag: Diag): string {
  const key = `short_warnings.${diag.code.replace(".", "_")}`;
  return has_text(key) ? t(key, text_args(diag)) : diag_text(diag).message;
}

/** Templates name their arguments as the core's own table does: {key}. */
function fill(text: string, args: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(args[name] ?? placeholder));
}

function text_args(diag: Diag): Record<string, string> {
  // A link is read and corrected by its own keys, everything else by the names on the page.
  const by_name = !diag.code.startsWith("link.");
  return Object.fromEntries(
    Object.entries(diag.args).map(([name, value]) => [name, arg_text(name, value, by_name)]),
  );
}

/** Fields go by their name on the page, types by the language's, counts by its grouping. */
function arg_text(name: string, value: JsonValue, by_name: boolean): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (name === "key" && by_name) return t_core("fields", text);
  if (name === "expected" || name === "found") return t_core("value_types", text);
  return /^\d{4,}$/.test(text) && name !== "text"
    ? new Intl.NumberFormat(active_language).format(Number(text))
    : text;
}

/** The page itself, not a part of another one, goes by the language and its title. */
export function describe_document(): void {
  document.documentElement.lang = active_language;
  document.title = t("app.title");
}
