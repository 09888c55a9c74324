// What the schemas and the checks across files refuse: an unsourced, misspelt or mis-measured entry never ships.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find_problems, load_schemas, read_presets } from '../../presets/catalogue.mjs';

const checks = load_schemas();
const shipped = read_presets();
const copy = structuredClone;

/** A small valid presets object that a test may damage. */
function sample() {
  const pick = (list, id) => copy(list.find((entry) => entry.id === id));
  const { models, engines, gpus, formats, cache_types, class_defaults } = shipped;
  return {
    models: copy(models.filter(({ data }) => ['openai/gpt-oss-20b', 'openai-community/gpt2'].includes(data.id))),
    engines: copy(engines.filter(({ data }) => data.id === 'generic')),
    gpus: { gpus: [pick(gpus.gpus, 'nvidia-h100-80gb-hbm3'), pick(gpus.gpus, 'tesla-t4')] },
    formats: { formats: ['Q4_K_M', 'pure-Q4_K', 'awq-4bit-g128', 'fp8-block-128', 'ideal-4bit'].map((id) => pick(formats.formats, id)) },
    cache_types: { cache_types: ['fp16', 'turboquant_k8v4', 'q8_0'].map((id) => pick(cache_types.cache_types, id)) },
    class_defaults: { source: class_defaults.source, classes: copy({ llama: class_defaults.classes.llama }) },
  };
}

const entries = {
  model: (presets) => presets.models[0].data,
  gpu: (presets) => presets.gpus.gpus[0],
  format: (presets) => presets.formats.formats[2],
  'cache type': (presets) => presets.cache_types.cache_types[0],
  engine: (presets) => presets.engines[0].data,
  'engine constant': (presets) => presets.engines[0].data.constants[0],
  'class defaults': (presets) => presets.class_defaults,
};

test('the sample is sound, so a refusal below has one cause', () => {
  assert.deepEqual(find_problems(sample(), checks), []);
});

/** The damaged sample has a problem that names the place. */
function refuses(damage, problem) {
  const presets = sample();
  damage(presets);
  assert.match(find_problems(presets, checks).join('\n'), problem);
}

for (const [kind, entry] of Object.entries(entries)) {
  test(`a ${kind} without a source is refused`, () => {
    refuses((presets) => delete entry(presets).source, /required property 'source'/);
  });
  test(`a ${kind} with a blank source is refused`, () => {
    refuses((presets) => Object.assign(entry(presets), { source: '  ' }), /source must match pattern/);
  });
  test(`a ${kind} with an unknown key is refused`, () => {
    refuses((presets) => Object.assign(entry(presets), { colour: 'green' }), /additional properties \(colour\)/);
  });
}

const gpu = (change) => (presets) => Object.assign(entries.gpu(presets), change);
const model = (change) => (presets) => Object.assign(entries.model(presets), change);
const layout = (index, change) => (presets) => Object.assign(presets.formats.formats[index].layout, change);
const constant = (index, change) => (presets) => Object.assign(presets.engines[0].data.constants[index], change);
const cache_type = (change) => (presets) => Object.assign(entries['cache type'](presets), change);

const wrong_units = [
  ['a capacity in GB', gpu({ total_bytes: 80 }), /total_bytes must be >=/],
  ['a capacity in MiB', gpu({ total_bytes: 81559 }), /total_bytes must be >=/],
  ['a capacity as text', gpu({ total_bytes: '80 GB' }), /total_bytes must be integer/],
  ['a fraction of a byte', gpu({ usable_bytes: 85019590656.5 }), /usable_bytes must be integer/],
  ['a key in GiB', gpu({ total_gib: 79.6 }), /additional properties \(total_gib\)/],
  ['a bandwidth as text', gpu({ bandwidth_gb_s: '3.35 TB/s' }), /bandwidth_gb_s must be number/],
  ['parameters in billions', model({ total_params: 20.9 }), /total_params must be integer/],
  ['parameters as text', model({ total_params: '20B' }), /total_params must be integer/],
  ['a rounded count without a unit', (presets) => {
    delete entries.model(presets).total_params;
    Object.assign(entries.model(presets), { total_params_rounded: '671' });
  }, /total_params_rounded must match pattern/],
  ['quoted bits per weight', layout(2, { bits_per_weight: 4.15625 }), /additional properties \(bits_per_weight\)/],
  ['a fraction of a bit', layout(2, { bits: 4.5 }), /bits must be integer/],
  ['a group without a scale', (presets) => delete presets.formats.formats[2].layout.scale_bits, /scale_bits/],
  ['groups and blocks at once', layout(3, { group_size: 128 }), /must NOT be valid/],
  ['a ggml block read as a group', layout(1, { bits: 4 }), /additional properties \(bits\)/],
  ['GiB in bytes', constant(1, { unit: 'bytes' }), /unit must be equal to constant/],
  ['a utilisation in per cent', constant(2, { value: 90, high: 92 }), /must be <= 1/],
  ['a cache block without its bytes', (presets) => delete entries['cache type'](presets).block_bytes, /block_bytes/],
  ['a cache type with two layouts', cache_type({ refused: 'unknown' }), /must match exactly one schema/],
];

for (const [what, damage, problem] of wrong_units) {
  test(`${what} is refused`, () => refuses(damage, problem));
}

const inconsistent = [
  ['two entries with one id', (presets) => presets.gpus.gpus.push(copy(presets.gpus.gpus[0])), /"nvidia h100 80gb hbm3" means both/],
  ['an alias of two entries', (presets) => presets.gpus.gpus[1].aliases.push('h100'), /"h100" means both nvidia-h100-80gb-hbm3 and tesla-t4/],
  ['an alias that is another id', (presets) => presets.gpus.gpus[0].aliases.push('tesla t4'), /"tesla t4" means both/],
  ['an alias that is its own name', (presets) => presets.gpus.gpus[1].aliases.push('tesla t4'), /repeats its own name/],
  ['an alias that is not in normal form', (presets) => presets.gpus.gpus[1].aliases.push('Tesla-T4x'), /must match pattern/],
  ['a model in a file of another name', (presets) => (presets.models[0].name = 'other.json'), /belongs in openai-community__gpt2\.json/],
  ['more usable than there is', gpu({ usable_bytes: 2 ** 41 }), /can use more/],
  ['usable bytes without their source', (presets) => delete entries.gpu(presets).usable_source, /usable_source/],
  ['a mix on a type that is not listed', layout(0, { base_type: 'Q9_K' }), /built on Q9_K/],
  ['a role in a format that is not listed', (presets) => (presets.formats.formats[2].role_formats = { output: 'awq-9bit' }), /awq-9bit, which is not listed/],
  ['an unknown role', (presets) => presets.formats.formats[2].left_unquantised.push('lm_head'), /allowed values/],
  ['a format with neither layout nor reason', (presets) => delete presets.formats.formats[2].layout, /required property 'layout'/],
  ['a constant outside its bounds', constant(0, { value: 1.5 }), /overhead_factor is not within its bounds/],
  ['a constant listed twice', (presets) => presets.engines[0].data.constants.push(copy(presets.engines[0].data.constants[0])), /listed twice/],
  ['a certainty nobody defined', model({ verified: 'probably' }), /allowed values \(real_copy, class_default, reconstructed\)/],
];

for (const [what, damage, problem] of inconsistent) {
  test(`${what} is refused`, () => refuses(damage, problem));
}
