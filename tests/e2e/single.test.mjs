import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { test } from "node:test";
import {
  answered,
  browser_tests,
  input,
  kLlamaTokenBytes,
  kSingleFile,
  open,
  table_bytes,
  verdict,
} from "./harness.mjs";

const open_in = browser_tests();
const address = pathToFileURL(kSingleFile).href;

test("the one-file page answers from file:// without any request", async () => {
  const requests = [];
  const prepare = (page) => page.on("request", (request) => requests.push(request.url()));
  await open(open_in, { address, prepare, offline: true }, async (page) => {
    assert.equal(await verdict(page).getAttribute("data-state"), "does_not_fit");
    assert.equal((await table_bytes(page)).kv_cache, kLlamaTokenBytes * 65_536 * 2);
    assert.deepEqual(
      requests.filter((url) => !url.startsWith("data:")),
      [address],
    );
  });
});

test("every model is inside, and links work", async () => {
  await open(
    open_in,
    { address, offline: true, hash: "#v=1&context_tokens=4096" },
    async (page) => {
      assert.equal((await table_bytes(page)).kv_cache, kLlamaTokenBytes * 4096 * 2);
      await input(page, "model").click();
      await input(page, "model").fill("qwen3-30b-a3b");
      await page.keyboard.press("Enter");
      await answered(page);
      assert.match(await input(page, "model").inputValue(), /Qwen3.30B.A3B/i);
      await page.waitForFunction(() => location.hash.includes("Qwen3-30B-A3B"));
    },
  );
});

test("its policy forbids every connection", async () => {
  await open(open_in, { address }, async (page) => {
    const policy = await page
      .locator("meta[http-equiv=Content-Security-Policy]")
      .getAttribute("content");
    assert.equal(
      policy,
      "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'",
    );
  });
});
