// vramgauge probe against machines that are not there.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { bare_library, device, GIB, H100, MIB, program, uuid, with_machine } from "./device_machine.mjs";

const two_cards = {
  devices: [
    device(0, { others: [{ pid: 4711, used_bytes: 3 * GIB + 1 }, { pid: 12, used_bytes: 5 * MIB, graphics: true }] }),
    device(1, { largest_bytes: 40 * GIB }),
  ],
  links: [{ a: 0, b: 1, nvlinks: 18, level: 50, has_peer_access: true }],
};

test("without a driver there is a clear message and exit code 3", () => {
  const env = { ...process.env, VRAMGAUGE_CUDA_LIBRARY: "/nowhere/libcuda.so.1" };
  for (const args of [["probe"], ["probe", "--json"]]) {
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", env });
    assert.equal(status, 3);
    assert.match(args.length === 1 ? stderr : stdout, /No NVIDIA driver was found on this machine/);
  }
});

test("a library that lacks calls is named, not crashed into", () => {
  const env = { ...process.env, VRAMGAUGE_CUDA_LIBRARY: bare_library };
  const { status, stdout } = spawnSync(program, ["probe", "--json"], { encoding: "utf8", env });
  assert.equal(status, 3);
  const { errors } = JSON.parse(stdout);
  assert.equal(errors[0].code, "driver.unusable");
  assert.match(errors[0].message, /has no cuDriverGetVersion/);
});

test("devices, memory, processes and links are reported as the driver states them", () =>
  with_machine(two_cards, (machine) => {
    const { status, stdout, stderr } = machine.run(["probe", "--json"]);
    assert.equal(stderr, "");
    assert.equal(status, 0);
    const probe = JSON.parse(stdout);
    assert.equal(probe.driver_version, "580.65.06");
    assert.equal(probe.cuda_version, "13.0");
    assert.equal(probe.visible_devices, null);
    const [first, second] = probe.devices;
    assert.equal(first.uuid, uuid("1"));
    assert.equal(first.name, H100.name);
    assert.equal(first.total_bytes, H100.total_bytes);
    assert.equal(first.usable_bytes, H100.usable_bytes);
    assert.equal(first.reserved_bytes, H100.reserved_bytes);
    assert.equal(first.free_bytes, H100.total_bytes - H100.reserved_bytes - 3 * GIB - 1 - 5 * MIB);
    assert.equal(first.compute_capability, "9.0");
    assert.equal(first.context_bytes, H100.context_bytes);
    assert.equal(first.granularity_bytes, 2 * MIB);
    assert.equal(first.ecc, "on");
    assert.equal(first.compute_mode, "default");
    assert.deepEqual(first.processes, [
      { pid: 4711, used_bytes: 3 * GIB + 1, kind: "compute" },
      { pid: 12, used_bytes: 5 * MIB, kind: "graphics" },
    ]);
    // Others use the first card, so it is left alone; the second gives 40 GiB at once and no more.
    assert.equal(first.largest_allocation_bytes, null);
    assert.ok(second.largest_allocation_bytes <= 40 * GIB);
    assert.ok(second.largest_allocation_bytes > 40 * GIB - 32 * MIB);
    assert.deepEqual(probe.links, [{ a: 0, b: 1, has_peer_access: true, nvlinks: 18, path: "between NUMA nodes" }]);
    assert.ok(machine.ledger().is_empty());
  }));

test("a look takes nothing", () =>
  with_machine(two_cards, (machine) => {
    const { status, stdout } = machine.run(["probe", "--json", "--look-only"]);
    assert.equal(status, 0);
    const [first] = JSON.parse(stdout).devices;
    assert.equal(first.context_bytes, null);
    assert.equal(first.is_free_before_context, true);
    assert.equal(machine.ledger().contexts.size, 0);
  }));

test("CUDA_VISIBLE_DEVICES is respected, by number, by name and when it hides everything", () =>
  with_machine(two_cards, (machine) => {
    const only = (value) => machine.run(["probe", "--json"], { CUDA_VISIBLE_DEVICES: value });
    for (const value of ["1", uuid("2")]) {
      const probe = JSON.parse(only(value).stdout);
      assert.equal(probe.visible_devices, value);
      assert.deepEqual(probe.devices.map((entry) => entry.uuid), [uuid("2")]);
    }
    const hidden = only("");
    assert.equal(hidden.status, 3);
    assert.match(hidden.stdout, /CUDA_VISIBLE_DEVICES is \\"\\"/);
  }));

const slice = (digit) => ({
  name: "NVIDIA H100 80GB HBM3 MIG 3g.40gb",
  uuid: uuid(digit).replace("GPU", "MIG"),
  total_bytes: 42278584320,
  usable_bytes: 42278584320,
  reserved_bytes: 0,
  context_bytes: 300 * MIB,
});

