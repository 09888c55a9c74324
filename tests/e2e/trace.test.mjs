/** Every number can be traced on the page itself: to a formula, the same with its numbers, and a source. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assert_clean } from "./axe.mjs";
import { browser_tests, open, screenshot, verdict } from "./harness.mjs";

const open_in = browser_tests();

/** One scenario of each family of engines, and one whose terms are of several kinds. */
const kScenarios = {
  "rule of thumb": "",
  "rule of thumb, sliding window": "#v=1&model=google/gemma-3-27b-it&gpu_count=2",
  vllm: "#v=1&engine=vllm&weight_format=auto&gpu_count=4&context_tokens=32768&num_requests=8&tensor_ranks=4",
  llama_cpp: "#v=1&engine=llama_cpp&model=Qwen/Qwen3-8B&context_tokens=32768",
  sglang: "#v=1&engine=sglang&weight_format=auto&gpu_count=4&tensor_ranks=4&context_tokens=32768",
  tensorrt_llm: "#v=1&engine=tensorrt_llm&weight_format=auto&gpu_count=4&tensor_ranks=4",
  transformers: "#v=1&engine=transformers&model=Qwen/Qwen3-8B&weight_format=auto&context_tokens=8192",
};

const bytes_of = (text) => Number(/-?[\d,]+(?=\sB$)/.exec(text.trim())[0].replaceAll(",", ""));

/** What a derivation says. */
const derivation = (place) =>
  place.evaluate((element) => {
    const texts = (selector) =>
      [...element.shadowRoot.querySelectorAll(selector)].map((found) => found.textContent.trim());
    return { formulas: texts(".formula"), numbers: texts(".numbers"), sources: texts(".source") };
  });

function assert_derived({ formulas, sources }, what) {
  assert.ok(formulas.length > 0 && formulas.every((text) => text !== ""), `${what} has no formula`);
  // "Source: " and something behind it.
  assert.ok(sources.every((text) => /^Source: ..+/.test(text)) && sources.length === 1, `${what}: ${sources}`);
  assert.ok(![...formulas, ...sources].some((text) => /how\.|_how|\{\w+\}/.test(text)), `${what}: ${formulas} ${sources}`);
}

for (const [name, hash] of Object.entries(kScenarios)) {
  test(`every term opens to its formula, its numbers and its source: ${name}`, async () => {
    await open(open_in, { hash }, async (page) => {
      const rows = page.locator("vg-breakdown-table tr[data-term]");
      const terms = await rows.evaluateAll((found) => found.map((row) => row.dataset.term));
      assert.equal(terms.at(-1), "total");
      for (const term of terms) {
        const row = page.locator(`vg-breakdown-table tr[data-term=${term}]`);
        const opener = row.getByRole("button");
        if ((await opener.getAttribute("aria-expanded")) === "false") await opener.click();
        const said = page.locator(`vg-breakdown-table #detail-${term} vg-arithmetic`);
        const bytes = Number(await row.locator("[data-bytes]").getAttribute("data-bytes"));
        const lines = await said.locator("dd:not(.formula)").allInnerTexts();
        if (bytes > 0) {
          assert.ok(lines.length > 0, `${term} has no arithmetic`);
          assert.ok((await said.locator(".formula").allInnerTexts()).every((text) => text !== ""));
          assert.match(await said.locator(".source").innerText(), /^Source: ..+/, term);
        }
        if (term === "total") {
          const [needed, usable, margin] = lines.map((line) => bytes_of(line));
          assert.equal(needed, bytes);
          assert.equal(usable - needed, margin);
        }
      }
    });
  });

  test(`every solved answer has its formula and its source: ${name}`, async () => {
    await open(open_in, { hash }, async (page) => {
      const answers = await page.locator("vg-answers dl > [data-answer]").count();
      const said = await derivation(page.locator("vg-answers vg-derivation"));
      assert_derived(said, "answers");
      assert.equal(said.formulas.length, answers);
      await page.locator("[data-part=inverse]").scrollIntoViewIfNeeded();
      const rows = page.locator("vg-inverse li");
      await rows.first().waitFor();
      const proof = await derivation(page.locator("vg-inverse vg-derivation"));
      assert_derived(proof, "solved");
      assert.equal(proof.formulas.length, await rows.count());
      // "46,514: 85,018,767,917 B ≤ 85,019,590,656 B; 46,515: 85,020,520,653 B > 85,019,590,656 B"
      const compared = [...proof.numbers.join("; ").matchAll(/: ([\d,]+)\sB ([≤>]) ([\d,]+)\sB/g)];
      assert.ok(compared.length > 0, proof.numbers.join());
      for (const [, needed, sign, usable] of compared) {
        const [a, b] = [needed, usable].map((text) => Number(text.replaceAll(",", "")));
        assert.equal(a <= b, sign === "≤", proof.numbers.join());
      }
    });
  });
}

test("every part below the answer says how its figures come about", async () => {
  await open(open_in, {}, async (page) => {
    for (const [part, ready] of [
      ["levers", "[data-lever]"],
      ["charts", "vg-context-chart .place > svg"],
      ["compare", "button"],
      ["finder", "tbody tr"],
      ["traffic", "tbody tr"],
      ["speed", "[data-figure]"],
    ]) {
      const place = page.locator(`[data-part=${part}]`);
      await place.scrollIntoViewIfNeeded();
      await place.locator(ready).first().waitFor();
      if (part === "compare") await place.getByRole("button").first().click();
      const told = place.locator("vg-derivation");
      await told.first().waitFor({ state: "attached" });
      for (let i = 0; i < (await told.count()); ++i) assert_derived(await derivation(told.nth(i)), part);
    }
    await page.locator("vg-speed vg-derivation summary").click();
    assert.match(await page.locator("vg-speed vg-derivation .source").innerText(), /3,350 GB\/s/);
    await assert_clean(page, "traced");
  });
});

test("the verdict's numbers are those of the opened total", async () => {
  await open(open_in, {}, async (page) => {
    await page.locator("vg-breakdown-table tr[data-term=total]").getByRole("button").click();
    const [needed, usable, margin] = await page
      .locator("vg-breakdown-table #detail-total dd:not(.formula)")
      .allInnerTexts();
    const gib = (text) => (Math.abs(bytes_of(text)) / 2 ** 30).toFixed(1);
    assert.match(await verdict(page).innerText(), new RegExp(`${gib(margin)}\\sGiB short[^]*Needs ${gib(needed)}\\sGiB of ${gib(usable)}\\sGiB`));
    await page.locator("vg-answers vg-derivation summary").click();
    await screenshot(page, "traced", { fullPage: true });
  });
});
