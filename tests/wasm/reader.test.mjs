// The two modules beside each other: what the main one leaves to the reader, and that nobody can tell
// their answers from those of the command line.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Facade, needs_reader } from "../../wasm/facade.mjs";
import { bundle_catalogue, new_facade, new_session, native_dir, repo_root } from "./shipped_module.mjs";

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

const config_of = (file) =>
  JSON.stringify(JSON.parse(readFileSync(path.join(repo_root, "presets/models", file), "utf8")).config);

/** One of each kind of configuration: plain, experts, latent and FP8, state, towers, MXFP4. */
const configs = [
  "meta-llama__Llama-3.3-70B-Instruct.json",
  "Qwen__Qwen3-30B-A3B.json",
  "deepseek-ai__DeepSeek-V3.1.json",
  "state-spaces__mamba-2.8b-hf.json",
  "google__gemma-3-27b-it.json",
  "openai__gpt-oss-120b.json",
].map((file) => [file, config_of(file)]);
const [[, llama]] = configs;

const broken = [
  ["not JSON", '{"model_type":'],
  ["an unknown family", '{"model_type":"no_such_family","architectures":["NoSuchModel"],"no_such_layers":3}'],
  ["a dimension of the wrong kind", llama.replace(/"hidden_size":\d+/, '"hidden_size":"wide"')],
];

for (const [name, text] of [...configs, ...broken]) {
  test(`both modules and the command line: ${name}`, () => {
    const requests = [
      ["import", { text, name: "a name" }],
      ["model", { config_text: text }],
      ["estimate", { scenario: { model_config: text, weight_format: "auto" } }],
      ["estimate", { scenario: { model_config: text, gpu: "no such card" } }],
    ];
    for (const [method, request] of requests)
      assert.equal(session.call_text(method, request), command_line(method, request), method);
  });
}

test("the main module alone asks for the reader, and is asked again with it", async () => {
  const facade = await new_facade(catalogue, catalogue.all);
  for (const [method, request, place] of [
    ["import", { text: llama }, ""],
    ["model", { config_text: llama }, "/config_text"],
    ["estimate", { scenario: { model_config: llama } }, "/scenario/model_config"],
  ]) {
    const reply = facade.call(method, request);
    assert.ok(needs_reader(reply), method);
    assert.equal(reply.errors[0].path, place);
  }
  const request = { scenario: { model_config: llama } };
  assert.equal((await facade.ask("estimate", request)).ok, true);
  assert.equal(facade.call("estimate", request).ok, true);
});

test("what an import gives needs no reader", async () => {
  const facade = await new_facade(catalogue, catalogue.all);
  for (const [name, text] of configs) {
    const { scenario_patch } = session.call("import", { text }).result;
    const reply = facade.call("estimate", { scenario: scenario_patch });
    assert.equal(reply.ok, true, `${name}: ${JSON.stringify(reply.errors)}`);
    assert.deepEqual(reply, session.call("estimate", { scenario: { ...scenario_patch, model_config: text } }), name);
  }
});

test("a quantised configuration proposes the format of its own checkpoint", () => {
  const formats = configs.map(([, text]) => session.call("import", { text }).result.scenario_patch.weight_format);
  assert.deepEqual(formats, [undefined, undefined, "auto", undefined, undefined, "auto"]);
});

test("a reader that could not be loaded is asked for again", async () => {
  const { session: raw } = await new_facade(catalogue, catalogue.all);
  let tries = 0;
  const open_reader = async () => {
    if (++tries === 1) throw new Error("offline");
    return { convert: () => '{"ok":false,"errors":[{"code":"from.the_reader","path":""}]}' };
  };
  const facade = new Facade(raw, { open_reader });
  await assert.rejects(facade.ask("import", { text: llama }), /offline/);
  assert.equal((await facade.ask("import", { text: llama })).errors[0].code, "from.the_reader");
});

test("a description by hand needs no reader", async () => {
  const facade = await new_facade(catalogue, catalogue.all);
  const model_config = JSON.stringify({
    model_type: "custom", num_hidden_layers: 2, num_key_value_heads: 2, head_dim: 64, num_parameters: 1000,
  });
  assert.equal(facade.call("estimate", { scenario: { model_config, weight_format: "4bpw" } }).ok, true);
});

test("every preset is priced in its own format, or refused by name, in the main module alone", async () => {
  const facade = await new_facade(catalogue, catalogue.all);
  const { models } = JSON.parse(catalogue.all);
  assert.equal(models.length, readdirSync(path.join(repo_root, "presets/models")).length);
  const refused = [];
  for (const { id } of models) {
    const reply = facade.call("estimate", { scenario: { model: id, weight_format: "auto", context_tokens: 1024 } });
    if (!reply.ok) refused.push(`${id}: ${reply.errors.map(({ code, message }) => `${code} ${message}`).join("; ")}`);
  }
  // Its list of modules is left out of the preset: 22,422 entries.
  assert.deepEqual(refused, ["nvidia/MiniMax-M3-NVFP4: json.wrong_type quantized_layers must be an object, not text."]);
});

test("the reader compiles the catalogue to the same bytes as the native program", () => {
  assert.ok(catalogue.all.equals(readFileSync(path.join(native_dir, "catalogue/all.json"))));
});
