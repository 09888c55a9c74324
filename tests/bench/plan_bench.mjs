// The planner's times in the modules that the page loads, under Node: node plan_bench.mjs.
// VRAMGAUGE_CORE_DIR names another folder of built modules.
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { bundle_catalogue, new_session } from "../wasm/shipped_module.mjs";

const requests = JSON.parse(readFileSync(new URL("plan_requests.json", import.meta.url), "utf8"));
const session = await new_session(bundle_catalogue());
const least_ms = 500;
/** Of this process: what a call costs on a machine that others use as well. */
const cpu_ms = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

for (const { name, method, request } of requests) {
  const first = performance.now();
  const reply = session.call(method, request);
  const first_ms = performance.now() - first;
  if (!reply.ok) {
    console.log(`${name.padEnd(28)} ${reply.errors[0].code}`);
    continue;
  }
  let calls = 0;
  const start = performance.now();
  const cpu_start = cpu_ms();
  do {
    session.call(method, request);
    calls += 1;
  } while (performance.now() - start < least_ms);
  const ms = (performance.now() - start) / calls;
  const cpu = (cpu_ms() - cpu_start) / calls;
  console.log(
    `${name.padEnd(28)} ${ms.toFixed(2).padStart(10)} ms, CPU ${cpu.toFixed(2).padStart(8)} ms, first ${first_ms.toFixed(1)} ms`,
  );
}
