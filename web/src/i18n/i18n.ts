import i18next from "i18next";
import type { Diag, JsonValue } from "../core/types";
import type { Language } from "../state/preferences";
import type { FindingTexts, LanguageTexts } from "./language";

const kLanguages: Record<Language, () => Promise<{ language: LanguageTexts }>> = {
  en: () => import("./language_en"),
  "zh-CN": () => import("./language_zh_cn"),
};
type ErrorTexts = Record<string, FindingTexts>;

/** By error code of the core, whose own texts are English; loaded with the first finding. */
const kErrorTexts: Record<Language, () => Promise<ErrorTexts>> = {
  en: () => Promise.resolve({}),
  "zh-CN": async () => (await import("./errors.zh-CN.json")).default,
};
/** Texts of parts of the page that are loaded later. */
export type LaterTexts = Record<Language, () => Promise<{ default: object }>>;

const later_texts: LaterTexts[] = [];
/** Texts as they are written, by language and key, in the plural that was asked for: they are asked for on every key. */
const templates = new Map<string, string>();
const plurals = new Map<Language, Intl.PluralRules>();
let active_language: Language = "en";
const english_errors: ErrorTexts = {};
const translated_errors = new Map<Language, ErrorTexts>();
const loaded_languages = new Set<Language>();
let has_findings = false;

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
  if (loaded_languages.has(language)) return;
  const { language: texts } = await kLanguages[language]();
  i18next.addResourceBundle(language, "translation", texts);
  templates.clear();
  loaded_languages.add(language);
  await Promise.all(later_texts.map((later) => load_texts(later, language)));
  if (has_findings) await load_error_texts();
}

/** Whether findings can be told in the language in use. */
export const has_error_texts = (): boolean =>
  active_language === "en" || translated_errors.has(active_language);

/** Fetches the texts of findings, now in the languages in use and later in others. */
export async function load_error_texts(): Promise<void> {
  has_findings = true;
  const missing = [...loaded_languages].filter((language) => !translated_errors.has(language));
  await Promise.all(
    missing.map(async (language) => translated_errors.set(language, await kErrorTexts[language]())),
  );
}

/** The language of every text asked for from now on; its texts must be loaded. */
export function use_language(language: Language): void {
  active_language = language;
}

/** Adds the texts of a part of the page, now in the languages in use and later in others; it may have findings. */
export async function add_texts(texts: LaterTexts): Promise<void> {
  if (!later_texts.includes(texts)) later_texts.push(texts);
  const added = [...loaded_languages].map((language) => load_texts(texts, language));
  await Promise.all([load_error_texts(), ...added]);
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
    translated_errors.get(active_language)?.[diag.code] ?? english_errors[diag.code] ?? diag;
  const text = (source: string): string => fill(by_name(diag) ? with_names(source) : source, args);
  return { message: text(texts.message), hint: text(texts.hint) };
}

/** A link is read and corrected by its own keys, everything else by the names on the page. */
const by_name = (diag: Diag): boolean => !diag.code.startsWith("link.");

/** Fields that a text names by their keys go by their names. */
const with_names = (text: string): string =>
  text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) =>
    has_text(`fields.${word}`) ? t("app.field_name", { name: t(`fields.${word}`) }) : word,
  );

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
  const named = by_name(diag);
  return Object.fromEntries(
    Object.entries(diag.args).map(([name, value]) => [name, arg_text(name, value, named)]),
  );
}

/** Fields go by their name on the page, types by the language's, counts by its grouping. */
function arg_text(name: string, value: JsonValue, named: boolean): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (name === "key" && named) return t_core("fields", text);
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
