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

test("nothing moves while typing", async () => {
  await open(open_in, {}, async (page) => {
    await page.evaluate(() => scrollTo(0, 0));
    const places = () =>
      page.evaluate(() => {
        const deep = (root, found = []) => {
          for (const element of root.querySelectorAll("*")) {
            // What comes later stands below the remarks.
            if (element.matches("[data-part]")) continue;
            if (element.matches("label, input, select, table, tr, h2, svg.drawing, dl > div"))
              found.push(element);
            if (element.shadowRoot) deep(element.shadowRoot, found);
          }
          return found;
        };
        return deep(document).map((element) => {
          const { x, y } = element.getBoundingClientRect();
          return `${element.localName} ${Math.round(x)} ${Math.round(y)}`;
        });
      });
    const before = await places();
    for (const [key, texts] of [
      ["context_tokens", ["8", "8k", "8kk", "", "0", "128K", "999999999"]],
      ["num_requests", ["x", "1", "100000", "-1"]],
      ["gpu_count", ["2", "8", "8.5", "4096", "1"]],
    ]) {
      for (const text of texts) {
        await input(page, key).fill(text);
        const after = await places();
        // Remarks may appear below everything else; what was there stays where it was.
        assert.deepEqual(after.slice(0, before.length), before, `${key} = ${text}`);
      }
      await input(page, key).fill("");
    }
  });
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
