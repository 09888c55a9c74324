/** An organisation's own catalogue: from a file, and from the address in the page's configuration. */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { serve } from "../../web/serve.mjs";
import { assert_clean } from "./axe.mjs";
import { answered, browser_tests, finding, input, kSiteDir, open, screenshot, table_bytes } from "./harness.mjs";

const open_in = browser_tests();
const kGib = 2 ** 30;
const kMib = 2 ** 20;
/** Of the driver's context on each card, in place of the catalogue's own. */
const kContextMib = 812;
const presets = JSON.parse(
  readFileSync(new URL("../../presets/engines/llama_cpp.json", import.meta.url)),
);
const known_context = presets.constants.find(({ key }) => key === "cuda_context_mib");

/** A card of 100 GiB, a plain config.json, and a constant that was measured. */
const catalogue = {
  gpus: [
    {
      id: "acme-100",
      name: "Acme 100",
      vendor: "Acme",
      total_bytes: 100 * kGib,
      basis: "measured",
      source: "our own machine",
    },
  ],
  models: [
    {
      id: "acme/tiny",
      name: "Acme Tiny",
      source: "our own model",
      config: {
        model_type: "llama",
        hidden_size: 256,
        intermediate_size: 512,
        num_hidden_layers: 3,
        num_attention_heads: 8,
        num_key_value_heads: 2,
        vocab_size: 1000,
        max_position_embeddings: 4096,
        torch_dtype: "bfloat16",
      },
    },
  ],
  engines: [
    {
      id: "llama_cpp",
      constants: [
        {
          key: "cuda_context_mib",
          value: kContextMib,
          unit: "mib",
          low: kContextMib,
          high: kContextMib,
          basis: "measured",
          source: "nvidia-smi on our servers",
        },
      ],
    },
  ],
};
/** 2 (K and V) x 3 layers x 2 KV heads x 32 x 2 bytes, one request of 1,024 tokens. */
const kTinyCacheBytes = 2 * 3 * 2 * (256 / 8) * 2 * 1024;

const file_of = (value) => ({
  name: "acme.json",
  mimeType: "application/json",
  buffer: Buffer.from(typeof value === "string" ? value : JSON.stringify(value)),
});

async function open_panel(page) {
  await page.locator("footer button").click();
  await page.locator("vg-own-catalogue section").waitFor();
}

const give = (page, value) =>
  page.locator("vg-own-catalogue #catalogue-file").setInputFiles(file_of(value));

test("a file adds models, GPUs and measured constants", async () => {
  await open(open_in, {}, async (page) => {
    await open_panel(page);
    await give(page, catalogue);
    await page.locator("vg-own-catalogue .added").waitFor();
    assert.match(await page.locator("vg-own-catalogue .added").innerText(), /acme\.json: 1 model, 1 GPU, constants of 1 engine$/);
    await assert_clean(page, "added");
    for (const [key, text] of [
      ["gpu", "acme"],
      ["model", "acme tiny"],
    ]) {
      await input(page, key).click();
      await input(page, key).fill(text);
      await page.keyboard.press("Enter");
      await answered(page);
    }
    await input(page, "context_tokens").fill("1k");
    await input(page, "num_requests").fill("1");
    assert.equal((await table_bytes(page)).kv_cache, kTinyCacheBytes);
    await page.locator("footer").scrollIntoViewIfNeeded();
    await screenshot(page, "own-catalogue");
  });
});

test("a measured constant takes the place of the catalogue's own, and the rest stays", async () => {
  await open(open_in, { hash: "#v=1&engine=llama_cpp" }, async (page) => {
    const before = await table_bytes(page);
    await open_panel(page);
    await give(page, { engines: catalogue.engines });
    await page.locator("vg-own-catalogue .added").waitFor();
    const after = await table_bytes(page);
    assert.equal(after.runtime - before.runtime, (kContextMib - known_context.value) * kMib);
    assert.deepEqual({ ...after, runtime: 0, total: 0 }, { ...before, runtime: 0, total: 0 });
  });
});

test("what is wrong with a file is said, and nothing changes", async () => {
  await open(open_in, { locale: "zh-CN" }, async (page) => {
    const before = await table_bytes(page);
    await open_panel(page);
    const error = page.locator("vg-own-catalogue .error");
    for (const [value, text] of [
      ["{", /不是 JSON/],
      ["[]", /没有 models/],
      [{ gpus: [{ name: "no id" }] }, /\S/],
      [{ engines: [null] }, /\S/],
      [{ gpus: [{ id: "a", total_bytes: -1 }] }, /\S/],
      [{ models: [{ id: "a", config: { model_type: "unheard_of" } }] }, /unheard_of/],
    ]) {
      await give(page, value);
      await error.first().filter({ hasText: text }).waitFor();
      assert.deepEqual(await table_bytes(page), before);
    }
  });
});

const folder = mkdtempSync(join(tmpdir(), "vramgauge-own-"));
cpSync(kSiteDir, folder, { recursive: true });
writeFileSync(join(folder, "acme.json"), JSON.stringify(catalogue));
after(() => rmSync(folder, { recursive: true }));

/** What the browser says of the one request that finds no network. */
const kGone = /acme\.json|ERR_CONNECTION_REFUSED/;

/** The site with a line of its page changed, as somebody who hosts it would. */
async function on_own_site(address, options, use) {
  const html = readFileSync(join(kSiteDir, "index.html"), "utf8");
  const empty = '<meta name="vramgauge-catalogue" content="" />';
  assert.ok(html.includes(empty));
  writeFileSync(join(folder, "index.html"), html.replace(empty, empty.replace('""', `"${address}"`)));
  const server = await serve({ root: folder, base: "/team/" });
  try {
    await open(open_in, { allow: kGone, address: server.address, ...options }, (page) =>
      use(page, server),
    );
  } finally {
    await server.stop();
  }
}

test("the page's configuration names a catalogue, and links may name what is in it", async () => {
  const hash = "#v=1&model=acme/tiny&gpu=acme-100&context_tokens=1024&num_requests=1";
  await on_own_site("acme.json", { hash }, async (page) => {
    assert.equal((await table_bytes(page)).kv_cache, kTinyCacheBytes);
    assert.equal(await finding(page, "model").innerText(), "");
  });
});

test("without a network the catalogue that was read last is used", async () => {
  const hash = "#v=1&model=acme/tiny&context_tokens=1024&num_requests=1";
  await on_own_site("acme.json", { hash, serviceWorkers: "allow" }, async (page, server) => {
    await page.evaluate(async () => {
      const { active } = await navigator.serviceWorker.ready;
      if (active.state !== "activated")
        await new Promise((done) => active.addEventListener("statechange", done, { once: true }));
    });
    await server.stop();
    await page.reload();
    await answered(page);
    assert.equal((await table_bytes(page)).kv_cache, kTinyCacheBytes);
    assert.equal(await page.locator("[data-notice=catalogue]").count(), 0);
  });
});

test("a catalogue that is not there is said, and the page works", async () => {
  await on_own_site("missing.json", { allow: /404/ }, async (page) => {
    assert.match(await page.locator("[data-notice=catalogue]").innerText(), /404/);
    assert.ok((await table_bytes(page)).total > 0);
  });
});
