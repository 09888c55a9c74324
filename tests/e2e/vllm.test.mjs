// vLLM on the page: its own fields, figures of its log, and several GPUs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answered, browser_tests, field, input, open, screenshot, table_bytes } from "./harness.mjs";

const open_in = browser_tests();

// A start-up log of 0.19 on an H100 (tests/truth/vllm_h100_v019.csv): 14.99 GiB of weights and a pool
// of 58.11 GiB, which is 29,751 blocks of 2 MiB.
const kLogged =
  "#v=1&model=meta-llama/Llama-3.1-8B-Instruct&weight_format=bf16&engine=vllm&engine_version=0.19.0" +
  "&context_tokens=8192&num_requests=1&kv_cache_gib=58.108";
const kWeightBytes = 8_030_261_248 * 2 + 131_072 * 128 * 2;

test("shows what vLLM's log prints", async () => {
  await open(open_in, { hash: kLogged }, async (page) => {
    const { weights, kv_cache } = await table_bytes(page);
    assert.deepEqual({ weights, kv_cache }, { weights: kWeightBytes, kv_cache: 2 ** 30 });
    assert.match(await page.locator("vg-answers [data-answer=num_blocks] dd").first().innerText(), /29,751/);
    assert.match(await page.locator("vg-answers [data-answer=logged_tokens] dd").first().innerText(), /476,016/);
  });
});

test("its fields come with it, and ranks share the cache", async () => {
  await open(open_in, { hash: "#v=1&weight_format=auto" }, async (page) => {
    assert.equal(await field(page, "tensor_ranks").count(), 0);
    await input(page, "engine").selectOption("vllm");
    await answered(page);
    await page.locator("vg-inputs .advanced > summary").click();
    assert.equal(await field(page, "tensor_ranks").count(), 1);
    const { kv_cache } = await table_bytes(page);
    await input(page, "gpu_count").fill("2");
    await page.waitForURL(/gpu_count=2/);
    assert.ok((await table_bytes(page)).kv_cache < kv_cache);
    assert.match(page.url(), /engine=vllm/);
    await screenshot(page, "vllm-fields", { fullPage: true });
  });
});

for (const [locale, colorScheme, viewport] of [
  ["en-US", "light", { width: 1320, height: 900 }],
  ["zh-CN", "dark", { width: 390, height: 844 }],
]) {
  test(`vLLM in ${locale}, ${colorScheme}, ${viewport.width} px`, async () => {
    await open(open_in, { hash: kLogged, locale, colorScheme, viewport }, (page) =>
      screenshot(page, `vllm-${viewport.width}`, { fullPage: true }),
    );
  });
}
