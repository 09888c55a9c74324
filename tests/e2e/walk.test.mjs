/**
 * The page as somebody uses it who has never seen it and reads no documentation: every step is a thing on the
 * screen, found by the words on it. Pictures of each step: tests/e2e/test-results/screenshots/walk-*.png.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { answered, browser_tests, open, screenshot, verdict } from "./harness.mjs";

const open_in = browser_tests();

/** Qwen/Qwen3-8B, config.json on the hub. */
const kQwen3 = {
  architectures: ["Qwen3ForCausalLM"],
  attention_bias: false,
  head_dim: 128,
  hidden_size: 4096,
  intermediate_size: 12_288,
  max_position_embeddings: 40_960,
  model_type: "qwen3",
  num_attention_heads: 32,
  num_hidden_layers: 36,
  num_key_value_heads: 8,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: false,
  torch_dtype: "bfloat16",
  vocab_size: 151_936,
};

const kDevices = [
  ["desk", { viewport: { width: 1320, height: 900 } }],
  ["phone", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
];
const kClipboard = { permissions: ["clipboard-read", "clipboard-write"] };

/** Types into a field by its label and takes the first match of its list. */
async function choose(page, label, text) {
  const field = page.getByRole("combobox", { name: label, exact: true });
  await field.click();
  await field.fill(text);
  await page.getByRole("listbox", { name: label }).getByRole("option").first().click();
}

const type = (page, label, text) => page.getByLabel(label, { exact: true }).fill(text);

/** As somebody scrolls who looks for a heading. */
async function look_for(page, heading) {
  const place = page.getByRole("heading", { name: heading, exact: true });
  for (let i = 0; i < 60 && !(await place.isVisible()); ++i) {
    await page.mouse.wheel(0, 300);
    await page.waitForTimeout(80);
  }
  // What is on the way may still be loading and take its room.
  await place.evaluate((element) => element.scrollIntoView({ block: "center" }));
  await page.waitForTimeout(400);
  await place.evaluate((element) => element.scrollIntoView({ block: "center" }));
  return place;
}

/** Nothing is cut off at the side. */
async function nothing_sideways(page) {
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
}

for (const [device, options] of kDevices) {
  const shot = async (page, name) => {
    await nothing_sideways(page);
    await page.waitForTimeout(200);
    await screenshot(page, `walk-${name}-${device}`);
  };

  test(`does my config.json fit my card: ${device}`, async () => {
    await open(open_in, options, async (page) => {
      await page.getByRole("button", { name: /^Your own model/ }).click();
      await page.getByPlaceholder("Paste a config.json here").fill(JSON.stringify(kQwen3, null, 2));
      await page.getByText(/^Read: /).waitFor();
      await shot(page, "a1-config-read");
      await choose(page, "GPU", "4090");
      await type(page, "Context", "32k");
      await type(page, "Concurrent", "1");
      await answered(page);
      // Weights as the configuration says, 16 bits: 8.19 billion parameters are 15.3 GiB of the card's 24.
      assert.match(await verdict(page).getByRole("heading").innerText(), /^(Fits|Does not fit|Tight)/);
      assert.match(await verdict(page).innerText(), /NVIDIA GeForce RTX 4090/);
      await shot(page, "a2-card");
      await page.evaluate(() => scrollTo(0, 0));
      await shot(page, "a3-answer");
    });
  });

  test(`the longest context: ${device}`, async () => {
    await open(open_in, options, async (page) => {
      const card = page.locator("vg-answers dl > div", { hasText: "Longest context" });
      await look_for(page, "The other way round");
      const tokens = (await card.locator("dd").first().innerText()).trim();
      assert.match(tokens, /^[\d,]+$/);
      await shot(page, "b1-longest");
      // The same number is offered to be set, with the proof that one token more does not fit.
      await look_for(page, "Solved for each question");
      const row = page.getByRole("listitem").filter({ hasText: "Longest context" });
      await row.waitFor();
      await shot(page, "b2-solved");
      assert.ok((await row.innerText()).includes(tokens), `${await row.innerText()} has not ${tokens}`);
      await row.getByRole("button").click();
      await page.locator("vg-verdict section:not([data-state=does_not_fit])").waitFor();
      await page.evaluate(() => scrollTo(0, 0));
      await shot(page, "b3-set");
    });
  });

  test(`copy the vLLM command: ${device}`, async () => {
    await open(open_in, { ...options, ...kClipboard }, async (page) => {
      await page.getByRole("combobox", { name: "Engine", exact: true }).selectOption({ label: "vLLM" });
      await answered(page);
      await look_for(page, "Run it");
      const copy = page.locator("vg-run-it").getByRole("button", { name: "Copy" }).first();
      await copy.click();
      await page.locator("vg-run-it").getByRole("button", { name: "Copied" }).waitFor();
      await shot(page, "c-command");
      const command = await page.evaluate(() => navigator.clipboard.readText());
      assert.match(command, /^vllm serve /);
      assert.match(command, /--max-model-len/);
    });
  });

  test(`send a link: ${device}`, async () => {
    await open(open_in, { ...options, ...kClipboard }, async (page) => {
      await type(page, "Count", "2");
      await answered(page);
      const said = await verdict(page).getByRole("heading").innerText();
      await page.evaluate(() => scrollTo(0, 0));
      await page.getByRole("button", { name: "Copy link" }).click();
      await shot(page, "d1-copied");
      const link = await page.evaluate(() => navigator.clipboard.readText());
      const other = await page.context().newPage();
      await other.goto(link);
      await answered(other);
      assert.equal(await verdict(other).getByRole("heading").innerText(), said);
      await shot(other, "d2-opened");
      await other.close();
    });
  });

  test(`embed it in a wiki: ${device}`, async () => {
    await open(open_in, { ...options, ...kClipboard }, async (page) => {
      const button = page.getByRole("button", { name: "Embed", exact: true });
      if (await button.isVisible()) await button.click();
      else {
        await page.locator("vg-share").getByRole("button").last().click();
        await page.getByRole("menuitem", { name: /Embed/ }).click();
      }
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      await dialog.getByRole("button", { name: "Copy" }).first().click();
      await shot(page, "e1-dialog");
      const snippet = await page.evaluate(() => navigator.clipboard.readText());
      const wiki = await page.context().newPage();
      await wiki.setContent(`<!doctype html><meta name="viewport" content="width=device-width"><title>Wiki</title><h1>Our servers</h1>${snippet}`);
      const inside = wiki.frameLocator("iframe");
      await inside.locator("vg-verdict section:not([data-state=none])").waitFor();
      await shot(wiki, "e2-wiki");
      await wiki.close();
    });
  });
}
