// Bad input gets a clear error that names the place and the remedy; the module lives on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bundle_catalogue, new_session } from "./shipped_module.mjs";

const catalogue = bundle_catalogue();
const session = await new_session(catalogue, catalogue.core);

const llama = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  hidden_size: 4096,
  intermediate_size: 14336,
  num_hidden_layers: 32,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  vocab_size: 128256,
  max_position_embeddings: 131072,
  torch_dtype: "bfloat16",
  tie_word_embeddings: false,
};
const llama_text = JSON.stringify(llama);

function with_change(change) {
  return JSON.stringify({ ...llama, ...change });
}

/** The first error, after checking that the reply is a failure a person can act on. */
function refusal(reply) {
  assert.equal(reply.ok, false, JSON.stringify(reply).slice(0, 400));
  for (const error of reply.errors) {
    assert.match(error.code, /^[a-z_]+\.[a-z0-9_]+$/);
    assert.notEqual(error.code, "api.internal");
    assert.ok(error.message.length > 0 && error.message.length < 2000);
    assert.ok(!/\{\w+\}/.test(error.message), `an argument is not filled in: ${error.message}`);
    assert.ok(error.hint.length > 0);
  }
  return reply.errors[0];
}

function still_answers() {
  assert.equal(session.call("model", { config_text: llama_text }).ok, true);
}

const bad_configs = [
  { name: "empty", text: "", code: "json.empty" },
  { name: "truncated", text: llama_text.slice(0, 100), code: "json.syntax" },
  { name: "200,000 levels of lists", text: "[".repeat(200_000), code: "json.too_deep" },
  { name: "200,000 levels of objects", text: '{"a":'.repeat(200_000), code: "json.too_deep" },
  { name: "duplicate key", text: '{"model_type":"llama","model_type":"mistral"}', code: "json.duplicate_key", path: "/model_type" },
  { name: "negative", text: with_change({ num_key_value_heads: -8 }), path: "/num_key_value_heads" },
  { name: "2^64", text: llama_text.replace("4096", "18446744073709551616"), path: "/hidden_size" },
  { name: "2^64 - 1", text: llama_text.replace("4096", "18446744073709551615"), path: "/hidden_size" },
  { name: "NaN", text: llama_text.replace("4096", "NaN"), path: "/hidden_size" },
  { name: "Infinity", text: llama_text.replace("4096", "Infinity"), path: "/hidden_size" },
  { name: "a fraction", text: llama_text.replace("4096", "4096.5"), path: "/hidden_size" },
  { name: "text for a number", text: with_change({ hidden_size: "wide" }), path: "/hidden_size" },
  { name: "a list for a number", text: with_change({ num_hidden_layers: [32] }), path: "/num_hidden_layers" },
  { name: "a number for the family", text: with_change({ model_type: 7 }), path: "/model_type" },
  { name: "zero heads", text: with_change({ num_attention_heads: 0 }), path: "/num_attention_heads" },
  { name: "a billion layers", text: with_change({ num_hidden_layers: 1_000_000_000 }), path: "/num_hidden_layers" },
  { name: "heads that do not divide", text: with_change({ num_key_value_heads: 7 }), code: "model.heads_not_divisible" },
  { name: "an unknown family", text: with_change({ model_type: "no_such_family", architectures: ["NoSuchModel"], no_such_layers: 3 }), args_hold: "no_such_family" },
  { name: "a list instead of an object", text: "[1, 2, 3]" },
  { name: "a NUL", text: llama_text.replace("llama", "ll\0ama"), code: "json.syntax" },
];

for (const { name, text, code, path, args_hold } of bad_configs) {
  test(`config.json: ${name}`, () => {
    const error = refusal(session.call("import", { text }));
    if (code !== undefined) assert.equal(error.code, code);
    if (path !== undefined) assert.equal(error.path, path);
    if (args_hold !== undefined) assert.ok(JSON.stringify(error.args).includes(args_hold));
    still_answers();
  });
}

test("config.json: a place in the text has line and column", () => {
  const text = JSON.stringify(llama, null, 2).replace("4096", "-1");
  const error = refusal(session.call("import", { text }));
  assert.equal(error.path, "/hidden_size");
  assert.equal(error.at.line, text.slice(0, text.indexOf("-1")).split("\n").length);
});

test("config.json: cut off at every byte", () => {
  for (let length = 0; length < llama_text.length; ++length) {
    refusal(session.call("import", { text: llama_text.slice(0, length) }));
  }
  still_answers();
});

const bad_scenarios = [
  { name: "unknown key", scenario: { contxt_tokens: 1 }, code: "scenario.unknown_key", path: "/scenario/contxt_tokens" },
  { name: "negative", scenario: { gpu_count: -1 }, path: "/scenario/gpu_count" },
  { name: "2^64", text: '{"scenario":{"context_tokens":18446744073709551616}}', path: "/scenario/context_tokens" },
  { name: "NaN", text: '{"scenario":{"context_tokens":NaN}}', path: "/scenario/context_tokens" },
  { name: "wrong type", scenario: { model: 7 }, path: "/scenario/model" },
  { name: "more than all", scenario: { gpu_memory_utilization_frac: 1.5 }, path: "/scenario/gpu_memory_utilization_frac" },
  { name: "unknown GPU", scenario: { gpu: "abacus" }, path: "/scenario/gpu" },
  { name: "unknown format", scenario: { weight_format: "Q9_9" }, path: "/scenario/weight_format" },
  { name: "unknown engine", scenario: { engine: "steam" }, path: "/scenario/engine" },
  { name: "unknown cache type", scenario: { cache_type_k: "fp1" }, path: "/scenario/cache_type_k" },
  { name: "unknown model", text: '{"scenario":{"model":"nobody/nothing"}}', path: "/scenario/model" },
  { name: "not an object", text: '{"scenario":[1]}' },
  { name: "cut off", text: '{"scenario":{"gpu":"' , code: "json.syntax" },
];

for (const { name, scenario, text, code, path } of bad_scenarios) {
  test(`scenario: ${name}`, () => {
    const error = refusal(session.call("estimate", text ?? { scenario: { model_config: llama_text, ...scenario } }));
    if (code !== undefined) assert.equal(error.code, code);
    if (path !== undefined) assert.equal(error.path, path);
    still_answers();
  });
}

test("a link of 50 MB is refused by its length", () => {
  const error = refusal(session.call("link_decode", { link: `v=1&model=${"a".repeat(50 << 20)}` }));
  assert.match(error.code, /too_(large|long)$/);
  still_answers();
});

test("an unknown method and a request that is no object are refused", () => {
  assert.equal(refusal(session.call("no_such_method")).code, "api.unknown_method");
  assert.equal(refusal(session.call("version", "[]")).code, "api.request_not_object");
});

test("a catalogue that is none leaves the loaded one as it was", () => {
  const total = () => session.call("catalogue", { kind: "gpus" }).result.total;
  const before = total();
  for (const document of ["", "{", "[]", '{"models":7}', '{"gpus":[{"id":"x"}]}', '{"gpus":[7]}', "[".repeat(200_000)]) {
    refusal(session.load(document));
    assert.equal(total(), before, document.slice(0, 40));
  }
});
