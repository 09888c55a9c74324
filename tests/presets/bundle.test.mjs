// The build step: what it writes, that it writes the same twice, and that the first load stays small.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { model_file_name, presets_folder } from '../../presets/catalogue.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'vramgauge-presets-'));
after(() => rmSync(scratch, { recursive: true }));

/** The native compiler of the models; what the reader module compiles is compared in tests/wasm. */
const compiler = join(process.env.VRAMGAUGE_NATIVE_DIR ?? join(presets_folder, '../build/dev'), 'presets/vramgauge_compile');
const build = (...args) => spawnSync(process.execPath, [join(presets_folder, 'build.mjs'), ...args], { encoding: 'utf8' });

function built(name) {
  const folder = join(scratch, name);
  const { status, stderr } = build(folder, compiler);
  assert.equal(status, 0, stderr);
  return folder;
}

const first = built('first');
const read = (path) => JSON.parse(readFileSync(join(first, path), 'utf8'));
const gzipped_bytes = (text) => gzipSync(text, { level: 9 }).length;

test('two builds are byte for byte the same', () => {
  const second = built('second');
  const files = ['core.json', 'reader.json', 'all.json', ...readdirSync(join(first, 'models')).map((name) => join('models', name))];
  for (const file of files) assert.ok(readFileSync(join(first, file)).equals(readFileSync(join(second, file))), file);
  assert.equal(readdirSync(join(second, 'models')).length, files.length - 3);
});

test('the first load fits its budget', (t) => {
  const core_bytes = gzipped_bytes(readFileSync(join(first, 'core.json')));
  t.diagnostic(`core.json ${core_bytes} B gzipped, all.json ${gzipped_bytes(readFileSync(join(first, 'all.json')))} B`);
  assert.ok(core_bytes <= 35_000);
});

test('the documents have the keys that load_catalogue merges', () => {
  const keys = ['model_index', 'gpus', 'formats', 'cache_types', 'engines', 'launchers'];
  assert.deepEqual(Object.keys(read('core.json')), keys);
  assert.deepEqual(Object.keys(read('reader.json')), ['class_defaults']);
  assert.deepEqual(Object.keys(read('all.json')), [...keys, 'class_defaults', 'models']);
});

test('each index entry leads to a file with that one model', () => {
  const { model_index } = read('core.json');
  const { models } = read('all.json');
  assert.equal(model_index.length, models.length);
  model_index.forEach(({ id, file }, i) => {
    const document = read(join('models', file));
    assert.deepEqual(document, { models: [models[i]] });
    assert.equal(document.models[0].id, id);
  });
});

test('the sources of GPUs, formats and cache types are in the first load', () => {
  const { gpus, formats, cache_types } = read('core.json');
  for (const { id, source } of [...gpus, ...formats, ...cache_types]) assert.ok(source, id);
});

test('a model that is no longer there leaves no file behind', () => {
  const folder = built('stale');
  writeFileSync(join(folder, 'models', 'gone__model.json'), '{}');
  assert.equal(build(folder, compiler).status, 0);
  assert.ok(!readdirSync(join(folder, 'models')).includes('gone__model.json'));
});

test('the models are written as every session reads them', () => {
  const { models } = read('all.json');
  const sources = new Map(readdirSync(join(presets_folder, 'models')).map((name) => [name, JSON.parse(readFileSync(join(presets_folder, 'models', name), 'utf8'))]));
  for (const { id, config, quant_config, ...facts } of models) {
    const { config: _, quant_config: beside, ...given } = sources.get(model_file_name(id));
    assert.deepEqual({ id, ...facts }, given);
    assert.equal(config.model_type, 'spec', id);
    assert.equal(quant_config, undefined, id);
    if (beside !== undefined) assert.ok(config.quantization, id);
  }
});

test('a compiler that fails, or is not there, stops the build', () => {
  for (const program of [['false'], [join(scratch, 'no_such_compiler')]]) {
    const { status, stderr } = build(join(scratch, 'failed'), ...program);
    assert.equal(status, 1);
    assert.match(stderr, / failed: /);
  }
});

test('a call without a folder or a compiler explains itself', () => {
  for (const args of [[], [join(scratch, 'none')]]) {
    const { status, stderr } = build(...args);
    assert.equal(status, 2);
    assert.match(stderr, /usage: node build\.mjs FOLDER COMPILER/);
  }
});
