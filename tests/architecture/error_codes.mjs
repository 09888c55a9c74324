// The error code table, read from its one source.
import { read_text } from "./source_tree.mjs";

export const table_file = "core/units/error_codes.def";

const string = String.raw`"((?:\\.|[^"\\])*)"`;
const row = new RegExp(
  String.raw`^X\(\s*(\w+)\s*,\s*${string}\s*,\s*(\w+)\s*,\s*${string}\s*,\s*${string}\s*\)`,
  "gm",
);

/** Rows of the table: enumerator, code, severity, template, hint. */
export function error_codes() {
  const text = read_text(table_file).replace(/"\s*\n\s*"/g, "");
  return [...text.matchAll(row)].map(([, enumerator, code, severity, template, hint]) => ({
    enumerator,
    code,
    severity,
    template: unescape_literal(template),
    hint: unescape_literal(hint),
  }));
}

/** How many rows the file has by a plain count, so that a row the pattern misses is noticed. */
export function row_count() {
  return read_text(table_file).match(/^X\(/gm)?.length ?? 0;
}

/** Names of the arguments in a template: "{key} is {value}" -> key, value. */
export function arguments_of(template) {
  return [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
}

function unescape_literal(text) {
  return text.replace(/\\(["\\])/g, "$1");
}
