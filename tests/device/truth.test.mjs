// Runs whose card and free memory are on record: the gate says what happened.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { device, GIB, with_machine } from "./device_machine.mjs";

/** Rows of a CSV file with quoted cells. */
function read_csv(url) {
  const [head, ...lines] = readFileSync(url, "utf8").trim().split("\n")
    .map((line) => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(,|$)/g)].map((match) => match[1].replace(/^"|"$/g, "")));
  return lines.map((cells) => Object.fromEntries(head.map((key, i) => [key, cells[i]])));
}

const rows = read_csv(new URL("../truth/vllm_h100_v019.csv", import.meta.url));
const formats = { "torch.bfloat16": "bf16", "torch.float16": "fp16", "torch.float32": "fp32" };

function scenario_of(row) {
  const scenario = { engine: "vllm", engine_version: "0.19.0", model: row.model, num_requests: 1,
    context_tokens: Number(row.max_model_len), memory_frac: Number(row.gpu_memory_utilization),
    gpu_count: row.tp * row.pp, tensor_ranks: Number(row.tp), pipeline_stages: Number(row.pp), weight_format: "auto" };
  if (row.quantization === "None") scenario.weight_format = formats[row.dtype];
  if (row.quantization === "fp8") scenario.weight_format = "fp8";
  if (row.kv_cache_dtype !== "auto") scenario.cache_type_k = row.kv_cache_dtype;
  return scenario;
}

/** Answers of one server for scenarios on a card with this much free. */
async function validate_all(free_gib, total_gib, scenarios) {
  const usable_bytes = Math.round(total_gib * GIB);
  const card = (i) => device(i, { usable_bytes, total_bytes: usable_bytes, reserved_bytes: 0, others: [{ pid: 1, used_bytes: usable_bytes - Math.round(free_gib * GIB) }] });
  const answers = [];
  await with_machine({ devices: [0, 1, 2, 3].map(card) }, async (machine) => {
    const server = machine.start(["serve", "--port", "0"]);
    const [line] = await once(server.stdout, "data");
    const url = `${String(line).match(/http:\S+/)[0]}/validate`;
    for (const scenario of scenarios) {
      const response = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ scenario }) });
      answers.push(await response.json());
    }
    server.kill("SIGTERM");
    await once(server, "exit");
  });
  return answers;
}

test("every run that started is let through", async () => {
  const groups = new Map();
  for (const row of rows.filter((entry) => entry.status === "ok")) {
    const key = `${row.init_free_memory_gib} ${row.init_total_memory_gib}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const wrong = [];
  let num_rows = 0;
  for (const [key, members] of groups) {
    const [free_gib, total_gib] = key.split(" ").map(Number);
    const answers = await validate_all(free_gib, total_gib, members.map(scenario_of));
    for (const [i, answer] of answers.entries()) {
      ++num_rows;
      const state = answer.result?.verdict.state ?? answer.errors[0].code;
      if (state !== "fits" && state !== "tight") wrong.push(`${members[i].model} tp ${members[i].tp}: ${state}`);
    }
  }
  assert.equal(num_rows, 38);
  assert.deepEqual(wrong, []);
});

// vllm30707-5080-nvfp4 of engine_logs.jsonl: 14.55 of 15.92 GiB free, and the engine refuses to start above 0.914 of the
// card, whatever the model.
test("an engine that would refuse a card that others use is stopped before", async () => {
  const scenario = { engine: "vllm", engine_version: "0.12.0", model: "Qwen/Qwen3-0.6B", weight_format: "bf16",
    context_tokens: 2048, num_requests: 1 };
  const shares = [0.92, 0.91];
  const answers = await validate_all(14.55, 15.92, shares.map((memory_frac) => ({ ...scenario, memory_frac })));
  const [refused, started] = answers.map((answer) => answer.result.verdict);
  assert.deepEqual([refused.state, refused.engine_state], ["does_not_fit", "does_not_fit"]);
  assert.notEqual(started.state, "does_not_fit");
});

// The same H100 runs with wider weights: Qwen2.5-72B at 32 bit is 271 GiB on two cards of 79.
test("what no card of the campaign could hold is refused", async () => {
  const row = rows.find((entry) => entry.model === "Qwen/Qwen2.5-72B-Instruct");
  const [answer] = await validate_all(77.66, 79.19, [{ ...scenario_of(row), weight_format: "fp32" }]);
  assert.equal(answer.result.verdict.state, "does_not_fit");
});
