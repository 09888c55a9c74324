import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { answered, browser_tests, input, open, table_bytes, verdict } from "./harness.mjs";

const open_in = browser_tests();
const frozen = JSON.parse(readFileSync(new URL("frozen_links.json", import.meta.url)));

const hash_holds = (page, part) =>
  page.waitForFunction((text) => location.hash.includes(text), part);

test("the address bar holds the scenario, and opens it again", async () => {
  await open(open_in, {}, async (page) => {
    await input(page, "context_tokens").fill("8k");
    await input(page, "gpu_count").fill("2");
    await page.locator("[data-key=cache_type_k] select").selectOption("q8_0");
    await hash_holds(page, "q8_0");
    assert.match(page.url(), /#v=1&/);
    assert.match(page.url(), /context_tokens=8192/);
    const bytes = await table_bytes(page);
    await page.reload();
    await answered(page);
    assert.deepEqual(await table_bytes(page), bytes);
    assert.equal(await input(page, "context_tokens").inputValue(), "8K");
  });
});

test("typing leaves no trail in the history; other links do", async () => {
  await open(open_in, { hash: "#v=1&num_requests=3" }, async (page) => {
    const first = await table_bytes(page);
    await input(page, "context_tokens").fill("4k");
    await hash_holds(page, "4096");
    await page.evaluate(() => (location.hash = "#v=1&num_requests=7"));
    await page.waitForFunction(() => location.hash.endsWith("num_requests=7"));
    assert.equal(await input(page, "num_requests").inputValue(), "7");
    await page.goBack();
    await hash_holds(page, "4096");
    assert.equal(await input(page, "num_requests").inputValue(), "3");
    assert.equal((await table_bytes(page)).kv_cache * 16, first.kv_cache);
  });
});

test("links written once keep their meaning", async (context) => {
  for (const { link, expect } of frozen) {
    await context.test(link, async () => {
      await open(open_in, { hash: `#${link}` }, async (page) => {
        const bytes = await table_bytes(page);
        for (const [term, value] of Object.entries(expect.bytes))
          assert.equal(bytes[term], value, term);
        assert.equal(await verdict(page).getAttribute("data-state"), expect.verdict);
        assert.equal(await page.locator("[data-notice=link]").count(), 0);
      });
    });
  }
});

test("a link that is half understood says which half, and is not overwritten", async () => {
  await open(open_in, { hash: "#v=1&num_requests=3&colour=blue" }, async (page) => {
    const notice = page.locator("[data-notice=link]");
    assert.match(await notice.innerText(), /colour/);
    assert.equal(await input(page, "num_requests").inputValue(), "3");
    await page.waitForTimeout(400);
    assert.match(page.url(), /colour=blue/);
    await notice.getByRole("button").click();
    assert.equal(await notice.count(), 0);
  });
});

test("a value that is not understood is named, and the rest is used", async () => {
  await open(open_in, { hash: "#v=1&num_requests=lots&context_tokens=4096" }, async (page) => {
    assert.match(await page.locator("[data-notice=link]").innerText(), /lots/);
    assert.equal(await input(page, "num_requests").inputValue(), "2");
    assert.equal(await input(page, "context_tokens").inputValue(), "4K");
  });
});

test("Copy link gives the address of the scenario", async () => {
  await open(open_in, { permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    await input(page, "num_requests").fill("9");
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByText("Copied").first().waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(copied, /^http:\/\/127\.0\.0\.1:\d+\/#v=1&num_requests=9$/);
  });
});
