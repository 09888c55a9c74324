/** Visits without a network, and newer versions of the page. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { serve } from "../../web/serve.mjs";
import { answered, browser_tests, input, kSiteDir, open, table_bytes, verdict } from "./harness.mjs";

const kBase = "/tools/vramgauge/";
const open_in = browser_tests();

/** A copy of the site, which may change while it is served. */
const folder = mkdtempSync(join(tmpdir(), "vramgauge-site-"));
cpSync(kSiteDir, folder, { recursive: true });
after(() => rmSync(folder, { recursive: true }));

const kept = (page) =>
  page.evaluate(async () => {
    const { active } = await navigator.serviceWorker.ready;
    if (active.state !== "activated")
      await new Promise((done) => active.addEventListener("statechange", done, { once: true }));
  });

/** Serves the copy, visits it until it is kept, and goes on. */
async function visit(use) {
  const server = await serve({ root: folder, base: kBase });
  // Leaving a page stops what it is still loading.
  const allow = /404|request failed/;
  const opened = { allow, address: server.address, serviceWorkers: "allow" };
  try {
    await open(open_in, opened, async (page) => {
      await kept(page);
      await use(page, server);
    });
  } finally {
    await server.stop();
  }
}

test("after one visit the page works without a network", async () => {
  await visit(async (page, server) => {
    const online = await table_bytes(page);
    await server.stop();
    await page.goto(`${server.address}?lang=en#v=1&num_requests=2`);
    await answered(page);
    assert.deepEqual(await table_bytes(page), online);
    await input(page, "model").click();
    await input(page, "model").fill("qwen3-30b-a3b");
    await page.keyboard.press("Enter");
    await answered(page);
    assert.match(await input(page, "model").inputValue(), /Qwen3.30B.A3B/i);
    await page.locator("[data-key=engine] select").selectOption("llama.cpp");
    await answered(page);
    await page.getByRole("radio", { name: "中文" }).check();
    await verdict(page).getByText(/放[不得]下/).first().waitFor();
  });
});

test("a newer version is offered, and taken only when it is accepted", async () => {
  const worker = join(folder, "sw.js");
  const html = join(folder, "index.html");
  const [worker_before, html_before] = [worker, html].map((file) => readFileSync(file, "utf8"));
  const revision = /(url:"index\.html",revision:")[^"]*/;
  assert.match(worker_before, revision);
  try {
    await visit(async (page) => {
      const notice = page.locator("[data-notice=update]");
      assert.equal(await notice.count(), 0);
      writeFileSync(html, html_before.replace("<html", '<html data-version="next"'));
      writeFileSync(worker, worker_before.replace(revision, "$1next"));
      await page.reload();
      await notice.waitFor();
      const version = () => page.evaluate(() => document.documentElement.dataset.version);
      assert.equal(await version(), undefined, "what is open stays");
      await notice.getByRole("button", { name: "Later" }).click();
      assert.equal(await notice.count(), 0);
      await page.reload();
      await notice.waitFor();
      assert.equal(await version(), undefined, "not even a reload forces it");
      await input(page, "num_requests").fill("9");
      await page.waitForFunction(() => location.hash.includes("num_requests=9"));
      await notice.getByRole("button", { name: "Use it now" }).click();
      await page.waitForFunction(() => document.documentElement.dataset.version === "next");
      await answered(page);
      assert.equal(await input(page, "num_requests").inputValue(), "9");
      assert.equal(await notice.count(), 0);
    });
  } finally {
    writeFileSync(worker, worker_before);
    writeFileSync(html, html_before);
  }
});

test("another version in a folder below is that version", async () => {
  mkdirSync(join(folder, "v0.0.1"));
  writeFileSync(join(folder, "v0.0.1", "index.html"), "<title>old</title><p>The first release</p>");
  await visit(async (page, server) => {
    await page.goto(server.address);
    await answered(page);
    assert.ok(await page.evaluate(() => navigator.serviceWorker.controller !== null));
    await page.goto(`${server.address}v0.0.1/`);
    assert.equal(await page.locator("p").innerText(), "The first release");
    await page.goto(server.address);
    await answered(page);
    assert.equal(await verdict(page).getAttribute("data-state"), "does_not_fit");
  });
});
