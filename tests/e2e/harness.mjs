/** Shared by the tests of the page: the server, the browser, and what every page must keep to. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { serve } from "../../web/serve.mjs";

const kBrowser = process.env.CHROMIUM ?? "/usr/bin/chromium";
const kBrowserArgs = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];
/** What the browser driver itself says of a page that is not to be kept. */
const kBlockedWorker = "Service Worker registration blocked by Playwright";
const kAnswerTimeoutMs = 15_000;

export const kSiteDir = fileURLToPath(new URL("../../web/dist/site", import.meta.url));
export const kSingleFile = fileURLToPath(
  new URL("../../web/dist/single/vramgauge.html", import.meta.url),
);
const kScreenshotDir = fileURLToPath(new URL("test-results/screenshots/", import.meta.url));

/** 2 (K and V) x 80 layers x 8 KV heads x 128 x 2 bytes: one token of Llama 3.3 70B in 16 bits. */
export const kLlamaTokenBytes = 2 * 80 * 8 * 128 * 2;

/** Starts server and browser around the tests of a file; returns a function that opens pages. */
export function browser_tests({ base = "/" } = {}) {
  let browser;
  let server;
  before(async () => {
    server = await serve({ root: kSiteDir, base });
    // Without a folder of its own Playwright makes a new one for each start.
    browser = await chromium.launch({ executablePath: kBrowser, args: kBrowserArgs });
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });
  return (options = {}) => open_page(browser, options.address ?? server.address, options);
}

/** A page with an answer on it. `problems` collects console output, failures and foreign requests. */
async function open_page(
  browser,
  address,
  { hash = "", wait = true, prepare, ...context_options },
) {
  const context = await browser.newContext({
    viewport: { width: 1320, height: 900 },
    locale: "en-US",
    // Each page would fetch everything once more, for the tests of being offline only.
    serviceWorkers: "block",
    ...context_options,
  });
  context.setDefaultTimeout(kAnswerTimeoutMs);
  const page = await context.newPage();
  const problems = watch(page, new URL(address).origin);
  await prepare?.(page);
  await page.goto(address + hash);
  if (wait) {
    await answered(page);
    // The first answer needs a part of the catalogue only; the rest follows at once.
    await page.locator("html[data-complete]").waitFor({ state: "attached" });
  }
  return { page, problems, close: () => context.close() };
}

function watch(page, origin) {
  const problems = [];
  page.on("console", (message) => {
    if (message.text() !== kBlockedWorker)
      problems.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`page error: ${error.message}`));
  page.on("requestfailed", (request) => {
    // Who leaves the page ends what is still being loaded.
    if (request.failure()?.errorText !== "net::ERR_ABORTED")
      problems.push(`request failed: ${request.url()}`);
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "data:" && url.origin !== origin)
      problems.push(`request to ${request.url()}`);
  });
  return problems;
}

/** Lets the next call into a module trap once `trap_next` is set; for `prepare`. */
export const make_trappable = (page) =>
  page.addInitScript(() => {
    const get = WebAssembly.Table.prototype.get;
    WebAssembly.Table.prototype.get = function (index) {
      const entry = get.call(this, index);
      if (typeof entry !== "function") return entry;
      return (...args) => {
        if (window.trap_next) {
          window.trap_next = false;
          throw new WebAssembly.RuntimeError("unreachable");
        }
        return entry(...args);
      };
    };
  });

/** Waits for an answer that belongs to what the fields say. */
export async function answered(page) {
  await page.locator("vg-verdict section:not([data-state=none])").waitFor();
}

export async function open(open_in, options, use) {
  const opened = await open_in(options);
  try {
    await use(opened.page, opened.problems);
    assert.deepEqual(
      opened.problems.filter((problem) => !options?.allow?.test(problem)),
      [],
    );
  } finally {
    await opened.close();
  }
}

/** The bytes that the table shows, by term. */
export function table_bytes(page) {
  return page
    .locator("vg-breakdown-table tr[data-term]")
    .evaluateAll((rows) =>
      Object.fromEntries(
        rows.map((row) => [
          row.dataset.term,
          Number(row.querySelector("[data-bytes]").dataset.bytes),
        ]),
      ),
    );
}

export const verdict = (page) => page.locator("vg-verdict section");
export const field = (page, key) => page.locator(`[data-key=${key}]`);
export const input = (page, key) => field(page, key).locator("#control");
export const finding = (page, key) => field(page, key).locator(".finding");

/** The text of everything inside, whatever components it is made of. */
export const text_within = async (locator) =>
  (await locator.locator("p, li").allInnerTexts()).join("\n");

export async function screenshot(page, name, options = {}) {
  mkdirSync(kScreenshotDir, { recursive: true });
  await page.screenshot({ path: `${kScreenshotDir}${name}.png`, ...options });
}

/** Switches the language by its name in the header; its texts may have to be fetched. */
export async function choose_language(page, name, tag) {
  await page.getByRole("radio", { name }).check();
  await page.waitForFunction((wanted) => document.documentElement.lang === wanted, tag);
}
