/** What the share menu hands out: texts, files and pictures, and the snippets for other pages. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { assert_clean } from "./axe.mjs";
import { browser_tests, input, kLlamaTokenBytes, open, screenshot, table_bytes } from "./harness.mjs";

const open_in = browser_tests();
const kClipboard = { permissions: ["clipboard-read", "clipboard-write"] };
const kCacheBytes = kLlamaTokenBytes * 65_536 * 2;

async function open_menu(page) {
  await page.locator("vg-share .more").click();
  await page.locator("vg-share-menu [role=menu]").waitFor();
}

async function download(page, action) {
  await open_menu(page);
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.locator(`vg-share-menu [data-action=${action}]`).click(),
  ]);
  return { name: file.suggestedFilename(), content: readFileSync(await file.path()) };
}

const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

test("CSV holds the terms in exact bytes", async () => {
  await open(open_in, {}, async (page) => {
    const { name, content } = await download(page, "csv");
    assert.equal(name, "vramgauge-llama-3.3-70b-instruct.csv");
    const [head, ...rows] = content.toString().trimEnd().split("\r\n").map((row) => row.split(","));
    assert.deepEqual(head.slice(0, 9), [
      "device",
      "count",
      "first_rank",
      "last_rank",
      "term",
      "bytes",
      "low_bytes",
      "high_bytes",
      "basis",
    ]);
    const bytes = Object.fromEntries(rows.map((row) => [row[4], Number(row[5])]));
    assert.equal(bytes.kv_cache, kCacheBytes);
    for (const [term, value] of Object.entries(await table_bytes(page)))
      assert.equal(bytes[term], value, term);
    assert.ok(bytes.usable <= bytes.capacity);
  });
});

test("JSON holds the scenario, the whole answer and the link", async () => {
  await open(open_in, { hash: "#v=1&gpu_count=2" }, async (page) => {
    const { content } = await download(page, "json");
    const report = JSON.parse(content);
    assert.deepEqual(report.scenario, { gpu_count: 2 });
    assert.match(report.link, /#v=1&gpu_count=2$/);
    assert.equal(report.estimate.devices[0].count, 2);
    assert.equal(report.estimate.scenario.context_tokens, 65_536);
  });
});

test("Markdown holds verdict, table and link, and no markup of a model's name", async () => {
  const config = JSON.stringify({
    model_type: "llama",
    hidden_size: 64,
    intermediate_size: 128,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    vocab_size: 256,
  });
  await open(open_in, kClipboard, async (page) => {
    await open_menu(page);
    await page.locator("vg-share-menu [data-action=markdown]").click();
    await page.locator("vg-share-menu [data-said=copied]").waitFor();
    const text = await clipboard(page);
    assert.match(text, /^\*\*Does not fit: [\d.]+ GiB short\*\*\n/);
    assert.match(text, /\| KV cache \| 40\.00 \| +\| exact \| 42,949,672,960 \|/);
    assert.match(text, /\[Open in vramgauge\]\(http:\/\/127\.0\.0\.1:\d+\/#v=1\)/);
    await page.keyboard.press("Escape");
    await page.locator("vg-import-panel button").first().click();
    await page
      .locator("vg-import-panel #file")
      .setInputFiles({ name: "a|b <img>.json", mimeType: "", buffer: Buffer.from(config) });
    await page.waitForFunction(() => location.hash.includes("model_config"));
    await open_menu(page);
    await page.locator("vg-share-menu [data-action=markdown]").click();
    await page.locator("vg-share-menu [data-said=copied]").waitFor();
    assert.match(await clipboard(page), /a\\|b \\<img/);
  });
});

test("SVG and PNG show the bars with their colours, without a style sheet", async () => {
  await open(open_in, { colorScheme: "dark", locale: "zh-CN" }, async (page) => {
    const svg = (await download(page, "svg")).content.toString();
    assert.match(svg, /^<svg [^>]*viewBox="0 0 920 \d+"/);
    assert.match(svg, /放不下/);
    assert.doesNotMatch(svg, /class=|var\(|<script|<!--/);
    const shown = await page.evaluate((text) => {
      const picture = new DOMParser().parseFromString(text, "image/svg+xml");
      return {
        error: picture.querySelector("parsererror")?.textContent ?? null,
        fills: [...picture.querySelectorAll("svg > svg rect")].map((rect) =>
          rect.getAttribute("fill"),
        ),
      };
    }, svg);
    assert.equal(shown.error, null);
    // The dark theme's colour of the KV cache.
    assert.ok(shown.fills.includes("rgb(240, 169, 74)"), shown.fills.join());
    const png = (await download(page, "png")).content;
    assert.equal(png.subarray(1, 4).toString(), "PNG");
    // Width of the header chunk: 920 units at two pixels each.
    assert.equal(png.readUInt32BE(16), 1840);
  });
});

test("the menu works by keyboard, keeps the focus, and is accessible", async () => {
  await open(open_in, {}, async (page) => {
    const focused = () =>
      page.evaluate(() => {
        let element = document.activeElement;
        while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
        return element?.dataset.action ?? element?.className;
      });
    await page.locator("vg-share .more").focus();
    await page.keyboard.press("Enter");
    await page.locator("vg-share-menu [role=menu]").waitFor();
    await page.waitForFunction(() => document.activeElement !== document.body);
    assert.equal(await focused(), "markdown");
    await page.keyboard.press("ArrowDown");
    assert.equal(await focused(), "json");
    await page.keyboard.press("End");
    assert.equal(await focused(), "png");
    await assert_clean(page, "menu open");
    await screenshot(page, "share-menu");
    await page.keyboard.press("Escape");
    assert.match(await focused(), /more/);
    await open_menu(page);
    await page.mouse.click(600, 500);
    await page.locator("vg-share-menu [role=menu]").waitFor({ state: "hidden" });
  });
});

for (const locale of ["en-US", "zh-CN"]) {
  test(`the dialog shows both snippets: ${locale}`, async () => {
    await open(open_in, { ...kClipboard, locale, hash: "#v=1&gpu_count=2" }, async (page) => {
      await page.locator("vg-share .embed").first().click();
      const dialog = page.locator("vg-embed-dialog dialog");
      await dialog.waitFor();
      await dialog.getByRole("radio").last().check();
      const frame = await dialog.locator("[data-snippet=frame]").innerText();
      const language = locale === "zh-CN" ? "zh-CN" : "en";
      assert.match(
        frame,
        new RegExp(`^<iframe src="http://[^"]*/\\?embed&amp;lang=${language}&amp;theme=dark#v=1&amp;gpu_count=2"`),
      );
      await dialog.locator("[data-copy=element]").click();
      const element = await clipboard(page);
      assert.match(element, /<script type="module" src="http:[^"]*\/vram-gauge\.js"><\/script>/);
      assert.match(element, /<vram-gauge scenario="v=1&amp;gpu_count=2" lang="[^"]+" theme="dark">/);
      await assert_clean(page, "dialog");
      await screenshot(page, `embed-dialog-${language}`);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    });
  });
}

test("on a phone the menu holds everything, and stays on the page", async () => {
  await open(open_in, { viewport: { width: 320, height: 640 } }, async (page) => {
    await open_menu(page);
    const { x, width } = await page.locator("vg-share-menu [role=menu]").boundingBox();
    assert.ok(x >= 0 && x + width <= 320);
    await page.locator("vg-share-menu [data-action=embed]").click();
    const dialog = page.locator("vg-embed-dialog dialog");
    await dialog.waitFor();
    await assert_clean(page, "dialog at 320 px");
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(sideways <= 0);
    await screenshot(page, "embed-dialog-320");
  });
});

test("nothing is handed out that does not belong to the inputs", async () => {
  await open(open_in, {}, async (page) => {
    await input(page, "context_tokens").fill("many");
    await open_menu(page);
    assert.equal(await page.locator("vg-share-menu button:disabled").count(), 6);
  });
});
