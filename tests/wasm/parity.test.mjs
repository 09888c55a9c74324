// The command line and the shipped module answer with the same text, byte for byte; and a link means the same to both.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { scenarios } from "../parity/scenarios.mjs";
import { bundle_catalogue, new_session, native_dir } from "./shipped_module.mjs";

const program = path.join(native_dir, "core/tools/vramgauge");
const session = await new_session(bundle_catalogue());

function command_line(...args) {
  return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}

for (const scenario of scenarios) {
  test(`${scenario.model} ${scenario.context_tokens ?? "default"}`, () => {
    const expected = session.call_text("estimate", { scenario });
    assert.equal(JSON.parse(expected).ok, true, expected.slice(0, 500));
    assert.equal(command_line("call", "estimate", JSON.stringify({ scenario })), expected);
    const { fragment } = session.call("link_encode", { scenario }).result;
    assert.equal(command_line("estimate", fragment, "--json"), expected);
  });
}
