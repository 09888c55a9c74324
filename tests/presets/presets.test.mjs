// The shipped presets are valid, carry what their tables say, and can be found by the names people type.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find_problems, load_catalogue, model_file_name, normal_form, read_presets } from '../../presets/catalogue.mjs';
import { read_table } from './csv.mjs';
import { gguf_bytes, weight_bytes } from './layout_bytes.mjs';

const { core, reader, models } = load_catalogue();
const by_key = (list, key) => new Map(list.map((entry) => [entry[key], entry]));
const model_by_id = by_key(models, 'id');
const gpu_by_name = by_key(core.gpus, 'name');
const format_by_id = by_key(core.formats, 'id');
const cache_by_id = by_key(core.cache_types, 'id');
const mib = 2 ** 20;
const gib = 2 ** 30;

test('every preset is valid', () => {
  assert.deepEqual(find_problems(read_presets()), []);
});

test('every row of the model table has a preset that says the same', () => {
  const rows = read_table('models.csv');
  assert.equal(rows.length, 443);
  assert.equal(models.length, rows.length);
  for (const row of rows) {
    const model = model_by_id.get(row.hf_id);
    assert.ok(model, row.hf_id);
    assert.equal(model.source, row.source, row.hf_id);
    assert.equal(model.verified, row.verified, row.hf_id);
    assert.equal(String(model.total_params ?? model.total_params_rounded ?? ''), row.total_params, row.hf_id);
    assert.equal(model.total_params_source ?? '', row.total_params_source, row.hf_id);
    assert.equal(model.count_scope ?? '', row.count_scope, row.hf_id);
    assert.equal(String(model.safetensors_total_size_bytes ?? ''), row.safetensors_total_size_bytes, row.hf_id);
    assert.equal(model.dtype ?? '', row.dtype, row.hf_id);
    assert.equal(String(model.max_context_tokens ?? ''), row.max_context, row.hf_id);
  }
});

test('the index leads to the facts', () => {
  for (const entry of core.model_index) {
    const model = model_by_id.get(entry.id);
    assert.equal(entry.file, model_file_name(model.id));
    assert.equal(entry.verified, model.verified);
    if (model.total_params !== undefined) assert.equal(entry.parameters, model.total_params);
  }
  // DeepSeek-V3.2 is published as 671B only; LFM2 and others to the last digit.
  assert.equal(core.model_index.find(({ id }) => id === 'deepseek-ai/DeepSeek-V3.2').parameters, 671_000_000_000);
});

test('quantisation beside config.json is kept only where config.json has none', () => {
  const beside = models.filter(({ quant_config }) => quant_config !== undefined);
  assert.deepEqual(beside.filter(({ config }) => config.quantization_config !== undefined), []);
  assert.equal(model_by_id.get('nvidia/Qwen3-235B-A22B-NVFP4').quant_config.quantization.quant_algo, 'NVFP4');
  assert.equal(model_by_id.get('nvidia/Llama-3.1-70B-Instruct-FP8').quant_config.quantization.quant_algo, 'FP8');
});

test('a bare Infinity became text, and is noted', () => {
  const infinite = models.filter(({ config }) => JSON.stringify(config).includes('"Infinity"'));
  assert.deepEqual(infinite.map(({ id }) => id), [
    'nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8',
    'nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4',
    'nvidia/Nemotron-H-56B-Base-8K',
  ]);
  for (const { id, notes } of infinite) assert.match(notes, /Infinity/, id);
});

/** A part of a card (MIG); the table lists whole ones. */
const is_slice = ({ name }) => / MIG \d/.test(name);

test('slices have no more than their card, and cannot be joined', () => {
  const slices = core.gpus.filter(is_slice);
  assert.equal(slices.length, 9);
  for (const slice of slices) {
    const card = core.gpus.find(({ name }) => name === slice.name.replace(/ MIG .*/, ''));
    assert.ok(slice.usable_bytes <= card.usable_bytes / 2, slice.name);
    assert.ok(slice.multiprocessors <= card.multiprocessors / 2, slice.name);
    assert.equal(slice.link, 'none', slice.name);
  }
});

