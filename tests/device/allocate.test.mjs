// vramgauge validate --allocate: what is taken is what was predicted, never more than free minus the
// margin, and nothing is left behind, whatever happens.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { device, GIB, H100, MIB, with_machine } from "./device_machine.mjs";

const small = ["--model", "meta-llama/Llama-3.1-8B-Instruct", "--weight-format", "bf16", "--context-tokens", "8192",
  "--num-requests", "4"];
const allocate = ["validate", "--allocate", "--json"];
const GRANULE = 2 * MIB;
const room = H100.total_bytes - H100.reserved_bytes;
const rounded = (bytes) => Math.ceil(bytes / GRANULE) * GRANULE;

/** No allocation ever took from the margin. */
function assert_margin(ledger, margin_bytes) {
  assert.ok(ledger.allocations.length > 0);
  for (const { bytes, free_before } of ledger.allocations)
    assert.ok(rounded(bytes) <= free_before - margin_bytes, `${bytes} of ${free_before}`);
}

test("what is predicted is taken, touched and given back", () =>
  with_machine({ devices: [device(0)] }, (machine) => {
    const { status, stdout, stderr } = machine.run([...allocate, ...small]);
    assert.equal(status, 0, stderr);
    const { result } = JSON.parse(stdout);
    const [report] = result.allocation.devices;
    assert.equal(report.state, "complete");
    const ledger = machine.ledger();
    for (const stage of report.stages) {
      assert.equal(stage.planned_bytes, result.devices[0].terms[stage.term]);
      assert.equal(stage.allocated_bytes, stage.planned_bytes);
      // Each buffer is rounded up by less than a granule.
      assert.ok(stage.taken_bytes >= stage.planned_bytes && stage.taken_bytes < stage.planned_bytes + stage.num_buffers * GRANULE);
    }
    const asked = ledger.allocations.reduce((sum, entry) => sum + entry.bytes, 0);
    assert.equal(asked, ["weights", "kv_cache", "activations"].reduce((sum, term) => sum + result.devices[0].terms[term], 0));
    assert.equal([...ledger.touched.values()].reduce((sum, bytes) => sum + bytes, 0), asked);
    // 32 layers: 4 matrices of attention and 3 of the feed-forward each, embedding, output, norms; a cache per layer.
    assert.equal(report.stages[0].num_buffers, 32 * 7 + 3);
    assert.equal(report.stages[1].num_buffers, 32);
    assert.ok(ledger.is_empty());
    assert.equal(report.free_after_bytes, report.free_before_bytes);
    assert.match(stderr, /GPU 0: \d+ % of/);
  }));

test("llama.cpp takes a buffer per term", () =>
  with_machine({ devices: [device(0)] }, (machine) => {
    const { stdout } = machine.run([...allocate, ...small, "--engine", "llama_cpp"]);
    const [report] = JSON.parse(stdout).result.allocation.devices;
    assert.deepEqual(report.stages.map((stage) => stage.num_buffers), [1, 1, 1]);
    assert.ok(machine.ledger().is_empty());
  }));

test("a prediction beyond the card takes no more than free minus the margin", () =>
  with_machine({ devices: [device(0)] }, (machine) => {
    const { status, stdout } = machine.run([...allocate, "--margin-gib", "3"]);
    assert.equal(status, 1);
    assert.equal(JSON.parse(stdout).result.allocation.devices[0].state, "no_room");
    assert_margin(machine.ledger(), 3 * GIB);
    assert.ok(machine.ledger().is_empty());
  }));

test("memory that others take meanwhile is noticed before the next buffer", () =>
  with_machine({ devices: [device(0, { changes: [{ after_questions: 40, delta_bytes: room - 12 * GIB }] })] }, (machine) => {
    const { status, stdout } = machine.run([...allocate, ...small, "--margin-gib", "1"]);
    assert.equal(status, 2);
    const { result } = JSON.parse(stdout);
    assert.equal(result.allocation.devices[0].state, "no_room");
    assert_margin(machine.ledger(), GIB);
    assert.ok(machine.ledger().is_empty());
  }));

test("devices are filled at the same time, each by its own plan", () =>
  with_machine({ devices: [device(0), device(1)], faults: { cuMemsetD8_v2: { delay_ms: 2 } } }, (machine) => {
    const { status, stdout } = machine.run([...allocate, ...small, "--gpu-count", "2"]);
    assert.equal(status, 0);
    assert.deepEqual(JSON.parse(stdout).result.allocation.devices.map((entry) => entry.state), ["complete", "complete"]);
    const units = machine.ledger().allocations.map((entry) => entry.unit);
    const switches = units.filter((unit, i) => i > 0 && unit !== units[i - 1]).length;
    assert.ok(switches > 10, `${switches} changes between devices`);
    assert.ok(machine.ledger().is_empty());
  }));