test("a MIG slice is measured as what it is", () =>
  with_machine({ devices: [device(0, { slices: [slice("a"), slice("b")] })] }, (machine) => {
    const first = JSON.parse(machine.run(["probe", "--json"]).stdout).devices[0];
    assert.equal(first.uuid, slice("a").uuid);
    assert.equal(first.is_mig_slice, true);
    assert.equal(first.mig_mode, "on");
    assert.equal(first.free_bytes, 42278584320);
    assert.deepEqual(first.mig_slices.map((entry) => entry.uuid), [slice("a").uuid, slice("b").uuid]);
    const chosen = JSON.parse(machine.run(["probe", "--json"], { CUDA_VISIBLE_DEVICES: slice("b").uuid }).stdout);
    assert.deepEqual(chosen.devices.map((entry) => entry.uuid), [slice("b").uuid]);
  }));

test("without NVML the device itself is asked, and that is said", () =>
  with_machine({ devices: [device(0)] }, (machine) => {
    const { status, stdout, stderr } = machine.run(["probe", "--json"], { VRAMGAUGE_NVML_LIBRARY: "/nowhere" });
    assert.equal(status, 0);
    assert.match(stderr, /NVML was not found/);
    const [first] = JSON.parse(stdout).devices;
    assert.equal(first.is_free_before_context, false);
    assert.equal(first.free_bytes, H100.total_bytes - H100.reserved_bytes - H100.context_bytes);
    assert.equal(first.total_bytes, H100.usable_bytes);
  }));

test("memory shared with the host is asked of CUDA", () =>
  with_machine({ devices: [device(0, { name: "NVIDIA GB10", is_integrated: true, total_bytes: 128 * GIB, usable_bytes: 121 * GIB })] },
    (machine) => {
      const [first] = JSON.parse(machine.run(["probe", "--json"]).stdout).devices;
      assert.equal(first.is_integrated, true);
      assert.equal(first.is_free_before_context, false);
    }));

const functions = (name) => readFileSync(new URL(`../../core/tools/driver_${name}.def`, import.meta.url), "utf8")
  .match(/^X\(\w+, (\w+)/gm).map((line) => line.split(", ")[1]);

test("whichever call fails, the probe ends, says so, and holds nothing", async () => {
  for (const name of [...functions("cuda"), ...functions("nvml")]) {
    // The name of an error is asked only for an error.
    if (name === "cuGetErrorName" || name === "nvmlShutdown") continue;
    await with_machine({ ...two_cards, faults: { [name]: { status: 999 } } }, (machine) => {
      const { status, signal, stdout, stderr } = machine.run(["probe"]);
      assert.equal(signal, null, name);
      assert.ok(status === 0 || status === 3, `${name}: ${status}`);
      assert.match(status === 0 ? stdout : stderr, status === 0 ? /^Driver / : /^error: /, name);
      if (!["cuMemFree_v2", "cuDevicePrimaryCtxRelease_v2"].includes(name)) assert.ok(machine.ledger().is_empty(), name);
    });
  }
});

test("a saved probe takes the place of the catalogue's GPU", () =>
  with_machine({ devices: [device(0, { usable_bytes: 84000000000 })] }, (machine) => {
    const file = machine.path("probe.json");
    writeFileSync(file, machine.run(["probe", "--json"]).stdout);
    const { status, stdout } = machine.run(["estimate", "--json", "--hardware", file]);
    assert.equal(status, 0);
    const [first] = JSON.parse(stdout).result.devices;
    assert.equal(first.name, H100.name);
    assert.equal(first.capacity_bytes, H100.total_bytes);
    assert.equal(first.usable_bytes, 84000000000);
    // What is not measured stays as the catalogue has it: bandwidth in GB/s.
    assert.equal(JSON.parse(readFileSync(file, "utf8")).gpus[0].bandwidth_gb_s, 3350);
  }));

test("a file that is no probe is refused", () =>
  with_machine({ devices: [device(0)] }, (machine) => {
    for (const text of ["{}", "[]", '{"gpus":[{"id":1}]}', "not JSON"]) {
      const file = machine.path("probe.json");
      writeFileSync(file, text);
      assert.equal(machine.run(["estimate", "--hardware", file]).status, 64, text);
    }
  }));

test("people read the same", () =>
  with_machine(two_cards, (machine) => {
    const { status, stdout } = machine.run(["probe"]);
    assert.equal(status, 0);
    assert.match(stdout, /^Driver 580\.65\.06, CUDA 13\.0, NVML 13\.580\.65\.06/);
    assert.match(stdout, /GPU 0: NVIDIA H100 80GB HBM3/);
    assert.match(stdout, /GPU 0 - GPU 1: 18 NVLinks, between NUMA nodes, peer access/);
  }));