test('machines that share their memory say what the system holds, or what limits the GPU', () => {
  const shared = core.gpus.filter(({ memory_type }) => memory_type.includes('unified'));
  for (const gpu of shared) assert.ok(gpu.system_bytes !== undefined || gpu.limit_setting !== undefined, gpu.name);
});

test('every row of the GPU table has a capacity that says the same', () => {
  const rows = read_table('gpus.csv');
  assert.equal(rows.length, 113);
  assert.equal(core.gpus.filter((gpu) => !is_slice(gpu)).length, rows.length);
  for (const row of rows) {
    const gpu = gpu_by_name.get(row.name);
    assert.ok(gpu, row.name);
    assert.equal(gpu.marketing_gb, Number(row.marketing_gb), row.name);
    if (row.total_mib !== '') assert.equal(gpu.total_bytes, Number(row.total_mib) * mib, row.name);
    if (row.usable_bytes !== '') assert.equal(gpu.usable_bytes, Number(row.usable_bytes), row.name);
    for (const key of ['bandwidth_gb_s', 'fp16_dense_tflops', 'fp8_dense_tflops']) {
      assert.equal(gpu[key], row[key] === '' ? undefined : Number(row[key]), `${row.name} ${key}`);
    }
    if (/marketing only|inferred/.test(row.total_mib_source + row.notes)) assert.equal(gpu.basis, 'assumed', row.name);
  }
});

test('the default card is an H100 as its driver and runtime report it', () => {
  // nvidia-smi prints 81559 MiB, a llama.cpp log 81081 MiB.
  const h100 = core.gpus.find(({ id }) => id === 'nvidia-h100-80gb-hbm3');
  assert.equal(h100.total_bytes, 81_559 * mib);
  assert.equal(h100.usable_bytes, 85_019_590_656);
  assert.equal(h100.usable_bytes, 81_081 * mib);
  assert.equal(h100.basis, 'measured');
});

test('cards that nothing was printed for follow a stated rule', () => {
  const silent = read_table('gpus.csv').filter((row) => row.total_mib === '' && row.usable_bytes === '');
  assert.equal(silent.length, 6);
  for (const { name, marketing_gb } of silent) {
    const gpu = gpu_by_name.get(name);
    assert.equal(gpu.basis, 'assumed', name);
    assert.equal(gpu.usable_basis, 'assumed', name);
    assert.equal(gpu.total_bytes, Number(marketing_gb) * gib, name);
    const share = gpu.vendor === 'Apple' ? 3 / 4 : 1 / 2;
    assert.equal(gpu.usable_bytes, Number(marketing_gb) * gib * share, name);
  }
});

test('every ggml block of the format table is listed with its sizes', () => {
  const rows = read_table('quant.csv').filter(({ kind }) => kind === 'gguf_block');
  assert.equal(rows.length, 48);
  for (const row of rows) {
    const { layout, refused } = format_by_id.get(`pure-${row.format}`);
    assert.equal(layout.ggml_type, row.format);
    assert.equal(layout.block_weights, Number(row.block_weights), row.format);
    assert.equal(layout.block_bytes, Number(row.block_bytes), row.format);
    assert.equal((layout.block_bytes * 8) / layout.block_weights, Number(row.bits_per_weight_exact), row.format);
    assert.equal(refused !== undefined, /not a weight type/.test(row.notes), row.format);
  }
});

test('every GGUF mix is listed on the base type of its width', () => {
  const rows = read_table('quant.csv').filter(({ kind }) => kind === 'gguf_mix');
  assert.equal(rows.length, 28);
  for (const row of rows) {
    const { kind, layout } = format_by_id.get(row.format);
    assert.equal(kind, 'gguf_mix');
    assert.equal(layout.mix, row.format);
    const base = format_by_id.get(`pure-${layout.base_type}`).layout;
    assert.equal((base.block_bytes * 8) / base.block_weights, Number(row.bits_per_weight_exact), row.format);
  }
});

