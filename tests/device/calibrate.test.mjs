// vramgauge calibrate: running engines on loopback, as their endpoints answer.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import { test } from "node:test";
import { device, GIB, program, with_machine } from "./device_machine.mjs";

// The line of vllm#3100 and the samples around it.
const vllm = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="meta-llama/Llama-3.1-8B-Instruct"} 0.0
vllm:cache_config_info{block_size="16",cache_dtype="auto",gpu_memory_utilization="0.9",num_cpu_blocks="7281",num_gpu_blocks="24188",sliding_window="None",swap_space_bytes="4294967296"} 1.0
`;
// docs/references/production_metrics.md of SGLang; two ranks, of which the smaller pool counts.
const sglang = `# TYPE sglang:max_total_num_tokens gauge
sglang:max_total_num_tokens{name="google/gemma-2-9b-it",tp_rank="0"} 161721.0
sglang:max_total_num_tokens{name="google/gemma-2-9b-it",tp_rank="1"} 161700.0
sglang:token_usage{name="google/gemma-2-9b-it"} 0.28
`;
const props = JSON.stringify({ default_generation_settings: { id: 0, n_ctx: 8192 }, total_slots: 4,
  model_path: "/models/Qwen3-8B-Q4_K_M.gguf", build_info: "b6975-1a2b3c4d" });

/** Serves texts by path while `body` runs. */
async function with_engine(answers, body) {
  const server = http.createServer((request, response) => {
    const text = answers[request.url];
    response.writeHead(text === undefined ? 501 : 200).end(text);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await body(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** The engine answers in this process, so the program must not be waited for in a blocking way. */
async function calibrate(args, env = process.env) {
  const child = spawn(program, ["calibrate", ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const texts = ["", ""];
  child.stdout.on("data", (chunk) => (texts[0] += chunk));
  child.stderr.on("data", (chunk) => (texts[1] += chunk));
  const [status] = await once(child, "close");
  return { status, stdout: texts[0], stderr: texts[1] };
}

test("vLLM's blocks, and the memory of its process by the driver", () =>
  with_machine({ devices: [device(0, { others: [{ pid: 77, used_bytes: 70 * GIB }] })] }, (machine) =>
    with_engine({ "/metrics": vllm }, async (url) => {
      const file = machine.path("observation.json");
      const { status, stdout, stderr } = await calibrate([`${url}/metrics`, "--observation", file], machine.environment());
      assert.equal(status, 0, stderr);
      const row = JSON.parse(readFileSync(file, "utf8"));
      assert.deepEqual(JSON.parse(stdout), row);
      assert.equal(row.engine, "vllm");
      assert.equal(row.model, "meta-llama/Llama-3.1-8B-Instruct");
      assert.equal(row.flags.gpu_memory_utilization, 0.9);
      assert.equal(row.measured.gpu_blocks, 24188);
      assert.equal(row.measured.block_size, 16);
      assert.equal(row.measured.outcome, "fits");
      assert.equal(row.measured.process_mib_per_gpu, 70 * 1024);
      assert.equal(row.gpu, "NVIDIA H100 80GB HBM3");
      assert.equal(row.gpu_count, 1);
    })));

test("SGLang's pool is that of the smallest rank", () =>
  with_engine({ "/metrics": sglang }, async (url) => {
    const { status, stdout } = await calibrate([url], { ...process.env, VRAMGAUGE_CUDA_LIBRARY: "/nowhere" });
    assert.equal(status, 0);
    const row = JSON.parse(stdout);
    assert.deepEqual([row.engine, row.model, row.measured.kv_tokens], ["sglang", "google/gemma-2-9b-it", 161700]);
  }));

test("llama-server answers without its metrics too", () =>
  with_engine({ "/props": props }, async (url) => {
    const { status, stdout, stderr } = await calibrate([url], { ...process.env, VRAMGAUGE_CUDA_LIBRARY: "/nowhere" });
    assert.equal(status, 0, stderr);
    const row = JSON.parse(stdout);
    assert.deepEqual([row.engine, row.engine_version, row.model], ["llama_cpp", "b6975", "Qwen3-8B-Q4_K_M.gguf"]);
    assert.deepEqual([row.flags.n_ctx_seq, row.flags.n_seq_max], [8192, 4]);
  }));

/** What the facade says of a scenario given by flags. */
function estimate(machine, flags, env) {
  const { stdout, stderr } = machine.run(["estimate", "--json", ...flags], env);
  const answer = JSON.parse(stdout);
  assert.ok(answer.ok, stdout + stderr);
  return answer.result;
}

// 24,188 blocks of 16 tokens are 387,008: with the calibration that many are predicted, without it others.
test("vLLM's pool makes a calibration with which its own scenario is predicted", () =>
  with_machine({ devices: [device(0, { others: [{ pid: 77, used_bytes: 70 * GIB }] })] }, (machine) =>
    with_engine({ "/metrics": vllm }, async (url) => {
      const file = machine.path("calibration.json");
      const { status, stderr } = await calibrate([url, "--calibration-file", file, "--engine-version", "0.11.0"], machine.environment());
      assert.equal(status, 0, stderr);
      const { text, scenario_patch, link } = JSON.parse(readFileSync(file, "utf8"));
      assert.equal(scenario_patch.calibration, text);
      assert.match(text, /^activations=[+-][\d.]+$/);
      assert.match(link, /calibration=/);
      const flags = ["--engine", "vllm", "--engine-version", "0.11.0", "--model", "meta-llama/Llama-3.1-8B-Instruct", "--weight-format", "auto",
        "--cache-type-k", "auto", "--memory-frac", "0.9", "--num-requests", "1", "--block-tokens", "16"];
      const without = estimate(machine, flags).answers.max_cached_tokens;
      const calibrated = estimate(machine, [...flags, "--calibration", text]).answers.max_cached_tokens;
      assert.ok(Math.abs(calibrated - 387008) <= 16, `${calibrated}`);
      assert.notEqual(without, calibrated);
    })));

test("SGLang's pool does too; what a flag says stands above what the engine does not state", () =>
  with_engine({ "/metrics": sglang }, (url) => with_machine({ devices: [device(0)] }, async (machine) => {
    const none = { ...process.env, VRAMGAUGE_CUDA_LIBRARY: "/nowhere" };
    const file = machine.path("calibration.json");
    const flags = ["--model", "google/gemma-2-9b", "--gpu", "nvidia-h100-80gb-hbm3", "--gpu-count", "2", "--context-tokens", "8192"];
    const { status, stderr } = await calibrate([url, "--calibration-file", file, ...flags], none);
    assert.equal(status, 0, stderr);
    const { text } = JSON.parse(readFileSync(file, "utf8"));
    const asked = ["--engine", "sglang", "--weight-format", "auto", "--cache-type-k", "auto",
      "--num-requests", "1", ...flags];
    const calibrated = estimate(machine, [...asked, "--calibration", text]).answers.max_cached_tokens;
    assert.ok(Math.abs(calibrated - 161700) <= 161700 / 500, `${calibrated} with ${text}`);
  })));

// Its buffers follow from the model, so that what its process holds beyond them is its context.
test("llama-server's process makes one where the driver says what it holds", () =>
  with_machine({ devices: [device(0, { others: [{ pid: 77, used_bytes: 12 * GIB }] })] }, (machine) =>
    with_engine({ "/props": props }, async (url) => {
      const file = machine.path("calibration.json");
      const { status, stderr } = await calibrate([url, "--calibration-file", file], machine.environment());
      assert.equal(status, 0, stderr);
      const { text } = JSON.parse(readFileSync(file, "utf8"));
      assert.match(text, /^runtime=[+-][\d.]+$/);
      const result = estimate(machine, ["--engine", "llama_cpp", "--engine-version", "b6975", "--model", "Qwen/Qwen3-8B", "--weight-format", "Q4_K_M",
        "--context-tokens", "8192", "--num-requests", "4", "--calibration", text]);
      assert.ok(Math.abs(result.devices[0].total.bytes - 12 * GIB) < GIB / 1000, `${result.devices[0].total.bytes}`);
    })));

test("an engine that states too little for a calibration is still an observation", () =>
  with_engine({ "/props": props }, async (url) => {
    const { status, stdout, stderr } = await calibrate([url], { ...process.env, VRAMGAUGE_CUDA_LIBRARY: "/nowhere" });
    assert.equal(status, 0);
    assert.equal(JSON.parse(stdout).engine, "llama_cpp");
    assert.match(stderr, /no calibration/);
  }));

test("a saved answer is read like a live one; anything else is refused", () =>
  with_machine({ devices: [device(0)] }, async (machine) => {
    const file = machine.path("metrics.txt");
    writeFileSync(file, vllm);
    assert.equal(JSON.parse((await calibrate([file])).stdout).measured.gpu_blocks, 24188);
    const hostile = ["", "{", "{}", "vllm", "x".repeat(200_000), 'vllm:cache_config_info{block_size="', "# only a comment\n",
      "a{b=\"c\"} nan\n", '{"default_generation_settings":3}', "other:metric 1\n", "\0\xff\n".repeat(1000)];
    for (const text of hostile) {
      writeFileSync(file, text);
      assert.equal((await calibrate([file])).status, 3, JSON.stringify(text.slice(0, 40)));
    }
  }));

test("only this machine's own engines are asked", async () => {
  for (const url of ["http://192.0.2.1:8000", "https://127.0.0.1:8000", "http://127.0.0.1", "http://127.0.0.1.example:80",
    "http://example.org:80", "http://127.0.0.1:0", "http://127.0.0.1:99999"])
    assert.equal((await calibrate([url])).status, 64, url);
  const nobody = await calibrate(["http://127.0.0.1:1"]);
  assert.equal(nobody.status, 3);
  assert.match(nobody.stderr, /no answer/);
});

test("a device is measured only by a build that can compute", async () => {
  const { status, stdout } = await calibrate(["device", "--json"]);
  assert.equal(status, 3);
  assert.match(JSON.parse(stdout).errors[0].code, /^calibrate\.(no_toolkit|failed)$/);
});
