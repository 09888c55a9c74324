/** The reader of foreign formats is fetched when it is needed, and not before. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { answered, browser_tests, open, table_bytes } from "./harness.mjs";

const open_in = browser_tests();
const kReader = /vramgauge_reader|reader\.json/;

/** A link of the time when links held whole configurations. */
const { link, expect } = JSON.parse(
  readFileSync(new URL("frozen_links.json", import.meta.url)),
).find((frozen) => frozen.link.includes("model_config"));

/** Collects what a page asks for of the reader. */
function reader_requests() {
  const requests = [];
  const prepare = (page) =>
    page.on("request", (request) => {
      if (kReader.test(request.url())) requests.push(request.url());
    });
  return { requests, prepare };
}

test("a first visit fetches no reader", async () => {
  const { requests, prepare } = reader_requests();
  await open(open_in, { prepare }, async (page) => {
    assert.ok((await table_bytes(page)).kv_cache > 0);
    assert.deepEqual(requests, []);
  });
});

test("an old link with a configuration in it fetches the reader once", async () => {
  const { requests, prepare } = reader_requests();
  await open(open_in, { prepare, hash: `#${link}` }, async (page) => {
    assert.equal((await table_bytes(page)).kv_cache, expect.bytes.kv_cache);
    assert.equal(requests.length, 3, requests.join());
    assert.ok(page.url().endsWith(link), "the link stays as it was");
  });
});

test("a link with a converted configuration fetches none", async () => {
  let converted = "";
  await open(open_in, { hash: `#${link}` }, async (page) => {
    converted = await page.evaluate(() => document.querySelector("vg-app").store.resolved("model_config"));
  });
  assert.equal(JSON.parse(converted).model_type, "spec");
  const { requests, prepare } = reader_requests();
  const hash = `#v=1&model_config=${encodeURIComponent(converted)}&context_tokens=4096&num_requests=1`;
  await open(open_in, { prepare, hash }, async (page) => {
    assert.equal((await table_bytes(page)).kv_cache, expect.bytes.kv_cache);
    assert.deepEqual(requests, []);
  });
});

test("a reader that cannot be fetched is an error beside the model, and is asked for again", async () => {
  const allow = /request failed|Failed to load resource/;
  const prepare = (page) => page.route(kReader, (route) => route.abort());
  await open(open_in, { allow, prepare, hash: `#${link}`, wait: false }, async (page) => {
    await page.locator("[data-key=model] .finding").getByText("could not be loaded").waitFor();
    await page.unroute(kReader);
    await page.evaluate(() => document.querySelector("vg-app").store.set("num_requests", 2));
    await answered(page);
    assert.equal((await table_bytes(page)).kv_cache, 2 * expect.bytes.kv_cache);
  });
});
