// Every error code is well formed, used, documented and translated.
import assert from "node:assert/strict";
import { test } from "node:test";
import { docs_file, error_docs } from "../tools/error_docs.mjs";
import { arguments_of, error_codes, row_count, table_file } from "./error_codes.mjs";
import { is_cpp, project_files, read_text } from "./source_tree.mjs";

const rows = error_codes();
const languages = ["en", "zh-CN"];

test("the table is read whole", () => {
  assert.ok(rows.length > 0);
  assert.equal(rows.length, row_count());
});

test("codes are unique, stable in form and named like their enumerator", () => {
  const codes = rows.map(({ code }) => code);
  assert.equal(new Set(codes).size, codes.length);
  for (const { code, enumerator, severity, template, hint } of rows) {
    assert.match(code, /^[a-z_]+\.[a-z0-9_]+$/);
    assert.equal(enumerator, code.replace(".", "_"));
    assert.match(severity, /^(error|warning)$/);
    assert.match(template, /[.?]$/, `${code}: the message is a sentence`);
    assert.match(hint, /[.?]$/, `${code}: the hint is a sentence`);
  }
});

test("every code is raised somewhere", () => {
  const text = project_files()
    .filter((name) => is_cpp(name) && name.startsWith("core/") && name !== table_file)
    .map(read_text)
    .join("\n");
  const unused = rows.filter(({ enumerator }) => !new RegExp(`\\b${enumerator}\\b`).test(text));
  assert.deepEqual(unused.map(({ code }) => code), []);
});

test(`${docs_file} is what the table says`, () => {
  assert.equal(read_text(docs_file), error_docs(), "run: node tests/tools/error_docs.mjs");
});

for (const language of languages) {
  test(`every code is translated in ${language}, with the same arguments`, () => {
    const translations = translations_of(language);
    const wrong = [];
    for (const { code, template, hint } of rows) {
      for (const [part, english] of [["message", template], ["hint", hint]]) {
        const text = translations.get(`${code}.${part}`);
        if (text === undefined || text === "") {
          wrong.push(`${code}.${part}: missing`);
          continue;
        }
        const extra = arguments_in_translation(text).filter((name) => !arguments_of(english).includes(name));
        if (extra.length > 0) wrong.push(`${code}.${part}: unknown argument ${extra}`);
      }
    }
    assert.deepEqual(wrong, []);
  });
}
