// The examples start what fits and nothing else; the device check runs against a stand-in.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { device, program, with_machine } from "./device_machine.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const examples = path.join(here, "../../core/tools/examples");
const fits = "v=1&model=meta-llama/Llama-3.1-8B-Instruct&context_tokens=4096";
const too_large = "v=1&num_requests=64";

function run(machine, script, args, more) {
  const env = machine.environment({ PATH: `${path.dirname(program)}:${process.env.PATH}`, ...more });
  const { status, stdout, stderr } = spawnSync("bash", [script, ...args], { encoding: "utf8", env, timeout: 120_000 });
  return { status, stdout, stderr };
}

test("scripts are sound", () => {
  for (const script of [path.join(examples, "container_entrypoint.sh"), path.join(examples, "slurm_task_prolog.sh"), path.join(here, "run")]) {
    const { status, stderr } = spawnSync("bash", ["-n", script], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    assert.match(readFileSync(script, "utf8"), /^set -euo pipefail$/m);
  }
});

test("the entry point of a container starts the engine where it fits, and nowhere else", () =>
  with_machine({ devices: [device(0)] }, (machine) => {
    const script = path.join(examples, "container_entrypoint.sh");
    const started = run(machine, script, ["echo", "engine started"], { VRAMGAUGE_SCENARIO: fits });
    assert.deepEqual([started.status, started.stdout], [0, "engine started\n"]);
    const refused = run(machine, script, ["echo", "engine started"], { VRAMGAUGE_SCENARIO: too_large });
    assert.deepEqual([refused.status, refused.stdout], [1, ""]);
    assert.match(refused.stderr, /Does not fit/);
  }));

test("a Slurm job is ended only by a clear no", () =>
  with_machine({ devices: [device(0)] }, (machine) => {
    const script = path.join(examples, "slurm_task_prolog.sh");
    assert.deepEqual(run(machine, script, [], {}).stdout, "");
    assert.equal(run(machine, script, [], { VRAMGAUGE_SCENARIO: fits }).status, 0);
    const refused = run(machine, script, [], { VRAMGAUGE_SCENARIO: too_large });
    assert.equal(refused.status, 1);
    assert.match(refused.stdout, /^print vramgauge: Does not fit/);
    assert.equal(run(machine, script, [], { VRAMGAUGE_SCENARIO: fits, VRAMGAUGE_CUDA_LIBRARY: "/nowhere" }).status, 0);
  }));

test("the init container asks with flags that exist", () =>
  with_machine({ devices: [device(0)] }, (machine) => {
    const pod = JSON.parse(readFileSync(path.join(examples, "init_container.json"), "utf8"));
    const [container] = pod.spec.initContainers;
    assert.equal(container.command[0], "vramgauge");
    assert.equal(machine.run([...container.command.slice(1), ...container.args]).status, 0);
  }));

test("the check for real devices holds on a stand-in", () =>
  with_machine({ devices: [device(0)], faults: { cuMemsetD8_v2: { delay_ms: 15 } } }, (machine) => {
    const { status, stdout, stderr } = run(machine, path.join(here, "run"), [program], {});
    assert.equal(status, 0, stderr);
    const report = JSON.parse(stdout);
    assert.equal(report.failures, 0);
    assert.equal(report.is_given_back, true);
    assert.deepEqual(report.checks.map((check) => check.is_right), report.checks.map(() => true));
    assert.ok(machine.ledger().is_empty());
  }));
