import assert from "node:assert/strict";
import { test } from "node:test";
import {
  answered,
  browser_tests,
  choose_language,
  kLlamaTokenBytes,
  open,
  table_bytes,
  verdict,
} from "./harness.mjs";

const at_root = browser_tests();
const at_sub_path = browser_tests({ base: "/tools/vramgauge/" });

for (const [place, open_in] of [
  ["at the root", at_root],
  ["under a sub-path", at_sub_path],
]) {
  test(`opens ${place} with the example that does not fit, and asks nobody else`, async () => {
    await open(open_in, {}, async (page) => {
      assert.equal(await verdict(page).getAttribute("data-state"), "does_not_fit");
      assert.match(
        await verdict(page).locator("h2").innerText(),
        /^Does not fit: [\d.]+\sGiB short$/,
      );
      const bytes = await table_bytes(page);
      assert.equal(bytes.kv_cache, kLlamaTokenBytes * 65_536 * 2);
      assert.equal(bytes.total, bytes.weights + bytes.kv_cache + bytes.activations + bytes.runtime);
    });
  });
}

test("the parts of the bar are as long as their bytes", async () => {
  await open(at_root, {}, async (page) => {
    const bytes = await table_bytes(page);
    const bar = page.locator("vg-device-bar svg.drawing");
    const widths = await bar
      .locator("rect.term")
      .evaluateAll((rects) => rects.map((rect) => [rect.classList[1], rect.getBBox().width]));
    const per_byte = widths[0][1] / bytes.weights;
    for (const [term, width] of widths)
      assert.ok(Math.abs(width - bytes[term] * per_byte) < 1, term);
    assert.match(await bar.getAttribute("aria-label"), /KV cache 40\.0\sGiB/);
  });
});

test("a row opens to its formula, the numbers and the source", async () => {
  await open(at_root, {}, async (page) => {
    const detail = page.locator("#detail-weights");
    assert.equal(await detail.isVisible(), false);
    await page.getByRole("button", { name: "Weights" }).click();
    assert.equal(await detail.isVisible(), true);
    assert.match(await detail.locator(".arithmetic").innerText(), /Source: \S/);
    const cache = await page.locator("#detail-kv_cache .arithmetic").innerText();
    assert.match(cache, /327,680\sB/);
    assert.match(cache, /42,949,672,960\sB/);
  });
});

test("GB counts in powers of ten", async () => {
  await open(at_root, {}, async (page) => {
    const cell = page.locator("tr[data-term=kv_cache] .bytes");
    assert.equal((await cell.innerText()).trim(), "40.00");
    await page.getByRole("radio", { name: "GB", exact: true }).check();
    // 42,949,672,960 B / 10^9
    assert.equal((await cell.innerText()).trim(), "42.95");
    assert.match(await verdict(page).locator("h2").innerText(), /GB short/);
    await page.reload();
    await cell.waitFor();
    assert.equal((await cell.innerText()).trim(), "42.95");
  });
});

test("the theme follows the system until one is chosen", async () => {
  await open(at_root, { colorScheme: "dark" }, async (page) => {
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(await theme(), "dark");
    await page.emulateMedia({ colorScheme: "light" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
    await page.getByRole("radio", { name: "Dark" }).check();
    assert.equal(await theme(), "dark");
    await page.reload();
    assert.equal(await theme(), "dark");
  });
});

test("Chinese is the default of a Chinese browser, and a switch away", async () => {
  await open(at_root, { locale: "zh-CN" }, async (page) => {
    assert.equal(await page.evaluate(() => document.documentElement.lang), "zh-CN");
    assert.match(await verdict(page).locator("h2").innerText(), /^放不下：差 [\d.]+\sGiB$/);
    await choose_language(page, "English", "en");
    assert.match(await verdict(page).locator("h2").innerText(), /^Does not fit/);
    await page.reload();
    await answered(page);
    assert.match(await verdict(page).locator("h2").innerText(), /^Does not fit/);
  });
});

test("no English is left on the Chinese page", async () => {
  await open(at_root, { locale: "zh-CN" }, async (page) => {
    const texts = await page
      .locator(
        "vg-inputs label, vg-inputs h2, vg-inputs summary, vg-breakdown-table th, vg-breakdown-table caption, vg-breakdown-table .basis, vg-answers dt, vg-answers h2, vg-arithmetic dt",
      )
      .allInnerTexts();
    const allowed = /^(GPU|GiB)$/;
    assert.ok(texts.length > 25);
    assert.deepEqual(
      texts
        .map((text) => text.trim())
        .filter((text) => text !== "" && !/[\u4e00-\u9fff]/.test(text) && !allowed.test(text)),
      [],
    );
  });
});