// Format table row -> preset, and what the table says comes on top of its bits for a 4096 x 4096 matrix.
const weight_rows = [
  ['AWQ 4-bit g32', 'awq-4bit-g32'], ['AWQ 4-bit g64', 'awq-4bit-g64'], ['AWQ 4-bit g128', 'awq-4bit-g128'],
  ['GPTQ 4-bit g32', 'gptq-4bit-g32', 32], ['GPTQ 4-bit g64', 'gptq-4bit-g64', 32], ['GPTQ 4-bit g128', 'gptq-4bit-g128', 32],
  ['GPTQ 2-bit g128', 'gptq-2bit-g128', 32], ['GPTQ 3-bit g128', 'gptq-3bit-g128', 32], ['GPTQ 8-bit g128', 'gptq-8bit-g128', 32],
  ['bitsandbytes NF4 or FP4', 'bnb-4bit'], ['bitsandbytes NF4 double quant', 'bnb-4bit-double'], ['bitsandbytes LLM.int8', 'bnb-int8', 32],
  ['FP8 per-tensor', 'fp8-per-tensor', 32 / 4096], ['FP8 per-channel', 'fp8-per-channel', 16], ['FP8 block 128x128', 'fp8-block-128'],
  ['NVFP4 (modelopt, compressed-tensors)', 'nvfp4', 32 / 4096], ['MXFP4 (gpt-oss, compressed-tensors mxfp4-pack)', 'mxfp4'], ['MXFP8', 'mxfp8'],
  ['compressed-tensors W4A16 g128 symmetric', 'ct-w4a16-g128'], ['compressed-tensors W8A16 or W8A8 int8', 'ct-w8-int8', 16],
  ['compressed-tensors int4 g32 (Kimi-K2-Thinking, K2.5)', 'ct-int4-g32-experts'],
  ['HQQ 4-bit g64', 'hqq-4bit-g64'], ['HQQ 4-bit g128', 'hqq-4bit-g128'], ['HQQ 2-bit g16', 'hqq-2bit-g16'],
  ['AQLM 1x16 g8', 'aqlm-1x16-g8', 16 + (65536 * 8 * 16) / 4096], ['AQLM 2x8 g8', 'aqlm-2x8-g8', 16 + (2 * 256 * 8 * 16) / 4096],
  ['torchao int4 weight-only g128', 'torchao-int4-g128'], ['torchao int8 weight-only', 'torchao-int8', 16], ['torchao float8 weight-only', 'torchao-float8', 32],
  ['MLX affine 4-bit g64', 'mlx-4bit-g64'], ['MLX affine 4-bit g32', 'mlx-4bit-g32'], ['MLX affine 8-bit g64', 'mlx-8bit-g64'],
  ['MLX affine 6-bit g64', 'mlx-6bit-g64'], ['MLX affine 3-bit g64', 'mlx-3bit-g64'], ['MLX affine 2-bit g64', 'mlx-2bit-g64'],
  ['BitNet b1.58 (packed 2-bit)', 'bitnet-2bit', 16 / 4096], ['fp16 or bf16', 'bf16'],
];

test('every weight row of the format table gives its bits per weight', () => {
  const rows = read_table('quant.csv').filter(({ kind }) => kind === 'weight');
  const listed = new Map(weight_rows.map(([name, ...rest]) => [name, rest]));
  for (const { format, bits_per_weight_exact } of rows) {
    if (format === 'EXL2' || format === 'EXL3') continue;
    assert.ok(listed.has(format), format);
    const [id, extra_bits_per_row = 0] = listed.get(format);
    const bits = (weight_bytes(format_by_id.get(id).layout, 4096, 4096) * 8) / 4096 ** 2;
    // The table prints five decimals.
    assert.ok(Math.abs(bits - extra_bits_per_row / 4096 - Number(bits_per_weight_exact)) < 1e-5, `${format}: ${bits}`);
  }
  assert.equal(rows.length, weight_rows.length + 2);
});

test('EXL2 is refused by name, EXL3 is listed for whole bits with a 6-bit head', () => {
  assert.match(format_by_id.get('exl2').refused, /average/);
  for (let bits = 1; bits <= 8; ++bits) {
    const { layout, role_formats } = format_by_id.get(`exl3-${bits}bit`);
    // bits x in x out codes and two fp16 vectors: the overhead of 16 x (in + out) bits in the table.
    assert.equal(weight_bytes(layout, 4096, 2048), (bits * 4096 * 2048 + 16 * (4096 + 2048)) / 8);
    assert.deepEqual(role_formats, { output: 'exl3-6bit' });
  }
});

