import assert from "node:assert/strict";
import { test } from "node:test";
import { answered, browser_tests, input, make_trappable, open, table_bytes } from "./harness.mjs";

const open_in = browser_tests();

test("after a trap the page says so with the link to report, and goes on", async () => {
  await open(open_in, { prepare: make_trappable }, async (page) => {
    // In one step: other parts of the page call the module by themselves.
    await input(page, "num_requests").evaluate((field) => {
      window.trap_next = true;
      field.value = "5";
      field.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true }));
    });
    const notice = page.locator("[data-notice=crash]");
    await notice.waitFor();
    await page.waitForFunction(() => location.hash.includes("num_requests=5"));
    assert.match(await notice.locator("input").inputValue(), /#v=1&num_requests=5$/);
    await input(page, "num_requests").fill("4");
    await answered(page);
    assert.equal(await notice.count(), 0);
    assert.ok((await table_bytes(page)).kv_cache > 0);
  });
});

test("facts that cannot be fetched are an error beside the model, and can be asked for again", async () => {
  await open(open_in, { allow: /request failed|Failed to load resource/ }, async (page) => {
    await page.route("**/models/**", (route) => route.abort());
    await input(page, "model").click();
    await input(page, "model").fill("qwen3-30b-a3b");
    await page.keyboard.press("Enter");
    await page.locator("[data-key=model] .finding").getByText("could not be loaded").waitFor();
    await page.unroute("**/models/**");
    await input(page, "context_tokens").fill("4k");
    await answered(page);
  });
});
