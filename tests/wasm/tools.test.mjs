// Command lines: the module that has them, the session that completes them, and that nobody can tell
// their answers from those of the program.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { needs_tools } from "../../wasm/facade.mjs";
import { bundle_catalogue, new_facade, new_session, native_dir } from "./shipped_module.mjs";

const program = path.join(native_dir, "core/tools/vramgauge");
const catalogue = bundle_catalogue();
const session = await new_session(catalogue);

/** What the program answers, byte for byte; a failure of the question is an answer as well. */
function command_line(method, request) {
  const input = JSON.stringify(request);
  try {
    return execFileSync(program, ["call", method, "-"], { encoding: "utf8", input, stdio: ["pipe", "pipe", "ignore"] }).trim();
  } catch ({ stdout }) {
    return stdout.trim();
  }
}

const texts = [
  "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 --max-model-len 32K --kv-cache-dtype fp8 --seed 1 --no-such-flag",
  "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3.1 --tp 8 --quantization fp8",
  "llama-server -m Llama-3.3-70B-Instruct-Q4_K_M.gguf -c 32768 -np 4 -ngl 99",
  "ollama run no-such-model:7b",
  "vllm serve 'not closed",
  "ls",
];

for (const text of texts) {
  test(`parse_command: ${text}`, () => {
    assert.equal(session.call_text("parse_command", { text }), command_line("parse_command", { text }));
  });
}

for (const engine of ["vllm", "sglang", "tensorrt_llm", "llama_cpp", "transformers", "generic"]) {
  test(`command: ${engine}`, () => {
    const request = { scenario: { engine, context_tokens: "16k", memory_frac: 0.85 } };
    assert.equal(session.call_text("command", request), command_line("command", request));
  });
}

test("what the catalogue knows of a model is added to its command line", () => {
  const known = session.call("parse_command", { text: "vllm serve unsloth/Llama-3.3-70B-Instruct" }).result;
  assert.equal(known.model.id, "meta-llama/Llama-3.3-70B-Instruct");
  assert.equal(known.scenario_patch.model, known.model.id);
  // config.json of the model: max_position_embeddings.
  assert.equal(known.scenario_patch.max_model_len, 131072);
  // Its checkpoint is FP8 in blocks already, so that the flag changes nothing.
  const own = session.call("parse_command", { text: texts[1] }).result;
  assert.equal(own.scenario_patch.weight_format, "auto");
});

test("the main module alone asks for the module of command lines, and is asked again with it", async () => {
  const facade = await new_facade(catalogue, catalogue.all);
  assert.ok(needs_tools(facade.call("command", { scenario: { engine: "vllm" } })));
  assert.ok(needs_tools(facade.call("parse_command", { text: texts[0] })));
  assert.equal(facade.has_tools, false);
  assert.ok((await facade.ask("parse_command", { text: texts[0] })).ok);
  assert.equal(facade.has_tools, true);
});
