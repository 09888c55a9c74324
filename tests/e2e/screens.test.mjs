/** Pictures of the main states, for people to look at: tests/e2e/test-results/screenshots. */
import { test } from "node:test";
import { answered, browser_tests, input, open, screenshot } from "./harness.mjs";

const open_in = browser_tests();
const kPhone = { width: 390, height: 844 };

for (const [language, locale] of [
  ["en", "en-US"],
  ["zh", "zh-CN"],
]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`first answer, ${language}, ${colorScheme}`, async () => {
      await open(open_in, { locale, colorScheme }, (page) =>
        screenshot(page, `wide-${language}-${colorScheme}`, { fullPage: true }),
      );
      await open(open_in, { locale, colorScheme, viewport: kPhone }, (page) =>
        screenshot(page, `phone-${language}-${colorScheme}`, { fullPage: true }),
      );
    });
  }
}

test("other states", async () => {
  await open(
    open_in,
    { hash: "#v=1&gpu_count=4&context_tokens=8192&num_requests=16" },
    async (page) => {
      await screenshot(page, "fits-four-gpus");
      await input(page, "model").click();
      await input(page, "model").fill("qwen3");
      await screenshot(page, "model-search");
      await page.keyboard.press("Escape");
      await page.locator("vg-inputs .advanced > summary").click();
      await page.locator("vg-import-panel button").first().click();
      await page.locator("vg-import-panel textarea").fill('{\n  "model_type": "llama",\n}');
      await screenshot(page, "everything-open", { fullPage: true });
      await input(page, "context_tokens").fill("lots");
      await screenshot(page, "not-a-number");
    },
  );
  await open(open_in, { hash: "#v=1&gpu_count=2&colour=blue&num_requests=many" }, (page) =>
    screenshot(page, "link-half-understood"),
  );
  await open(open_in, { viewport: { width: 320, height: 640 } }, async (page) => {
    await input(page, "context_tokens").scrollIntoViewIfNeeded();
    await page.locator("vg-slim-verdict .slim").waitFor({ state: "visible" });
    await page.waitForTimeout(200);
    await screenshot(page, "phone-320-scrolled");
  });
  await open(open_in, { forcedColors: "active" }, async (page) => {
    await answered(page);
    await screenshot(page, "forced-colours");
  });
});
