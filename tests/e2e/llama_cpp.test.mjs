// The engine llama.cpp on the page: its own fields, and host memory as a device beside the GPU.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  answered,
  browser_tests,
  field,
  finding,
  input,
  open,
  screenshot,
  table_bytes,
} from "./harness.mjs";

const open_in = browser_tests();

// Bytes of llama.cpp's own accounting of this file and context, 34af94cd (tests/truth/llamacpp.csv.gz).
const kLogged =
  "#v=1&model=meta-llama/Llama-3.1-8B&engine=llama_cpp&program=bench&gpu=nvidia-geforce-rtx-4090" +
  "&context_tokens=8192&num_requests=1";
const kGpuBytes = { weights: 4_617_396_480, kv_cache: 1_073_741_824, activations: 271_056_896 };

test("shows what llama.cpp puts on the GPU, to the byte", async () => {
  await open(open_in, { hash: kLogged }, async (page) => {
    const { weights, kv_cache, activations } = await table_bytes(page);
    assert.deepEqual({ weights, kv_cache, activations }, kGpuBytes);
    assert.equal(await page.locator("vg-device-bar figure").count(), 2);
    assert.match(await page.locator("vg-device-bar figure").nth(1).innerText(), /Host memory/);
  });
});

test("its fields come with it, and layers left on the CPU move to host memory", async () => {
  await open(open_in, {}, async (page) => {
    assert.equal(await field(page, "ubatch_tokens").count(), 0);
    await input(page, "engine").selectOption("llama_cpp");
    await answered(page);
    await page.locator("vg-inputs .advanced > summary").click();
    await input(page, "flash_attn").selectOption("on");
    const { weights } = await table_bytes(page);
    await input(page, "gpu_layers").fill("40");
    await page.waitForURL(/gpu_layers=40/);
    assert.ok((await table_bytes(page)).weights < weights);
    assert.match(page.url(), /engine=llama_cpp/);
    assert.match(page.url(), /flash_attn=on/);
    await screenshot(page, "llama-cpp-fields", { fullPage: true });
  });
});

/** Chooses an entry of a long list by its id; the empty id is what an empty field stands for. */
async function choose(page, key, query, id) {
  await input(page, key).click();
  if (query !== "") await input(page, key).fill(query);
  await field(page, key).locator(`li[data-id="${id}"]`).click();
}

// Llama 3.2 1B: 16 layers x 8 heads x 64, keys and values of 2 B, 8,192 tokens.
const kDraftCacheBytes = 16 * 8 * 64 * 2 * 2 * 8192;

test("a draft model comes on top, and goes again", async () => {
  await open(open_in, { hash: kLogged.replace("&program=bench", "") }, async (page) => {
    await page.locator("vg-inputs .advanced > summary").click();
    assert.equal((await table_bytes(page)).kv_cache, kGpuBytes.kv_cache);
    await choose(page, "draft_model", "Llama-3.2-1B", "meta-llama/Llama-3.2-1B");
    await page.waitForURL(/draft_model=/);
    await answered(page);
    assert.equal((await table_bytes(page)).kv_cache, kGpuBytes.kv_cache + kDraftCacheBytes);
    await choose(page, "draft_model", "", "");
    await page.waitForURL((url) => !/draft_model=/.test(url.hash));
    assert.equal((await table_bytes(page)).kv_cache, kGpuBytes.kv_cache);
  });
});

test("cards of several kinds are devices of their own", async () => {
  await open(open_in, { hash: `${kLogged}&more_gpus=nvidia-l4` }, async (page) => {
    const devices = page.locator("vg-device-bar figure");
    assert.equal(await devices.count(), 3);
    assert.match(await devices.nth(1).innerText(), /NVIDIA L4/);
    await page.locator("vg-inputs .advanced > summary").click();
    await input(page, "more_gpus").fill("no such card");
    await input(page, "more_gpus").press("Tab");
    assert.match(await finding(page, "more_gpus").innerText(), /no such card/);
  });
});

for (const [locale, colorScheme, viewport] of [
  ["en-US", "light", { width: 1320, height: 900 }],
  ["zh-CN", "dark", { width: 390, height: 844 }],
]) {
  test(`llama.cpp in ${locale}, ${colorScheme}, ${viewport.width} px`, async () => {
    const hash = `${kLogged}&host_ram_gib=64`;
    await open(open_in, { hash, locale, colorScheme, viewport }, (page) =>
      screenshot(page, `llama-cpp-${viewport.width}`, { fullPage: true }),
    );
  });
}
