// The program built with the CUDA toolkit: all that the plain one does, and computing on a device.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { device, with_machine } from "./device_machine.mjs";

const toolkit = process.env.VRAMGAUGE_TOOLKIT_PROGRAM;
const run = (program, args, env = process.env) => spawnSync(program, args, { encoding: "utf8", env, timeout: 60_000 });

test("it computes where there is a device, and says what the driver says where there is none", () => {
  const { status, stdout } = run(toolkit, ["calibrate", "device", "--json", "--tokens", "256"]);
  const answer = JSON.parse(stdout);
  if (status === 0) {
    assert.ok(answer.peak_bytes > 0 && answer.live_buffers > 0);
    return;
  }
  assert.equal(status, 3);
  assert.equal(answer.errors[0].code, "calibrate.failed");
});

test("everything else answers as the plain program does", () =>
  with_machine({ devices: [device(0)] }, (machine) => {
    for (const args of [["validate", "--json", "--model", "Qwen/Qwen3-8B"], ["probe", "--json", "--look-only"], ["estimate", "--json"]]) {
      const plain = machine.run(args);
      const other = run(toolkit, args, machine.environment());
      assert.deepEqual([other.status, other.stdout], [plain.status, plain.stdout], args[0]);
    }
  }));
