import assert from "node:assert/strict";
import { test } from "node:test";
import {
  answered,
  browser_tests,
  choose_language,
  field,
  finding,
  input,
  kLlamaTokenBytes,
  open,
  table_bytes,
  verdict,
} from "./harness.mjs";

const open_in = browser_tests();

test("numbers may be typed as 8k, 128K, 1M and 65,536", async () => {
  await open(open_in, {}, async (page) => {
    const context = input(page, "context_tokens");
    for (const [text, tokens] of [
      ["8k", 8192],
      ["128K", 131_072],
      ["1M", 1_048_576],
      ["65,536", 65_536],
      ["1.5k", 1536],
      ["８ｋ", 8192],
    ]) {
      await context.fill(text);
      assert.equal((await table_bytes(page)).kv_cache, kLlamaTokenBytes * tokens * 2, text);
    }
  });
});

test("the focused field is never rewritten; on leaving it shows the settled form", async () => {
  await open(open_in, {}, async (page) => {
    const context = input(page, "context_tokens");
    await context.fill("");
    await context.pressSequentially("8192");
    assert.equal(await context.inputValue(), "8192");
    assert.equal(await field(page, "context_tokens").locator(".note").innerText(), "8,192 tokens");
    await page.evaluate(() => (location.hash = "#v=1&context_tokens=4096"));
    await page.waitForFunction(() => location.hash.includes("4096"));
    assert.equal(await context.inputValue(), "8192");
    await context.blur();
    assert.equal(await context.inputValue(), "4K");
  });
});

test("an emptied field goes back to its default", async () => {
  await open(open_in, { hash: "#v=1&num_requests=5" }, async (page) => {
    const requests = input(page, "num_requests");
    assert.equal(await requests.inputValue(), "5");
    await requests.fill("");
    await requests.blur();
    assert.equal(await requests.inputValue(), "2");
    assert.equal((await table_bytes(page)).kv_cache, kLlamaTokenBytes * 65_536 * 2);
  });
});

test("what is no number is said beside the field, and the old answer is marked", async () => {
  await open(open_in, {}, async (page) => {
    const requests = input(page, "num_requests");
    await requests.fill("many");
    assert.match(await finding(page, "num_requests").innerText(), /“many” is not a number/);
    assert.equal(await requests.getAttribute("aria-invalid"), "true");
    assert.equal(await verdict(page).getAttribute("data-state"), "none");
    assert.equal(await page.locator("vg-breakdown-table table").getAttribute("data-stale"), "");
    await requests.fill("3");
    await answered(page);
    assert.equal(await finding(page, "num_requests").innerText(), "");
    assert.equal(await page.locator("vg-breakdown-table table").getAttribute("data-stale"), null);
  });
});

test("a value out of range is said beside the field, in both languages", async () => {
  await open(open_in, {}, async (page) => {
    await input(page, "gpu_count").fill("0");
    assert.match(
      await finding(page, "gpu_count").innerText(),
      /^Count is 0; it must be between 1 and/,
    );
    await choose_language(page, "中文", "zh-CN");
    assert.match(await finding(page, "gpu_count").innerText(), /^数量 为 0，应在 1 到/);
  });
});

/** Where everything stands that a reader may be looking at, and each part that is loaded later. */
const places = (page) =>
  page.evaluate(() => {
    const deep = (root, found = []) => {
      for (const element of root.querySelectorAll("*")) {
        const is_part = element.matches("[data-part]");
        if (is_part || element.matches("label, input, select, table, tr, h2, svg.drawing, dl > div"))
          found.push(element);
        // A part may answer with more or fewer rows within its own place.
        if (element.shadowRoot && !is_part) deep(element.shadowRoot, found);
      }
      return found;
    };
    return deep(document).map((element) => {
      const { x, y } = element.getBoundingClientRect();
      return `${element.localName} ${element.dataset.part ?? element.id} ${Math.round(x)} ${Math.round(y)}`;
    });
  });

/** Everything of the form is there, and what is near the view has its answer. */
async function settled(page) {
  await page.locator("vg-inputs .advanced vg-number-field").first().waitFor({ state: "attached" });
  await page.waitForTimeout(kPlanMs);
}

/** Longer than a plan waits for the fields to rest, and takes. */
const kPlanMs = 500;

for (const [name, viewport] of [
  ["wide", { width: 1320, height: 900 }],
  ["narrow", { width: 390, height: 844 }],
]) {
  test(`nothing moves while typing, also when a remark comes or goes: ${name}`, async () => {
    await open(open_in, { viewport }, async (page) => {
      await settled(page);
      await page.evaluate(() => scrollTo(0, 0));
      const remarks = page.locator("vg-remarks li");
      const counts = new Set();
      const before = await places(page);
      for (const [key, texts] of [
        ["context_tokens", ["8", "8k", "8kk", "", "0", "128K", "999999999"]],
        ["num_requests", ["x", "1", "100000", "-1"]],
        ["gpu_count", ["2", "8", "8.5", "4096", "1"]],
      ]) {
        for (const text of texts) {
          await input(page, key).fill(text);
          await page.evaluate(() => scrollTo(0, 0));
          assert.deepEqual(await places(page), before, `${key} = ${text}`);
          await settled(page);
          assert.deepEqual(await places(page), before, `${key} = ${text}, planned`);
          counts.add(await remarks.count());
        }
        await input(page, key).fill("");
      }
      // The longest verdict stays within its own place.
      for (const gpu_count of ["2", "1"]) {
        await input(page, "gpu_count").fill(gpu_count);
        const [inner, outer] = await page.locator("vg-verdict").evaluate((element) => [
          element.shadowRoot.querySelector("section").scrollHeight,
          element.clientHeight,
        ]);
        assert.ok(inner <= outer, `the verdict has ${inner} px in ${outer}`);
      }
      assert.ok(counts.has(0) && counts.size > 1, `remarks came and went: ${[...counts]}`);
    });
  });
}

test("remarks stand on a line of their own, and open over what follows", async () => {
  const hash = "#v=1&engine=vllm&model=google/gemma-3-27b-it&context_tokens=262144";
  for (const viewport of [
    { width: 1320, height: 900 },
    { width: 320, height: 640 },
  ]) {
    await open(open_in, { hash, viewport }, async (page) => {
      await settled(page);
      const remarks = page.locator("vg-remarks");
      const before = await places(page);
      await remarks.getByRole("button").click();
      assert.deepEqual(await places(page), before);
      const beyond = remarks.locator("li", { hasText: "262,144" });
      await beyond.waitFor();
      const box = await beyond.boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= viewport.width, JSON.stringify(box));
      await page.keyboard.press("Escape");
      assert.equal(await remarks.getByRole("button").getAttribute("aria-expanded"), "false");
    });
  }
});

test("a custom GPU asks for its memory", async () => {
  await open(open_in, {}, async (page) => {
    assert.equal(await field(page, "gpu_memory_gib").count(), 0);
    await input(page, "gpu").click();
    await input(page, "gpu").fill("custom");
    await page.keyboard.press("Enter");
    await input(page, "gpu_memory_gib").fill("141");
    await answered(page);
    assert.equal(await verdict(page).getAttribute("data-state"), "fits");
  });
});
