// The golden cases through the shipped module: what tests/golden/golden_test.cpp asks of the core.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { bundle_catalogue, new_session, repo_root } from "./shipped_module.mjs";

const session = await new_session(bundle_catalogue());
const folder = path.join(repo_root, "tests/golden/cases");

/** Everything expected must be there and equal; list elements are matched by id. */
function assert_holds(actual, expected, at) {
  if (Array.isArray(expected)) {
    expected.forEach((item, index) => {
      const found = item?.id === undefined ? actual[index] : actual.find(({ id }) => id === item.id);
      assert_holds(found, item, `${at}/${index}`);
    });
  } else if (expected !== null && typeof expected === "object") {
    for (const [key, value] of Object.entries(expected)) assert_holds(actual?.[key], value, `${at}/${key}`);
  } else {
    assert.strictEqual(actual, expected, at);
  }
}

for (const file of readdirSync(folder)) {
  const { name, request, response } = JSON.parse(readFileSync(path.join(folder, file), "utf8"));
  test(name, () => assert_holds(session.call(request.method, request.params), response, ""));
}