// Each count is worked out from the tensors the format stores.
const exact_sizes = [
  // qweight 512 x 4096 int32, scales 32 x 4096 fp16, qzeros 32 x 512 int32
  ['awq-4bit-g128', 4096, 4096, 8_388_608 + 262_144 + 65_536],
  // the same and g_idx 4096 int32
  ['gptq-4bit-g128', 4096, 4096, 8_388_608 + 262_144 + 65_536 + 16_384],
  // 3-bit codes of 4096 inputs fill 384 words; zeros of 4096 outputs fill 384 words for each of 32 groups
  ['gptq-3bit-g128', 4096, 4096, 384 * 4 * 4096 + 262_144 + 32 * 384 * 4 + 16_384],
  // 262144 blocks of 64, fp32 absmax each
  ['bnb-4bit', 4096, 4096, 8_388_608 + 1_048_576],
  // one byte per block, one fp32 per 256 blocks
  ['bnb-4bit-double', 4096, 4096, 8_388_608 + 262_144 + 4_096],
  // DeepSeek-V3 kv_a_proj: 576 x 7168, 5 x 56 scales: 576 rows are 4.5 blocks
  ['fp8-block-128', 576, 7168, 4_128_768 + 5 * 56 * 4],
  ['fp8-per-tensor', 1024, 4096, 4_194_304 + 4],
  // gpt-oss expert: 5760 x 2880 at 17 bytes per 32
  ['mxfp4', 5760, 2880, (5760 * 2880 * 17) / 32],
  ['nvfp4', 4096, 4096, 8_388_608 + 1_048_576 + 4],
  ['mlx-4bit-g64', 4096, 4096, 8_388_608 + 2 * 64 * 4096 * 2],
  ['bf16', 3, 5, 30],
];

for (const [id, out, columns, bytes] of exact_sizes) {
  test(`${id} of ${out} x ${columns}`, () => {
    assert.equal(weight_bytes(format_by_id.get(id).layout, out, columns), bytes);
  });
}

test('row scales of the ik_llama.cpp types are counted', () => {
  assert.equal(gguf_bytes(format_by_id.get('pure-IQ4_KS').layout, 10, 512), 10 * (2 * 136 + 4));
  assert.equal(gguf_bytes(format_by_id.get('pure-IQ2_KS').layout, 10, 512), 10 * (2 * 70 + 2));
  assert.equal(gguf_bytes(format_by_id.get('pure-IQ4_K').layout, 10, 512), 10 * 2 * 144);
});

// Cache table row -> preset and the bits of one element at head_dim 128 without per-head scales.
const cache_rows = [
  ['f16 / float16', 'fp16'], ['bf16', 'bf16'], ['f32', 'fp32'], ['fp8 / fp8_e4m3 / fp8_e5m2 / fp8_inc', 'fp8'],
  ['fp8_per_token_head', 'fp8_per_token_head'], ['int8_per_token_head', 'int8_per_token_head'], ['nvfp4 / nvfp4_4over6', 'nvfp4'],
  ['q8_0', 'q8_0'], ['q5_1', 'q5_1'], ['q5_0', 'q5_0'], ['q4_1', 'q4_1'], ['q4_0', 'q4_0'], ['iq4_nl', 'iq4_nl'], ['q6_0 (ik_llama.cpp)', 'q6_0'],
];

test('cache types have the block sizes of the cache table', () => {
  const bits = new Map(read_table('quant.csv').filter(({ kind }) => kind === 'kv_cache').map((row) => [row.format, Number(row.bits_per_weight_exact)]));
  for (const [row, id] of cache_rows) {
    const { block_bytes, block_elements } = cache_by_id.get(id);
    assert.equal((block_bytes * 8) / block_elements, bits.get(row), id);
  }
  assert.equal(cache_by_id.get('fp8_per_token_head').extra_bytes_per_token_head, 4);
  // 512 fp8 + 16 scale bytes + 64 bf16
  assert.equal(cache_by_id.get('fp8_ds_mla').mla_bytes_per_token_layer, 512 + 16 + 2 * 64);
});

