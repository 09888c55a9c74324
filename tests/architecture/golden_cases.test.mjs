// A golden case says what it is, why its numbers are right and where they come from.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { project_files, read_text } from "./source_tree.mjs";

const case_files = project_files().filter((name) => /^tests\/golden\/cases\/.*\.json$/.test(name));

test("there are golden cases", () => {
  assert.ok(case_files.length > 0);
});

test("every golden case is named like its file and has a derivation and a source", () => {
  const wrong = [];
  for (const file of case_files) {
    const golden = JSON.parse(read_text(file));
    if (golden.name !== path.basename(file, ".json")) wrong.push(`${file}: name`);
    for (const key of ["why", "source"]) {
      if (typeof golden[key] !== "string" || golden[key].trim().length < 10) wrong.push(`${file}: ${key}`);
    }
    if (golden.request === undefined || golden.response === undefined) wrong.push(`${file}: request and response`);
  }
  assert.deepEqual(wrong, []);
});
