// Every error code is well formed, used, documented and translated.
import assert from "node:assert/strict";
import { test } from "node:test";
import { docs_file, error_docs } from "../tools/error_docs.mjs";
import { arguments_of, error_codes, row_count, table_file } from "./error_codes.mjs";
import { is_cpp, project_files, read_text } from "./source_tree.mjs";

const rows = error_codes();
/** English is the table itself. */
const chinese_file = "web/src/i18n/errors.zh-CN.json";

test("the table is read whole", () => {
  assert.ok(rows.length > 0);
  assert.equal(rows.length, row_count());
});

test("codes are unique and stable in form, and their texts are sentences", () => {
  const codes = rows.map(({ code }) => code);
  assert.equal(new Set(codes).size, codes.length);
  for (const { code, severity, template, hint } of rows) {
    assert.match(code, /^[a-z_]+\.[a-z0-9_]+$/);
    assert.match(severity, /^(error|warning)$/);
    assert.match(template, /^[A-Za-z{].*[.?]$/, `${code}: the message`);
    assert.match(hint, /^[A-Z{].*[.?]$/, `${code}: the hint`);
  }
});

/** What no input may cause: the tests of bad input look for it. */
const never_raised = new Set(["api.internal"]);

test("every code is raised somewhere", () => {
  const text = project_files()
    .filter((name) => is_cpp(name) && name.startsWith("core/") && name !== table_file)
    .map(read_text)
    .join("\n");
  const unused = rows.filter(({ enumerator }) => !new RegExp(`\\b${enumerator}\\b`).test(text));
  assert.deepEqual(new Set(unused.map(({ code }) => code)), never_raised);
});

test(`${docs_file} is what the table says`, () => {
  assert.equal(read_text(docs_file), error_docs(), "run: node tests/tools/error_docs.mjs");
});

test("every code is translated into Chinese, with no argument of its own", () => {
  const translations = JSON.parse(read_text(chinese_file));
  const wrong = [];
  for (const { code, template, hint } of rows) {
    for (const [part, english] of [["message", template], ["hint", hint]]) {
      const text = translations[code]?.[part];
      if (typeof text !== "string" || !/\p{Script=Han}/u.test(text)) wrong.push(`${code}: no ${part}`);
      else if (!only_known_arguments(text, english)) wrong.push(`${code}: other arguments in the ${part}`);
    }
  }
  const known = new Set(rows.map(({ code }) => code));
  wrong.push(...Object.keys(translations).filter((code) => !known.has(code)).map((code) => `${code}: no such code`));
  assert.deepEqual(wrong, []);
});

/** A sentence may read better without an argument; one that does not exist would be shown as braces. */
function only_known_arguments(translated, english) {
  const known = new Set(arguments_of(english));
  return arguments_of(translated).every((name) => known.has(name));
}
