/** The page shows what the module answers in Node, byte for byte: the golden cases and the thirty scenarios. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { scenarios } from "../parity/scenarios.mjs";
import { bundle_catalogue, new_session } from "../wasm/shipped_module.mjs";
import { browser_tests, open, table_bytes, verdict } from "./harness.mjs";

const open_in = browser_tests();
const session = await new_session(bundle_catalogue());
const kGolden = new URL("../golden/cases/", import.meta.url);

const golden = readdirSync(kGolden)
  .map((file) => JSON.parse(readFileSync(new URL(file, kGolden), "utf8")))
  .filter(({ request }) => request.method === "estimate");

/** Opens a scenario by its link in a page that is already there. */
async function show(page, fragment) {
  await page.evaluate((hash) => (location.hash = hash), fragment);
  await page.waitForFunction((wanted) => {
    const { store } = document.querySelector("vg-app");
    return !store.loading && store.link().endsWith(`#${wanted}`);
  }, fragment);
}

/** What is refused is refused by the page for the same reason, and the answer that it still shows is marked as old. */
async function assert_refused(page, errors) {
  const shown = await page.evaluate(() => {
    const { errors, stale } = document.querySelector("vg-app").store;
    return { stale, errors: errors.map(({ code, path }) => ({ code, path })) };
  });
  assert.deepEqual(shown, { stale: true, errors: errors.map(({ code, path }) => ({ code, path })) });
}

async function assert_shown(page, scenario) {
  const { fragment } = session.call("link_encode", { scenario }).result;
  const { ok, result, errors } = session.call("estimate", { scenario });
  await show(page, fragment);
  if (!ok) return assert_refused(page, errors);
  const device = result.devices[result.verdict.worst_device];
  const expected = Object.fromEntries([
    ...device.terms.map(({ id, bytes }) => [id, bytes]),
    ["total", device.total.bytes],
  ]);
  assert.deepEqual(await table_bytes(page), expected);
  assert.equal(await verdict(page).getAttribute("data-state"), result.verdict.state);
  const count = (value) =>
    value === null ? "no limit" : value === 0 ? "none" : value.toLocaleString("en-US");
  for (const id of ["max_requests", "max_context_tokens", "max_cached_tokens"])
    assert.equal(
      await page.locator(`[data-answer=${id}] dd`).first().innerText(),
      count(result.answers[id]),
      id,
    );
}

test("golden cases through the page", async (context) => {
  await open(open_in, {}, async (page) => {
    for (const { name, request } of golden)
      await context.test(name, () => assert_shown(page, request.params.scenario));
  });
});

test("thirty scenarios through the page", async (context) => {
  await open(open_in, {}, async (page) => {
    for (const scenario of scenarios)
      await context.test(`${scenario.model} ${scenario.context_tokens ?? "default"}`, () =>
        assert_shown(page, scenario),
      );
  });
});