const faults = [
  ["cuMemAlloc_v2", { status: 2, after_calls: 0 }, 1, "out_of_memory"],
  ["cuMemAlloc_v2", { status: 2, after_calls: 100 }, 1, "out_of_memory"],
  ["cuMemAlloc_v2", { status: 999, after_calls: 5 }, 3, "failed"],
  ["cuMemsetD8_v2", { status: 999, after_calls: 50 }, 3, "failed"],
  ["cuCtxSynchronize", { status: 999, after_calls: 7 }, 3, "failed"],
  ["cuMemGetInfo_v2", { status: 999, after_calls: 0 }, 3, "failed"],
  ["cuMemGetInfo_v2", { status: 999, after_calls: 30 }, 3, "failed"],
  ["cuDevicePrimaryCtxRetain", { status: 2, after_calls: 0 }, 1, "out_of_memory"],
  ["cuCtxSetCurrent", { status: 999, after_calls: 0 }, 3, "failed"],
  ["cuDeviceGet", { status: 999, after_calls: 1 }, 3, "failed"],
];
test("whichever call fails, and when, nothing is left behind", async () => {
  for (const [name, fault, code, state] of faults) {
    await with_machine({ devices: [device(0)], faults: { [name]: fault } }, (machine) => {
      const { status, stdout } = machine.run([...allocate, ...small]);
      const where = `${name} ${JSON.stringify(fault)}`;
      assert.equal(status, code, where);
      assert.equal(JSON.parse(stdout).result.allocation.devices[0].state, state, where);
      assert.ok(machine.ledger().is_empty(), where);
    });
  }
});

test("time runs out: everything is given back", () =>
  with_machine({ devices: [device(0)], faults: { cuMemsetD8_v2: { delay_ms: 50 } } }, (machine) => {
    const { status, stdout } = machine.run([...allocate, ...small, "--timeout-s", "1"]);
    assert.equal(status, 3);
    assert.equal(JSON.parse(stdout).result.allocation.devices[0].state, "timed_out");
    assert.ok(machine.ledger().is_empty());
  }));

test("a driver that does not come back does not hold the program", () =>
  with_machine({ devices: [device(0)], faults: { cuMemAlloc_v2: { delay_ms: 40_000, after_calls: 3 } } }, (machine) => {
    const started = Date.now();
    const { status, stderr } = machine.run([...allocate, ...small, "--timeout-s", "1"]);
    assert.equal(status, 3);
    assert.match(stderr, /does not come back/);
    assert.ok(Date.now() - started < 30_000);
  }));

/** Numbers that look random and are the same in each run. */
function* lottery(seed) {
  for (let state = seed; ; ) {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    yield state / 2 ** 31;
  }
}

/** Lines of progress show that memory is being taken. */
async function first_progress(child) {
  for await (const chunk of child.stderr) {
    if (/GPU 0: \d+ %/.test(String(chunk))) return;
  }
}

test("killed at 20 moments by SIGINT and SIGTERM, it leaves nothing behind", async () => {
  const draw = lottery(8);
  let caught = 0;
  const one = (index) =>
    with_machine({ devices: [device(0), device(1)], faults: { cuMemsetD8_v2: { delay_ms: 3 } } }, async (machine) => {
      const child = machine.start([...allocate, ...small, "--gpu-count", "2"]);
      child.stdout.resume();
      const ended = once(child, "exit");
      // Half of them anywhere in the run, half while memory is held.
      if (index % 2 === 1) await first_progress(child);
      child.stderr.resume();
      await sleep(draw.next().value * 600);
      child.kill(index % 4 < 2 ? "SIGINT" : "SIGTERM");
      const [code, signal] = await ended;
      const ledger = machine.ledger();
      assert.ok(ledger.is_empty(), `run ${index}: ${ledger.open.size} buffers`);
      // Before the driver is opened the signal ends the program by itself.
      if (signal !== null) assert.equal(ledger.allocations.length, 0);
      else assert.ok(code === 3 || code === 0, `run ${index}: ${code}`);
      if (code === 3 && ledger.allocations.length > 0) ++caught;
    });
  for (let index = 0; index < 20; index += 4) await Promise.all([0, 1, 2, 3].map((i) => one(index + i)));
  assert.ok(caught >= 8, `${caught} runs were stopped while they held memory`);
});
