import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("site and one-file page keep their budgets", (context) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL("../../web/scripts/size.mjs", import.meta.url))],
    { encoding: "utf8" },
  );
  context.diagnostic(stdout);
  assert.equal(status, 0, stdout + stderr);
});
