import assert from "node:assert/strict";
import { test } from "node:test";
import {
  core_error_codes,
  error_code_problems,
  translation_problems,
  usage_problems,
} from "../../web/scripts/strings.mjs";
import { browser_tests, open } from "./harness.mjs";

const open_in = browser_tests();

test("both languages have every text, with the same placeholders", () =>
  assert.deepEqual(translation_problems(), []));
test("every text is used, and every used text exists", () =>
  assert.deepEqual(usage_problems(), []));
test("every error code of the core has a Chinese text with its arguments", () =>
  assert.deepEqual(error_code_problems(), []));

test("the shipped core has exactly the codes of the table", async () => {
  await open(open_in, {}, async (page) => {
    const codes = await page
      .locator("vg-app")
      .evaluate((app) => app.store.form.error_codes.map(({ code }) => code));
    assert.deepEqual(codes.sort(), [...core_error_codes().keys()].sort());
  });
});

test("every field and term of the core has a name in the page", async () => {
  await open(open_in, {}, async (page) => {
    await page.locator("vg-inputs .advanced > summary").click();
    const labels = await page
      .locator("[data-key] label, vg-breakdown-table .opener")
      .allInnerTexts();
    assert.ok(labels.length > 15);
    assert.deepEqual(
      labels.filter((label) => /_|\./.test(label)),
      [],
    );
  });
});
