import assert from "node:assert/strict";
import { test } from "node:test";
import { assert_clean } from "./axe.mjs";
import { browser_tests, input, open } from "./harness.mjs";

const open_in = browser_tests();
for (const locale of ["en-US", "zh-CN"]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`no accessibility violations: ${locale}, ${colorScheme}`, async () => {
      await open(open_in, { locale, colorScheme }, async (page) => {
        await assert_clean(page, "first answer");
        await page.locator("vg-inputs .advanced > summary").click();
        await page.locator("vg-import-panel button").first().click();
        await page.locator("vg-import-panel textarea").fill("{");
        for (const term of ["weights", "activations", "runtime"])
          await page.locator(`tr[data-term=${term}] button`).click();
        await assert_clean(page, "everything opened");
        await input(page, "gpu").click();
        await assert_clean(page, "list open");
        await page.keyboard.press("Escape");
        await input(page, "context_tokens").fill("many");
        await assert_clean(page, "error beside a field");
        await input(page, "context_tokens").fill("1k");
        await assert_clean(page, "fits");
      });
    });
  }
}

test("no accessibility violations on a phone, with a link half understood", async () => {
  await open(
    open_in,
    { viewport: { width: 320, height: 640 }, hash: "#v=1&colour=blue" },
    async (page) => {
      await assert_clean(page, "320 px");
    },
  );
});

test("forced colours and reduced motion keep the page whole", async () => {
  await open(open_in, { forcedColors: "active", reducedMotion: "reduce" }, async (page) => {
    await assert_clean(page, "forced colours");
    const moving = await page
      .locator("vg-breakdown-table .arrow")
      .first()
      .evaluate((arrow) => getComputedStyle(arrow).transitionDuration);
    assert.equal(moving, "0s");
  });
});
