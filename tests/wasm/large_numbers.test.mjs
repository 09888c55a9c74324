// size_t has 32 bits in the module: what is beyond 4 GiB must be as right there as anywhere.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bundle_catalogue, new_session } from "./shipped_module.mjs";

const catalogue = bundle_catalogue();
const session = await new_session(catalogue, catalogue.core);

function estimate(scenario) {
  const reply = session.call("estimate", { scenario });
  assert.equal(reply.ok, true, JSON.stringify(reply.errors));
  return reply.result;
}

function term(result, id) {
  return result.devices[0].terms.find((candidate) => candidate.id === id);
}

function llama(change) {
  return JSON.stringify({
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    hidden_size: 8192,
    intermediate_size: 28672,
    num_hidden_layers: 80,
    num_attention_heads: 64,
    num_key_value_heads: 8,
    head_dim: 128,
    vocab_size: 128256,
    max_position_embeddings: 131072,
    tie_word_embeddings: false,
    torch_dtype: "bfloat16",
    ...change,
  });
}

test("a cache of exactly 40 GiB", () => {
  // 2 x 80 layers x 8 heads x 128 x 2 B = 327,680 B per token; 65,536 x 2 tokens: 42,949,672,960 B = 40 GiB,
  // which is 0 in 32 bits.
  const result = estimate({ model_config: llama({}), context_tokens: 65_536, num_requests: 2 });
  assert.equal(result.cache.bytes_per_token, 327_680);
  assert.equal(result.cache.total_bytes, 40 * 2 ** 30);
  assert.equal(term(result, "kv_cache").bytes, 40 * 2 ** 30);
});

test("a context of 10 million tokens", () => {
  const result = estimate({ model_config: llama({}), context_tokens: 10_000_000, num_requests: 1 });
  assert.equal(result.cache.total_bytes, 327_680 * 10_000_000);
});

test("a model of more than 2 TB", () => {
  // 1,000 layers of 8192 x (8192 + 2 x 1024 + 8192) + 3 x 8192 x 40,960 weights, 2 norms of 8192,
  // one final norm and two tables of 128,256 x 8192, 2 B each.
  const hidden = 8192;
  const layer = hidden * (hidden + 2 * 1024 + hidden) + 3 * hidden * 40_960 + 2 * hidden;
  const parameters = 1000 * layer + hidden + 2 * 128_256 * hidden;
  const result = estimate({
    model_config: llama({ num_hidden_layers: 1000, intermediate_size: 40_960 }),
    weight_format: "auto",
    context_tokens: 1,
    num_requests: 1,
  });
  assert.equal(result.model.parameters.total, parameters);
  assert.equal(term(result, "weights").bytes, 2 * parameters);
  assert.ok(2 * parameters > 2e12);
});

test("a sum beyond 2^53 is an error, not a rounding", () => {
  const reply = session.call("estimate", {
    scenario: { model_config: llama({}), context_tokens: 1_000_000_000, num_requests: 1_000_000 },
  });
  assert.equal(reply.ok, false);
  assert.equal(reply.errors[0].code, "value.overflow");
});
