import assert from "node:assert/strict";
import { test } from "node:test";
import { answered, browser_tests, input, open, verdict } from "./harness.mjs";

const open_in = browser_tests();

/** The chain of what has the focus, down through the components. */
const focused = (page) =>
  page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    const host = element?.getRootNode().host;
    return host?.dataset?.key ?? host?.localName ?? element?.localName;
  });

async function tab_until(page, name, limit = 40) {
  for (let count = 0; count < limit; ++count) {
    await page.keyboard.press("Tab");
    if ((await focused(page)) === name) return;
  }
  assert.fail(`${name} was not reached`);
}

test("focus goes through the page in reading order", async () => {
  await open(open_in, {}, async (page) => {
    for (const name of [
      "vg-segmented",
      "vg-share",
      "model",
      "vg-import-panel",
      "weight_format",
      "gpu",
      "gpu_count",
      "engine",
      "cache_type_k",
      "cache_type_v",
      "context_tokens",
      "num_requests",
      "shared_prefix_tokens",
      "vg-inputs",
      "vg-breakdown-table",
    ])
      await tab_until(page, name, 5);
  });
});

test("another model and GPU are found and chosen by keyboard alone", async () => {
  await open(open_in, {}, async (page) => {
    await tab_until(page, "model");
    await page.keyboard.type("llama 3.1 8b");
    assert.equal(await input(page, "model").getAttribute("aria-expanded"), "true");
    const active = await input(page, "model").getAttribute("aria-activedescendant");
    assert.match(await page.locator(`[data-key=model] #${active}`).innerText(), /Llama 3\.1 8B/);
    await page.keyboard.press("Enter");
    assert.equal(await input(page, "model").getAttribute("aria-expanded"), "false");
    await answered(page);
    assert.match(await input(page, "model").inputValue(), /Llama 3\.1 8B/);
    assert.equal(await verdict(page).getAttribute("data-state"), "fits");
    await tab_until(page, "gpu", 8);
    await page.keyboard.type("4090");
    await page.keyboard.press("Enter");
    assert.match(await input(page, "gpu").inputValue(), /4090/);
  });
});

test("Escape leaves the list and the choice as they were", async () => {
  await open(open_in, {}, async (page) => {
    await tab_until(page, "model");
    const name = await input(page, "model").inputValue();
    await page.keyboard.type("qwen");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Escape");
    assert.equal(await input(page, "model").inputValue(), name);
    assert.equal(await page.locator("[data-key=model] .popup").isVisible(), false);
    assert.equal(await input(page, "model").inputValue(), name);
  });
});

test("rows of the table open with Enter", async () => {
  await open(open_in, {}, async (page) => {
    await tab_until(page, "vg-breakdown-table");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("#detail-weights").isVisible(), true);
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("#detail-weights").isVisible(), false);
  });
});

test("a search without a match says so", async () => {
  await open(open_in, {}, async (page) => {
    await input(page, "model").click();
    await input(page, "model").fill("no such model 999");
    assert.match(await page.locator("[data-key=model] .count").innerText(), /Nothing matches/);
  });
});
