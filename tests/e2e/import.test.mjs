import assert from "node:assert/strict";
import { test } from "node:test";
import { answered, browser_tests, choose_language, input, open, table_bytes } from "./harness.mjs";

const open_in = browser_tests();

/** A small Llama: 4 layers, 2 KV heads of 64, so 2 x 4 x 2 x 64 x 2 = 2,048 bytes a token in 16 bits. */
const kConfig = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  hidden_size: 512,
  intermediate_size: 1536,
  num_hidden_layers: 4,
  num_attention_heads: 8,
  num_key_value_heads: 2,
  head_dim: 64,
  vocab_size: 32_000,
  max_position_embeddings: 8192,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: false,
  torch_dtype: "bfloat16",
};
const kTokenBytes = 2048;
const kDefaultTokens = 65_536 * 2;

const config_text = (changes = {}) => JSON.stringify({ ...kConfig, ...changes }, null, 2);
const panel = (page) => page.locator("vg-import-panel");

async function open_panel(page) {
  await page.getByRole("button", { name: "Your own model" }).click();
  return page.getByLabel("Text of a config.json");
}

/** Pastes a configuration and waits until it has been read. */
async function paste(page, text) {
  await (await open_panel(page)).fill(text);
  await panel(page).getByText("Read:").waitFor();
}

test("a pasted config.json becomes the model, travels in the link, and can be left again", async () => {
  await open(open_in, {}, async (page) => {
    await paste(page, config_text());
    assert.equal((await table_bytes(page)).kv_cache, kTokenBytes * kDefaultTokens);
    assert.match(await input(page, "model").inputValue(), /^Custom: /);
    await page.waitForFunction(() => location.hash.includes("model_config"));
    await page.reload();
    await answered(page);
    assert.equal((await table_bytes(page)).kv_cache, kTokenBytes * kDefaultTokens);
    await page.getByRole("button", { name: "Back to the catalogue" }).click();
    await answered(page);
    assert.equal(await input(page, "model").inputValue(), "Llama 3.3 70B Instruct");
  });
});

test("a chosen file and a dropped file are read", async () => {
  await open(open_in, {}, async (page) => {
    await open_panel(page);
    const file = {
      name: "config.json",
      mimeType: "application/json",
      buffer: Buffer.from(config_text()),
    };
    await panel(page).locator("input[type=file]").setInputFiles(file);
    await panel(page).getByText("Read:").waitFor();
    assert.equal((await table_bytes(page)).kv_cache, kTokenBytes * kDefaultTokens);
  });
  await open(open_in, {}, async (page) => {
    await page.evaluate((text) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], "config.json", { type: "application/json" }));
      window.dispatchEvent(new DragEvent("dragover", { dataTransfer: transfer, cancelable: true }));
      window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
    }, config_text());
    await panel(page).getByText("Read:").waitFor();
    assert.equal((await table_bytes(page)).kv_cache, kTokenBytes * kDefaultTokens);
  });
});

test("a bad config.json is explained beside the field, with the place", async () => {
  await open(open_in, {}, async (page) => {
    const before = await table_bytes(page);
    const text = await open_panel(page);
    await text.fill('{\n  "model_type": "llama",\n  "hidden_size": 5x\n}');
    assert.match(
      await panel(page).locator(".findings").innerText(),
      /Not valid JSON[\s\S]*line 3, column \d+/,
    );
    await text.fill(config_text({ num_hidden_layers: "four" }));
    assert.match(
      await panel(page).locator(".findings").innerText(),
      /^num_hidden_layers must be a whole number, not text\. line 8/,
    );
    assert.equal(await text.getAttribute("aria-invalid"), "true");
    // The scenario is untouched until a configuration is understood.
    assert.deepEqual(await table_bytes(page), before);
    await choose_language(page, "中文", "zh-CN");
    assert.match(
      await panel(page).locator(".findings").innerText(),
      /num_hidden_layers 应为 整数，而不是 文本/,
    );
  });
});

test("an unknown architecture is refused by name", async () => {
  await open(open_in, {}, async (page) => {
    await (
      await open_panel(page)
    ).fill(
      config_text({
        model_type: "zebra9",
        architectures: ["Zebra9ForCausalLM"],
        stripe_cache_ratio: 3,
      }),
    );
    assert.match(await panel(page).locator(".findings").innerText(), /zebra9|stripe_cache_ratio/);
  });
});

test("a configuration that is far too large is not read", async () => {
  await open(open_in, {}, async (page) => {
    await open_panel(page);
    const file = {
      name: "config.json",
      mimeType: "application/json",
      buffer: Buffer.alloc(9 * 2 ** 20),
    };
    await panel(page).locator("input[type=file]").setInputFiles(file);
    assert.match(await panel(page).locator(".findings").innerText(), /9\sMiB/);
  });
});

test("what is no model file is refused by name", async () => {
  for (const [name, message] of [
    ["photo.jpg", /photo\.jpg is not a model file/],
    ["pytorch_model.bin", /Only pickled weights/],
  ]) {
    await open(open_in, {}, async (page) => {
      await open_panel(page);
      const file = { name, mimeType: "application/octet-stream", buffer: Buffer.from("x") };
      await panel(page).locator("input[type=file]").setInputFiles(file);
      assert.match(await panel(page).locator("#status-files .failure").innerText(), message);
    });
  }
});

test("what the configuration leaves out is listed with the model, what the answer lacks below it", async () => {
  await open(open_in, {}, async (page) => {
    const { tie_word_embeddings, max_position_embeddings, ...rest } = kConfig;
    assert.ok(tie_word_embeddings === false && max_position_embeddings === 8192);
    await paste(page, JSON.stringify(rest));
    await page.locator("vg-model-note summary").click();
    assert.match(await page.locator("vg-model-note ul").innerText(), /tie_word_embeddings = false/);
    assert.match(
      await page.locator("[data-key=context_tokens] .finding").innerText(),
      /beyond the model’s own 2,048/,
    );
    assert.deepEqual(await page.locator("vg-remarks li").count(), 1);
    assert.match(await page.locator("vg-remarks li").innerText(), /^65,536 tokens exceed/);
  });
  await open(open_in, { hash: "#v=1&model=google/gemma-3-27b-it" }, async (page) => {
    assert.match(
      await page.locator("vg-remarks").getByRole("listitem").first().innerText(),
      /vision/,
    );
  });
});