test('TurboQuant slots at head_dim 128', () => {
  const slot = ({ key, value, slot_align_bytes: align }, head_dim) => {
    const bytes = [key, value].reduce((sum, side) => sum + Math.ceil((head_dim * side.bits) / 8) + side.extra_bytes, 0);
    return Math.ceil(bytes / align) * align;
  };
  const expected = { turboquant_k8v4: 196, turboquant_4bit_nc: 134, turboquant_k3v4_nc: 118, turboquant_3bit_nc: 102 };
  for (const [id, bytes] of Object.entries(expected)) assert.equal(slot(cache_by_id.get(id), 128), bytes, id);
});

test('layouts that were not read are refused by name', () => {
  const refused = core.cache_types.filter((entry) => entry.refused !== undefined).map(({ id }) => id);
  assert.deepEqual(refused, ['int4_per_token_head', 'nvfp4_ds_mla', 'q8_kv']);
});

test('the rule of thumb has the constants of the articles', () => {
  const [generic] = core.engines.filter(({ id }) => id === 'generic');
  const value = Object.fromEntries(generic.constants.map((constant) => [constant.key, constant.value]));
  assert.deepEqual(value, { overhead_factor: 1.15, fixed_gib: 1, gpu_memory_utilization_frac: 0.9, live_buffers: 4 });
});

test('class defaults say what a missing key means', () => {
  const { classes } = reader.class_defaults;
  // LlamaConfig: num_key_value_heads and head_dim default to None; Gemma ties its embeddings, Llama does not.
  assert.equal(classes.llama.num_key_value_heads, null);
  assert.equal(classes.llama.head_dim, null);
  assert.equal(classes.llama.tie_word_embeddings, false);
  assert.equal(classes.gemma2.tie_word_embeddings, true);
  assert.equal(classes.gemma2.head_dim, 256);
  assert.equal(classes['qwen2_vl/vision'].depth, 32);
  for (const [name, defaults] of Object.entries(classes)) {
    for (const key of Object.keys(defaults)) assert.doesNotMatch(key, /token_id|dropout|_eps$|theta|initializer|hidden_act/, name);
  }
});

const typed_names = [
  ['models', 'llama 3.3 70b', 'meta-llama/Llama-3.3-70B-Instruct'],
  ['models', 'Llama-3.1-8B', 'meta-llama/Llama-3.1-8B'],
  ['models', 'qwen3-30b-a3b', 'Qwen/Qwen3-30B-A3B'],
  ['models', 'gemma3:27b', 'google/gemma-3-27b-it'],
  ['models', 'deepseek-r1:671b', 'deepseek-ai/DeepSeek-R1'],
  ['models', 'gpt-oss-120b', 'openai/gpt-oss-120b'],
  ['models', 'mixtral', 'mistralai/Mixtral-8x7B-Instruct-v0.1'],
  ['gpus', 'H100', 'nvidia-h100-80gb-hbm3'],
  ['gpus', 'h100 sxm', 'nvidia-h100-80gb-hbm3'],
  ['gpus', 'h100-80gb', 'nvidia-h100-80gb-hbm3'],
  ['gpus', 'a100', 'nvidia-a100-sxm4-80gb'],
  ['gpus', 'RTX 4090', 'nvidia-geforce-rtx-4090'],
  ['gpus', '5090', 'nvidia-geforce-rtx-5090'],
  ['gpus', 'mi300x', 'amd-instinct-mi300x'],
  ['gpus', 'm3 max 128gb', 'apple-m3-max-128-gb'],
  ['gpus', 'dgx spark', 'nvidia-gb10'],
  ['formats', 'q4_k_m', 'Q4_K_M'],
  ['formats', 'awq', 'awq-4bit-g128'],
  ['formats', 'fp8', 'fp8-per-tensor'],
  ['formats', 'nf4', 'bnb-4bit'],
  ['cache_types', 'f16', 'fp16'],
  ['cache_types', 'fp8_e4m3', 'fp8'],
];
const lists = { models: core.model_index, gpus: core.gpus, formats: core.formats, cache_types: core.cache_types };

for (const [kind, typed, id] of typed_names) {
  test(`"${typed}" finds ${id}`, () => {
    const wanted = normal_form(typed);
    const names = (entry) => [entry.id, entry.id.split('/').at(-1), entry.name, ...entry.aliases].map(normal_form);
    assert.deepEqual(lists[kind].filter((entry) => names(entry).includes(wanted)).map((entry) => entry.id), [id]);
  });
}
