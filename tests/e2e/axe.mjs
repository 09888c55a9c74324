/** Accessibility as axe-core judges it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe_source = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);

export async function assert_clean(page, state) {
  // The page's policy refuses injected scripts; evaluation through the debugger is not subject to it.
  await page.evaluate(axe_source);
  const violations = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map((node) => `${node.target.flat().join(" ")} ${node.failureSummary}`).join("\n")}`,
    );
  });
  assert.deepEqual(violations, [], state);
}
