/** What is wrong with the texts of the page: keys, placeholders and error codes of both languages. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path) => readFileSync(join(root, path), "utf8");
const read_json = (path) => JSON.parse(read(path));

function flatten(tree, prefix = "") {
  return Object.entries(tree).flatMap(([key, value]) =>
    typeof value === "string" ? [[prefix + key, value]] : flatten(value, `${prefix}${key}.`),
  );
}

const kTexts = "web/src/i18n";

/** All texts of a language, those of parts that are loaded later (import.en.json) among them. */
const texts_of = (language) =>
  new Map(
    readdirSync(join(root, kTexts))
      .filter((file) => file.endsWith(`${language}.json`) && !file.startsWith("errors."))
      .flatMap((file) => flatten(read_json(`${kTexts}/${file}`))),
  );

const placeholders = (text) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort().join(" ");

function missing(from, other, what) {
  return [...from.keys()]
    .filter((key) => !other.has(key))
    .map((key) => `${what}: ${key} is missing`);
}

/** Both languages have the same keys, with the same placeholders, and no text is empty. */
export function translation_problems() {
  const en = texts_of("en");
  const zh = texts_of("zh-CN");
  const differing = [...en].filter(
    ([key, text]) => zh.has(key) && placeholders(text) !== placeholders(zh.get(key)),
  );
  const empty = [...en, ...zh].filter(([, text]) => text.trim() === "");
  return [
    ...missing(en, zh, "zh-CN"),
    ...missing(zh, en, "en"),
    ...differing.map(([key]) => `${key}: the placeholders differ`),
    ...empty.map(([key]) => `${key} is empty`),
  ];
}

/** Keys that the source names must exist, and keys that nothing names must go. */
export function usage_problems() {
  const en = texts_of("en");
  const source = readdirSync(join(root, "web/src"), { recursive: true })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => read(join("web/src", file)))
    .join("\n");
  const codes = core_error_codes();
  const plain = (key) => key.replace(/_(one|other)$/, "");
  const known = new Set([...en.keys()].flatMap((key) => [key, plain(key)]));
  const named = [...source.matchAll(/"((?:[a-z_]+\.)+[a-z_]+)"/g)]
    .map((match) => match[1])
    .filter((key) => en.has(key) || is_text_key(en, key));
  const is_section = (key) => [...en.keys()].some((known_key) => known_key.startsWith(`${key}.`));
  const unknown = [...new Set(named)].filter(
    (key) => !known.has(key) && !is_section(key) && !codes.has(key),
  );
  // Keys built from a value, such as `verdict.${state}`, count as used by their section.
  const built = [...source.matchAll(/`((?:[a-z_]+\.)+[a-z_]*)\$\{/g)].map((match) => match[1]);
  const sections = [...source.matchAll(/t_core\("([a-z_.]+)"/g)].map((match) => `${match[1]}.`);
  const used = (key) =>
    source.includes(`"${plain(key)}"`) ||
    [...built, ...sections].some((start) => key.startsWith(start));
  return [
    ...unknown.map((key) => `the source names ${key}, which has no text`),
    ...[...en.keys()].filter((key) => !used(key)).map((key) => `${key} is used nowhere`),
  ];
}

function is_text_key(en, key) {
  const section = key.slice(0, key.indexOf(".") + 1);
  return section !== "page." && [...en.keys()].some((known) => known.startsWith(section));
}

/** Rows of the core's table: X(enumerator, "code", severity, "message", "hint"). */
export function core_error_codes() {
  const text = /"((?:[^"\\]|\\.)*)"/.source;
  const row = new RegExp(
    `^X\\(\\w+,\\s*${text},\\s*(?:error|warning),\\s*${text},\\s*${text}\\)`,
    "gm",
  );
  return new Map(
    [...read("core/units/error_codes.def").matchAll(row)].map(([, code, message, hint]) => [
      code,
      { message, hint },
    ]),
  );
}

/** Every code of the core has a Chinese text with the same arguments, and no other code has one. */
export function error_code_problems() {
  const core = core_error_codes();
  const zh = new Map(Object.entries(read_json("web/src/i18n/errors.zh-CN.json")));
  const differing = [...core].filter(([code, texts]) => {
    const translated = zh.get(code);
    return (
      translated &&
      ["message", "hint"].some(
        (part) => placeholders(texts[part]) !== placeholders(translated[part] ?? ""),
      )
    );
  });
  return [
    ...missing(core, zh, "errors.zh-CN.json"),
    ...missing(zh, core, "error_codes.def"),
    ...differing.map(([code]) => `${code}: the placeholders differ`),
    ...(core.size === 0 ? ["error_codes.def was not understood"] : []),
  ];
}
