/** The charts below the answer: drawn when they come near, in words too, and the map sets the point. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { test } from "node:test";
import { assert_clean } from "./axe.mjs";
import { answered, browser_tests, input, kSingleFile, open, screenshot, verdict } from "./harness.mjs";

const open_in = browser_tests();

/** Each is drawn when it comes near the view. */
async function draw(page) {
  await page.locator("[data-part=charts]").scrollIntoViewIfNeeded();
  for (const chart of ["attention-kinds", "context-chart", "heat-map"]) {
    await page.locator(`vg-${chart}`).scrollIntoViewIfNeeded();
    await page.locator(`vg-${chart} .place > svg`).waitFor();
  }
}

const map = (page) => page.locator("vg-heat-map .place > svg");
const label = (page, name) => page.locator(`vg-${name} .place > svg`).getAttribute("aria-label");
/** A cell of the map by its title; titles are whole sentences. */
const cell = (page, start) => map(page).locator("rect", { hasText: start }).first();

test("nothing of the charts is loaded before they come near", async () => {
  const scripts = [];
  const prepare = (page) => page.on("request", (request) => scripts.push(request.url()));
  await open(open_in, { prepare, viewport: { width: 390, height: 600 } }, async (page) => {
    assert.ok(!scripts.some((url) => /charts/.test(url)));
    await draw(page);
    assert.ok(scripts.some((url) => /charts/.test(url)));
  });
});

test("memory against context says the same in words, and follows the inputs", async () => {
  await open(open_in, {}, async (page) => {
    await draw(page);
    const longest = await page.locator("[data-answer=max_context_tokens] dd").first().innerText();
    const words = await label(page, "context-chart");
    assert.match(words, /to [\d.]+\sGiB at 128K/);
    assert.ok(words.includes(`exceeded beyond ${longest} tokens`), words);
    const axis = page.locator("vg-context-chart [data-mark='y-axis tick label']");
    assert.match(await axis.textContent(), /100/);
    await page.getByRole("radio", { name: "GB", exact: true }).check();
    // The switch is at the top of the page, where the chart is out of view.
    await page.locator("vg-context-chart").scrollIntoViewIfNeeded();
    await page.locator('vg-context-chart svg[aria-label*="GB at 128K"]').waitFor();
    assert.match(await label(page, "context-chart"), /to [\d.]+\sGB at 128K/);
  });
});

test("a click in the map sets context and requests, and the verdict agrees with the cell", async () => {
  await open(open_in, {}, async (page) => {
    await draw(page);
    for (const [context, requests] of [
      ["8K", "1"],
      ["128K", "8"],
      ["4K", "16"],
    ]) {
      const chosen = cell(page, `${context} × ${requests}:`);
      const title = await chosen.locator("title").textContent();
      await chosen.click();
      await answered(page);
      assert.equal(await input(page, "context_tokens").inputValue(), context);
      assert.equal(await input(page, "num_requests").inputValue(), requests);
      const state = await verdict(page).getAttribute("data-state");
      const [, said, needed] = /: ([^,]+), ([\d.]+)/.exec(title);
      assert.equal(said.replaceAll(" ", "_"), state);
      assert.match(await verdict(page).locator("p").innerText(), new RegExp(`Needs ${needed}\\s`));
    }
  });
});

test("the map works by keyboard and keeps the focus", async () => {
  await open(open_in, { hash: "#v=1&context_tokens=8192&num_requests=4" }, async (page) => {
    await draw(page);
    assert.equal(await page.evaluate(() => document.activeElement.localName), "body");
    await map(page).focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => location.hash.includes("context_tokens=12288"));
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(() => location.hash.includes("num_requests=3"));
    await assert_clean(page, "charts");
  });
});

for (const [name, options] of [
  ["wide-dark-zh", { colorScheme: "dark", locale: "zh-CN" }],
  ["phone", { viewport: { width: 320, height: 640 } }],
  ["forced", { forcedColors: "active" }],
]) {
  test(`charts: ${name}`, async () => {
    await open(open_in, options, async (page) => {
      await draw(page);
      const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(sideways <= 0);
      await assert_clean(page, name);
      await screenshot(page, `charts-${name}`);
    });
  });
}

test("kinds of attention: what each would cost this model, by hand", async () => {
  await open(open_in, {}, async (page) => {
    await draw(page);
    const words = (await label(page, "attention-kinds")).replaceAll("\u00a0", " ");
    // 80 layers, 64 heads of 128, 2 bytes, 65,536 tokens of 2 requests: 2 x heads x 128 x 2 B a layer and token;
    // MLA keeps 4 x 128 + 64 values. In GiB: 320, 40 with 8 heads, 5 with one, and 11.25.
    assert.equal(
      words,
      "MHA 320.0 GiB, GQA, 8 KV heads 40.0 GiB, MQA 5.0 GiB, MLA 11.3 GiB. This model: GQA, 8 KV heads.",
    );
  });
});

test("a chart is saved as a picture, also from the one-file page", async () => {
  const address = pathToFileURL(kSingleFile).href;
  await open(open_in, { address, offline: true }, async (page) => {
    await draw(page);
    for (const [chart, mark] of [
      ["context-chart", /<path/],
      ["heat-map", /<rect/],
    ]) {
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.locator(`vg-${chart} [data-save=svg]`).click(),
      ]);
      const text = readFileSync(await file.path(), "utf8");
      assert.match(text, mark);
      assert.doesNotMatch(text, /var\(|class=/);
      assert.match(text, /Llama 3\.3 70B/);
    }
  });
});
