// The parts of the page below the answer: levers, solved questions, comparison, tables, traffic, speed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assert_clean } from "./axe.mjs";
import { answered, browser_tests, input, open, screenshot, verdict } from "./harness.mjs";

const open_in = browser_tests();

/** The part is loaded when it comes near; `ready` is what it shows once it has an answer. */
async function part(page, id, ready) {
  await page.locator(`[data-part=${id}]`).scrollIntoViewIfNeeded();
  const place = page.locator(`[data-part=${id}]`);
  await place.locator(ready).first().waitFor();
  return place;
}

// The rule of thumb: (weights + cache) x 1.15 + 1 GiB on an 80 GB card is 13.4 GiB short at 64K x 2.
test("a lever that makes it fit is applied with one click", async () => {
  await open(open_in, {}, async (page) => {
    assert.equal(await verdict(page).getAttribute("data-state"), "does_not_fit");
    const levers = await part(page, "levers", "[data-lever]");
    const crossing = levers.locator("[data-lever]:has(.crosses)").first();
    await crossing.getByRole("button").click();
    await page.locator("vg-verdict section:not([data-state=does_not_fit])").waitFor();
  });
});

test("the articles' order: 8 bits in the cache come before a shorter context where both do", async () => {
  await open(open_in, {}, async (page) => {
    const levers = await part(page, "levers", "[data-lever=cache_8_bit]");
    assert.match(await levers.locator("[data-lever=cache_8_bit]").innerText(), /GiB/);
  });
});

// engines.md: 80 GiB at 0.9 with 1 GiB fixed, 70B in ideal 4 bits, 8K each: 15 requests.
test("the most concurrent requests are solved with a proof", async () => {
  const hash =
    "#v=1&weight_format=4bpw&gpu=custom&gpu_memory_gib=80&context_tokens=8192&num_requests=1" +
    "&gpu_memory_utilization_frac=0.9&overhead_factor=1&fixed_gib=1";
  await open(open_in, { hash }, async (page) => {
    const inverse = await part(page, "inverse", "[data-target=num_requests]");
    const row = inverse.locator("[data-target=num_requests]");
    assert.equal((await row.locator(".value").innerText()).trim(), "15");
    assert.match(await row.locator(".proof").innerText(), /16: .*short/);
  });
});

test("two scenarios stand side by side, and only what differs is listed", async () => {
  await open(open_in, {}, async (page) => {
    const compare = await part(page, "compare", "button");
    await compare.getByRole("button").click();
    await input(page, "context_tokens").fill("8K");
    await page.waitForURL(/context_tokens=8192/);
    await compare.locator("[data-row=context_tokens]").waitFor();
    assert.deepEqual(
      await compare.locator(".fields [data-row]").evaluateAll((rows) => rows.map((row) => row.dataset.row)),
      ["context_tokens"],
    );
    await screenshot(page, "compare", { fullPage: true });
  });
});

test("a GPU of the table is taken over", async () => {
  await open(open_in, {}, async (page) => {
    const finder = await part(page, "finder", "tbody [data-id]");
    const row = finder.locator("tbody [data-id]").first();
    const id = await row.getAttribute("data-id");
    await row.getByRole("button").click();
    await page.waitForURL(new RegExp(`gpu=${id}`));
    await answered(page);
    assert.notEqual(await verdict(page).getAttribute("data-state"), "does_not_fit");
  });
});

test("all models of the catalogue are looked at", async () => {
  await open(open_in, {}, async (page) => {
    const finder = await part(page, "finder", "tbody [data-id]");
    await finder.getByRole("radio", { name: "Models" }).check();
    await finder.locator('tbody [data-id*="/"]').first().waitFor();
    assert.ok((await finder.locator("tbody [data-id]").count()) > 5);
  });
});

test("more requests per second need more replicas", async () => {
  await open(open_in, { hash: "#v=1&context_tokens=20K&num_requests=1" }, async (page) => {
    const traffic = await part(page, "traffic", "[data-row=mean] .replicas");
    const replicas = async () => Number(await traffic.locator("[data-row=mean] .replicas").innerText());
    const before = await replicas();
    await traffic.getByLabel("Requests per second").fill("200");
    await traffic
      .locator("[data-row=mean] .replicas")
      .filter({ hasNotText: new RegExp(`^${before}$`) })
      .waitFor();
    assert.ok((await replicas()) > before);
  });
});

for (const [locale, colorScheme, width] of [
  ["en-US", "light", 1320],
  ["zh-CN", "dark", 390],
]) {
  test(`every part in ${locale}, ${colorScheme}, ${width} px`, async () => {
    const options = { locale, colorScheme, viewport: { width, height: 900 } };
    await open(open_in, options, async (page) => {
      await part(page, "levers", "[data-lever]");
      await part(page, "inverse", "[data-target]");
      await part(page, "finder", "tbody [data-id]");
      await part(page, "traffic", "[data-row=mean]");
      await part(page, "speed", "[data-figure]");
      await part(page, "run", "[data-program], .lead");
      await part(page, "check", "textarea");
      await assert_clean(page, "every part");
      const { scroll, client } = await page.evaluate(() => ({
        scroll: document.documentElement.scrollWidth,
        client: document.documentElement.clientWidth,
      }));
      assert.ok(scroll <= client, "nothing scrolls sideways");
      await screenshot(page, `parts-${width}`, { fullPage: true });
    });
  });
}
