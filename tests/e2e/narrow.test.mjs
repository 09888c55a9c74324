import assert from "node:assert/strict";
import { test } from "node:test";
import { browser_tests, input, open, verdict } from "./harness.mjs";

const open_in = browser_tests();

for (const width of [320, 390]) {
  for (const locale of ["en-US", "zh-CN"]) {
    test(`usable at ${width} px in ${locale}`, async () => {
      await open(
        open_in,
        { locale, viewport: { width, height: 700 }, hasTouch: true, isMobile: true },
        async (page) => {
          const sideways = await page.evaluate(
            () => document.documentElement.scrollWidth - innerWidth,
          );
          assert.equal(sideways, 0);
          const sizes = await page.evaluate(() => {
            const tops = [
              "vg-verdict",
              "vg-device-bar",
              "vg-inputs",
              "vg-breakdown-table",
              "vg-answers",
            ];
            const root = document
              .querySelector("vg-app")
              .shadowRoot.querySelector("vg-calculator").shadowRoot;
            return tops.map((name) => root.querySelector(name).getBoundingClientRect().top);
          });
          assert.deepEqual(
            sizes,
            [...sizes].sort((a, b) => a - b),
            "verdict and bar, inputs, then the rest",
          );
        },
      );
    });
  }
}

test("nothing scrolls sideways at 320 px with everything open", async () => {
  await open(
    open_in,
    {
      viewport: { width: 320, height: 700 },
      hash: "#v=1&model=deepseek-ai/DeepSeek-V3.1&gpu_count=8&colour=blue",
    },
    async (page) => {
      const sideways = () =>
        page.evaluate(() =>
          Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
        );
      for (const term of ["weights", "activations", "runtime"])
        await page.locator(`tr[data-term=${term}] button`).click();
      await page.locator("vg-inputs .advanced > summary").click();
      await page.locator("vg-model-note summary").click();
      await page.locator("vg-import-panel button").first().click();
      assert.equal(await sideways(), 0);
      for (const key of ["model", "weight_format", "gpu"]) {
        await input(page, key).click();
        assert.equal(await sideways(), 0, key);
        const { x, width } = await page.locator(`[data-key=${key}] .popup`).boundingBox();
        assert.ok(x >= 0 && x + width <= 320, key);
        await page.keyboard.press("Escape");
      }
    },
  );
});

test("the verdict stays in a slim bar while the inputs scroll", async () => {
  await open(open_in, { viewport: { width: 390, height: 700 } }, async (page) => {
    const slim = page.locator("vg-slim-verdict .slim");
    assert.equal(await slim.isVisible(), false);
    await input(page, "num_requests").scrollIntoViewIfNeeded();
    await slim.waitFor({ state: "visible" });
    assert.match(await slim.innerText(), /Does not fit/);
    await input(page, "num_requests").fill("1");
    await input(page, "context_tokens").fill("1k");
    assert.match(await slim.innerText(), /Fits/);
    await page.evaluate(() => scrollTo(0, 0));
    await slim.waitFor({ state: "hidden" });
    assert.equal(await verdict(page).getAttribute("data-state"), "fits");
  });
});
