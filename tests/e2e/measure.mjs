/**
 * How long the page takes; prints, and judges nothing:
 *   node measure.mjs [CPU slowdown, 4 unless given]
 * First visit: from the request to an answer on the page. Typing: from a key to the end of the frame
 * that shows verdict, bars, table and charts of the new number.
 */
import { chromium } from "playwright-core";
import { serve } from "../../web/serve.mjs";
import { kSiteDir } from "./harness.mjs";

const kVisits = 5;
const kKeys = 60;
const kSlowdown = Number(process.argv[2] ?? 4);

/** In the page: notes when the first answer stands. */
function watch_answer() {
  const look = () => {
    const calculator = document.querySelector("vg-app")?.shadowRoot?.querySelector("vg-calculator");
    const verdict = calculator?.shadowRoot?.querySelector("vg-verdict")?.shadowRoot;
    if (verdict?.querySelector("section:not([data-state=none])")) window.answer_ms = performance.now();
    else requestAnimationFrame(look);
  };
  look();
}

/** In the page: types numbers one after the other; resolves to the milliseconds of each. */
async function type_numbers([input, count]) {
  const frame_end = () =>
    new Promise((done) =>
      requestAnimationFrame(() => {
        // Charts are drawn in the frame after the change.
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = done;
          port2.postMessage(0);
        });
      }),
    );
  const times = [];
  for (let i = 0; i < count; ++i) {
    await new Promise((done) => setTimeout(done, 60));
    const start = performance.now();
    input.value = String(4096 + 512 * i);
    input.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true }));
    await frame_end();
    times.push(performance.now() - start);
  }
  return times;
}

const quantile = (values, part) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))];
const print = (what, values) =>
  console.log(
    `${what}: median ${quantile(values, 0.5).toFixed(0)} ms, 95th percentile ${quantile(values, 0.95).toFixed(0)} ms (${values.length} times)`,
  );

async function open(browser, address, slowdown) {
  const context = await browser.newContext({
    viewport: { width: 1320, height: 1400 },
    serviceWorkers: "block",
  });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  await page.addInitScript(watch_answer);
  await page.goto(address);
  await page.waitForFunction(() => window.answer_ms !== undefined);
  return { page, context };
}

const server = await serve({ root: kSiteDir });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const visits = [];
for (let i = 0; i < kVisits; ++i) {
  const { page, context } = await open(browser, server.address, kSlowdown);
  visits.push(await page.evaluate(() => window.answer_ms));
  await context.close();
}
print(`first visit, CPU slowed ${kSlowdown} times`, visits);
for (const slowdown of new Set([1, kSlowdown])) {
  const { page, context } = await open(browser, server.address, slowdown);
  await page.locator("vg-heat-map").scrollIntoViewIfNeeded();
  await page.locator("vg-heat-map svg[role=group]").waitFor();
  const input = await page.locator("[data-key=context_tokens] #control").elementHandle();
  const times = await page.evaluate(type_numbers, [input, kKeys]);
  print(`typing, CPU slowed ${slowdown} times`, times);
  await context.close();
}
await browser.close();
await server.stop();
