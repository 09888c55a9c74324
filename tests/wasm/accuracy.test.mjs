// The accuracy tables of the READMEs are what the program measures today.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { documents, measured, read_document, with_tables } from "../tools/accuracy_docs.mjs";
import { native_dir } from "./shipped_module.mjs";

test("the tables in the READMEs are the output of vramgauge accuracy", () => {
  const files = measured(path.join(native_dir, "core/tools/vramgauge"));
  for (const document of documents) {
    const text = read_document(document.file);
    assert.equal(
      text,
      with_tables(text, files, document),
      "node tests/tools/accuracy_docs.mjs build/dev/core/tools/vramgauge writes it anew",
    );
  }
});
