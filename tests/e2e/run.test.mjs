// The way to an engine and back: command lines written and read, start-up logs compared.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { assert_clean } from "./axe.mjs";
import { answered, browser_tests, input, open, screenshot, verdict } from "./harness.mjs";

const open_in = browser_tests();
const kVllm =
  "#v=1&model=Qwen/Qwen3-8B&weight_format=auto&engine=vllm&context_tokens=32768&num_requests=4";
const log = (name) =>
  readFileSync(fileURLToPath(new URL(`../data/logs/${name}.log`, import.meta.url)), "utf8");

async function part(page, id, ready) {
  const place = page.locator(`[data-part=${id}]`);
  await place.scrollIntoViewIfNeeded();
  await place.locator(ready).first().waitFor();
  return place;
}

test("the command line of the scenario stands there to be copied", async () => {
  await open(open_in, { hash: kVllm }, async (page) => {
    const run = await part(page, "run", "[data-program] pre");
    const text = await run.locator("[data-program] pre").first().innerText();
    assert.match(text, /^vllm serve Qwen\/Qwen3-8B/);
    assert.match(text, /--max-model-len[ =]32768/);
    await screenshot(page, "run-it", { fullPage: true });
  });
});

test("a pasted command line fills the form, and what it does not know is listed", async () => {
  await open(open_in, {}, async (page) => {
    const run = await part(page, "run", "textarea");
    await run
      .locator("textarea")
      .fill("docker run --gpus all vllm/vllm-openai --model Qwen/Qwen3-8B \\\n  --max-model-len 16384 --made-up 3");
    await run.getByRole("button", { name: "Fill the form" }).click();
    await page.waitForURL(/engine=vllm/);
    await answered(page);
    assert.match(page.url(), /model=Qwen\/Qwen3-8B/);
    assert.match(page.url(), /16384/);
    assert.match(await run.locator("[data-parsed]").innerText(), /--made-up 3/);
  });
});

// The row vllm10517-llama31-8b-3090-29000: 14.9888 GiB of weights, 2.89 GiB of cache, refused.
test("a log stands beside what is predicted for it", async () => {
  await open(open_in, {}, async (page) => {
    const check = await part(page, "check", "textarea");
    await check.locator("textarea").fill(log("vllm10517-llama31-8b-3090-29000"));
    await check.getByRole("button", { name: "Compare" }).click();
    await check.locator("[data-quantity=weights]").waitFor();
    assert.match(await check.locator("[data-quantity=weights]").innerText(), /14\.99\sGiB/);
    await assert_clean(page, "log compared");
    await screenshot(page, "check-it", { fullPage: true });
    await check.getByRole("button", { name: "Fill the form" }).click();
    await page.waitForURL(/engine=vllm/);
    assert.equal(await verdict(page).getAttribute("data-state"), "does_not_fit");
    await check.getByRole("button", { name: "Use these from now on" }).click();
    await page.waitForURL(/calibration=activations/);
  });
});

test("text that is no log is refused with a reason", async () => {
  await open(open_in, {}, async (page) => {
    const check = await part(page, "check", "textarea");
    await check.locator("textarea").fill("nothing of an engine");
    await check.getByRole("button", { name: "Compare" }).click();
    await check.locator(".bad").waitFor();
  });
});

test("a format that the chosen engine does not load gives way to the checkpoint's own", async () => {
  await open(open_in, { hash: "#v=1&model=Qwen/Qwen3-8B&weight_format=Q4_K_M" }, async (page) => {
    await input(page, "engine").selectOption("tensorrt_llm");
    await page.waitForURL(/weight_format=auto/);
    await answered(page);
    assert.match(page.url(), /engine=tensorrt_llm/);
  });
});
