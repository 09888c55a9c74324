/** The answer on other people's pages: in a frame, and as an element, under strict policies. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../web/serve.mjs";
import { assert_clean } from "./axe.mjs";
import { foreign_host } from "./foreign_host.mjs";
import { browser_tests, kLlamaTokenBytes, kSiteDir, open, screenshot } from "./harness.mjs";

const open_in = browser_tests();
const kStrict =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; style-src 'self'; img-src data:";
const kLink = "v=1&gpu_count=2&context_tokens=8192&num_requests=4";
const page_of = (head, body) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A wiki</title><link rel="icon" href="data:,">${head}</head><body><main><h1>Our servers</h1>${body}</main></body></html>`;
const answer = (place) => place.locator("vg-verdict section:not([data-state=none])");

async function on_host(pages, policy, options, use) {
  const host = await foreign_host(pages, policy);
  try {
    await open(open_in, { address: host.address, wait: false, ...options }, use);
  } finally {
    await host.stop();
  }
}

test("?embed shows the verdict, the bar and the chosen inputs, and nothing else", async () => {
  const hash = `?embed&lang=zh-CN&theme=dark#${kLink}`;
  await open(open_in, { hash }, async (page) => {
    assert.equal(await page.locator("vg-header, vg-inputs, vg-breakdown-table").count(), 0);
    assert.match(await answer(page).locator("h2").innerText(), /^放得下/);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    const inputs = await page.locator("vg-gauge dl").innerText();
    for (const part of [/Llama 3\.3 70B/, /H100/, /8K/, /GPU/]) assert.match(inputs, part);
    const link = page.getByRole("link", { name: /vramgauge/ });
    assert.match(await link.getAttribute("href"), /^http:\/\/127[^?]*\/#v=1&gpu_count=2/);
    await assert_clean(page, "embedded");
    await screenshot(page, "embed-zh-dark");
  });
});

for (const [kind, sandbox] of [
  ["a frame", ""],
  ["a sandboxed frame", 'sandbox="allow-scripts"'],
]) {
  test(`${kind} on a foreign page answers and tells its height`, async () => {
    const site = await serve({ root: kSiteDir });
    const frame = `<iframe ${sandbox} title="vramgauge" width="640" height="40" src="${site.address}?embed#${kLink}"></iframe>`;
    const listen =
      'addEventListener("message", ({ data }) => { if (data?.source === "vramgauge") document.querySelector("iframe").height = data.height_px; });';
    const pages = { "/": page_of('<script src="/listen.js"></script>', frame), "/listen.js": listen };
    const policy = `${kStrict}; frame-src ${site.address}`;
    const own = new RegExp(`^request to ${site.address}`);
    try {
      await on_host(pages, policy, { allow: own, viewport: { width: 720, height: 480 } }, async (page) => {
        const inside = page.frameLocator("iframe");
        await answer(inside).waitFor();
        await page.waitForFunction(() => Number(document.querySelector("iframe").height) > 150);
        const { height } = await inside.locator("vg-embed-view").boundingBox();
        const outer = await page.locator("iframe").evaluate((element) => Number(element.height));
        assert.ok(Math.abs(outer - height) <= 1, `${outer} is not ${height}`);
        await screenshot(page, sandbox ? "embed-sandboxed" : "embed-frame");
      });
    } finally {
      await site.stop();
    }
  });
}

test("the element answers on a page with a strict policy, and follows its attributes", async () => {
  const script = '<script type="module" src="/vramgauge/vram-gauge.js"></script>';
  const elements = `<vram-gauge id="a" scenario="${kLink.replaceAll("&", "&amp;")}"></vram-gauge>
    <vram-gauge id="b" scenario="#v=1" lang="zh-CN" theme="dark" unit="GB"></vram-gauge>`;
  await on_host({ "/": page_of(script, elements) }, kStrict, {}, async (page) => {
    const [first, second] = [page.locator("#a"), page.locator("#b")];
    await answer(first).waitFor();
    await answer(second).waitFor();
    assert.match(await answer(first).locator("h2").innerText(), /^Fits, [\d.]+\sGiB to spare/);
    assert.match(await answer(second).locator("h2").innerText(), /^放不下：差 [\d.]+\sGB$/);
    const link = await first.locator("a").getAttribute("href");
    assert.match(link, /\/vramgauge\/#v=1&gpu_count=2&context_tokens=8192&num_requests=4$/);
    // The page around it keeps its own title and language, and nothing is stored.
    assert.equal(await page.title(), "A wiki");
    assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
    assert.equal(await page.evaluate(() => localStorage.length), 0);
    await first.evaluate((element) => element.setAttribute("scenario", "v=1&context_tokens=4096"));
    const bar = first.locator("svg.drawing");
    const cache_gib = ((kLlamaTokenBytes * 4096 * 2) / 2 ** 30).toFixed(1);
    await page.waitForFunction(
      ([element, amount]) => element.getAttribute("aria-label").includes(`KV cache ${amount}`),
      [await bar.elementHandle(), cache_gib],
    );
    await first.evaluate((element) => element.setAttribute("lang", "zh"));
    await first.getByText("KV 缓存").first().waitFor();
    await first.evaluate((element) => element.setAttribute("lang", "en"));
    await first.getByText("KV cache").first().waitFor();
    await assert_clean(page, "two elements");
    await screenshot(page, "element", { fullPage: true });
  });
});

test("a half-understood scenario says what it did not understand", async () => {
  await open(open_in, { hash: "?embed#v=1&colour=blue" }, async (page) => {
    assert.match(await page.locator("[data-notice=link]").innerText(), /colour/);
  });
});
