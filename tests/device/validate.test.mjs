// vramgauge validate against machines that are not there: verdicts and exit codes.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { device, GIB, H100, MIB, with_machine } from "./device_machine.mjs";

const small = ["--model", "meta-llama/Llama-3.1-8B-Instruct", "--weight-format", "bf16", "--context-tokens", "8192",
  "--num-requests", "4"];
const room = H100.total_bytes - H100.reserved_bytes;

/** A card on which so many bytes are free. */
const card_with = (free_bytes) => ({ devices: [device(0, { others: [{ pid: 7, used_bytes: room - free_bytes }] })] });

const validate = (machine, args, more) => {
  const { status, stdout, stderr } = machine.run(["validate", "--json", ...args], more);
  return { status, stderr, ...JSON.parse(stdout) };
};

/** What the facade predicts for one card. */
async function prediction(args) {
  let total;
  await with_machine(card_with(room), (machine) => {
    total = JSON.parse(machine.run(["estimate", "--json", ...args]).stdout).result.devices[0].total;
  });
  return total;
}

test("the line between fits, tight and does not fit runs where the prediction says, to the byte", async () => {
  const { bytes, high_bytes } = await prediction(small);
  assert.ok(bytes < high_bytes);
  for (const [free, state, code] of [[high_bytes, "fits", 0], [high_bytes - 1, "tight", 2], [bytes, "tight", 2],
    [bytes - 1, "does_not_fit", 1]]) {
    await with_machine(card_with(free), (machine) => {
      const { status, ok, result } = validate(machine, small);
      assert.ok(ok);
      assert.equal(result.verdict.state, state, `${free} free`);
      assert.equal(status, code);
      assert.equal(result.verdict.margin_bytes, free - bytes);
      assert.equal(result.devices[0].free_bytes, free);
      // A look only: nothing is taken.
      assert.equal(machine.ledger().contexts.size, 0);
    });
  }
});

test("an engine's own share of the card counts, however much is free", () =>
  with_machine(card_with(room), (machine) => {
    const { status, result } = validate(machine, [...small, "--gpu-memory-utilization-frac", "0.2"]);
    assert.equal(status, 1);
    assert.ok(result.devices[0].available_bytes < result.devices[0].free_bytes);
  }));

test("each rank is held against its own device, and the worst decides", () =>
  with_machine({ devices: [device(0), device(1, { others: [{ pid: 7, used_bytes: room - GIB }] })] }, (machine) => {
    const { status, result } = validate(machine, [...small, "--gpu-count", "2"]);
    assert.equal(status, 1);
    assert.deepEqual(result.devices.map((entry) => entry.state), ["fits", "does_not_fit"]);
    assert.equal(result.verdict.worst_device, 1);
  }));

test("more GPUs than the machine shows: no verdict, and that is said", () =>
  with_machine({ devices: [device(0), device(1)] }, (machine) => {
    const { status, errors } = validate(machine, [...small, "--gpu-count", "2"], { CUDA_VISIBLE_DEVICES: "1" });
    assert.equal(status, 3);
    assert.equal(errors[0].code, "validate.too_few_devices");
    assert.match(errors[0].message, /uses 2 GPUs; this machine shows 1/);
  }));

test("a saved machine is judged as it was measured", () =>
  with_machine(card_with(room), (machine) => {
    const file = machine.path("probe.json");
    writeFileSync(file, machine.run(["probe", "--json"]).stdout);
    const none = { VRAMGAUGE_CUDA_LIBRARY: "/nowhere" };
    assert.equal(validate(machine, [...small, "--hardware", file], none).status, 0);
    assert.equal(validate(machine, ["--hardware", file], none).status, 1);
    assert.equal(machine.run(["validate", "--hardware", file, "--allocate"], none).status, 64);
  }));

test("links, files and flags are read as everywhere; what cannot be told is 3, wrong usage 64", () =>
  with_machine(card_with(room), (machine) => {
    const file = machine.path("scenario.json");
    writeFileSync(file, JSON.stringify({ model: "meta-llama/Llama-3.1-8B-Instruct", context_tokens: 8192 }));
    assert.equal(machine.run(["validate", "--scenario", file]).status, 0);
    assert.equal(machine.run(["validate", "v=1&model=meta-llama/Llama-3.3-70B-Instruct&num_requests=4"]).status, 1);
    assert.equal(machine.run(["validate", "--model", "no such model"]).status, 3);
    assert.equal(machine.run(["validate", "--no-such-flag"]).status, 64);
    assert.equal(machine.run(["validate", "--scenario", machine.path("none")]).status, 64);
    assert.equal(machine.run(["validate", "--allocate", "--margin-gib", "-1"]).status, 64);
    assert.equal(machine.run(["validate", ...small], { VRAMGAUGE_CUDA_LIBRARY: "/nowhere" }).status, 3);
  }));

test("people read the verdict first", () =>
  with_machine(card_with(room), (machine) => {
    assert.match(machine.run(["validate", ...small]).stdout, /^Fits: \d+\.\d\d GiB left\nGPU 0: NVIDIA H100 80GB HBM3\n/);
    assert.match(machine.run(["validate"]).stdout, /^Does not fit: \d+\.\d\d GiB short\n/);
  }));

test("llama.cpp's host memory is this machine's unless it is given", () =>
  with_machine(card_with(room), (machine) => {
    const args = ["--engine", "llama_cpp", "--model", "qwen3 30b a3b", "--cpu-moe-layers", "20", "--num-requests", "1"];
    const host = (result) => result.devices.find((entry) => entry.index === null);
    assert.ok(host(validate(machine, args).result).available_bytes > 100 * MIB);
    const given = validate(machine, [...args, "--host-ram-gib", "1"]);
    assert.equal(host(given.result).available_bytes, GIB);
    assert.equal(given.status, 1);
  }));
