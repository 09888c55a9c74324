// Runs the program against a stand-in machine, and reads what the machine saw.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export const MIB = 2 ** 20;
export const GIB = 2 ** 30;

function from_environment(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; these tests are run by ctest`);
  return value;
}

export const program = from_environment("VRAMGAUGE_PROGRAM");
export const library = from_environment("VRAMGAUGE_STAND_IN_LIBRARY");
export const bare_library = from_environment("VRAMGAUGE_BARE_LIBRARY");

/** The memory of an H100 80GB HBM3 by its driver and by CUDA: presets/gpus.json. */
export const H100 = {
  name: "NVIDIA H100 80GB HBM3",
  total_bytes: 85520809984,
  usable_bytes: 85019590656,
  reserved_bytes: 501219328,
  context_bytes: 520 * MIB,
  capability_major: 9,
  capability_minor: 0,
};

export function uuid(digit) {
  return `GPU-${digit.repeat(8)}-${digit.repeat(4)}-${digit.repeat(4)}-${digit.repeat(4)}-${digit.repeat(12)}`;
}

/** A device of the stand-in; what is not given is as on an H100. */
export function device(index, given = {}) {
  return { ...H100, uuid: uuid(String(index + 1)), bus_id: `00000000:${10 + index}:00.0`, ...given };
}

/** A stand-in machine in a folder of its own. */
export class Machine {
  constructor(description) {
    this.folder = mkdtempSync(path.join(tmpdir(), "vramgauge-device-"));
    this.file = path.join(this.folder, "machine.json");
    this.ledger_file = path.join(this.folder, "ledger.txt");
    writeFileSync(this.file, JSON.stringify(description));
  }

  environment(more = {}) {
    const env = { ...process.env, VRAMGAUGE_CUDA_LIBRARY: library, VRAMGAUGE_NVML_LIBRARY: library,
      VRAMGAUGE_STAND_IN: this.file, VRAMGAUGE_STAND_IN_LEDGER: this.ledger_file, ...more };
    if (!("CUDA_VISIBLE_DEVICES" in more)) delete env.CUDA_VISIBLE_DEVICES;
    return env;
  }

  run(args, more = {}) {
    const { status, signal, stdout, stderr } = spawnSync(program, args,
      { encoding: "utf8", env: this.environment(more), timeout: 60_000, maxBuffer: 64 * MIB });
    return { status, signal, stdout, stderr };
  }

  start(args, more = {}) {
    return spawn(program, args, { env: this.environment(more), stdio: ["ignore", "pipe", "pipe"] });
  }

  path(name) {
    return path.join(this.folder, name);
  }

  ledger() {
    return new Ledger(existsSync(this.ledger_file) ? readFileSync(this.ledger_file, "utf8") : "");
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What the machine saw of the program: allocations, touches, releases, contexts. */
export class Ledger {
  constructor(text) {
    this.allocations = [];
    this.open = new Map();
    this.contexts = new Map();
    this.touched = new Map();
    for (const line of text.split("\n").filter(Boolean)) this.add(line.split(" "));
  }

  add([what, unit, address, bytes, , free, , held]) {
    if (what === "allocate") {
      const entry = { unit: Number(unit), bytes: Number(bytes), free_before: Number(free), held: Number(held) };
      this.allocations.push(entry);
      this.open.set(address, entry);
    }
    if (what === "touch") this.touched.set(address, (this.touched.get(address) ?? 0) + Number(bytes));
    if (what === "release") this.open.delete(address);
    if (what === "retain") this.contexts.set(unit, (this.contexts.get(unit) ?? 0) + 1);
    if (what === "leave") this.contexts.set(unit, this.contexts.get(unit) - 1);
  }

  /** Nothing is held on any device. */
  is_empty() {
    return this.open.size === 0 && [...this.contexts.values()].every((count) => count === 0);
  }
}

/** Runs `body` with a machine and removes it afterwards. */
export async function with_machine(description, body) {
  const machine = new Machine(description);
  try {
    await body(machine);
  } finally {
    machine.remove();
  }
}
