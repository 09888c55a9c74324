// Checks every preset and writes the catalogue: node build.mjs FOLDER COMPILER...
//   FOLDER/core.json           index of the models and everything else: what a page loads first
//   FOLDER/models/<file>.json  {"models": [facts]}: one model, loaded when it is chosen
//   FOLDER/reader.json         class_defaults: what the reader of foreign configurations loads
//   FOLDER/all.json            everything in one document
// COMPILER is a program with its first arguments; it gets the paths of its input and its output
// behind them (core/tools/compile_catalogue.cpp, wasm/compile.mjs).
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CatalogueError, load_catalogue, model_file_name } from './catalogue.mjs';

/** The models with their configurations in the form that every session reads. */
function compile_models([program, ...first_args], { all: { class_defaults, models } }) {
  const scratch = mkdtempSync(join(tmpdir(), 'vramgauge-compile-'));
  try {
    const [input, output] = ['input.json', 'output.json'].map((name) => join(scratch, name));
    writeFileSync(input, JSON.stringify({ class_defaults, models }));
    const { status, error } = spawnSync(program, [...first_args, input, output], { stdio: ['ignore', 'inherit', 'inherit'] });
    if (status !== 0) throw new CatalogueError(`${program} failed: ${error?.message ?? `exit status ${status}`}`);
    return compiled_models(JSON.parse(readFileSync(output, 'utf8')));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function compiled_models({ ok, result, errors }) {
  if (!ok) throw new CatalogueError(errors.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  return result.models;
}

function remove_stale_models(folder, wanted) {
  for (const name of readdirSync(folder)) {
    if (!wanted.has(name)) rmSync(join(folder, name));
  }
}

function write_bundle(folder, { core, reader, all }, models) {
  const models_folder = join(folder, 'models');
  mkdirSync(models_folder, { recursive: true });
  const write = (path, data) => writeFileSync(path, JSON.stringify(data));
  write(join(folder, 'core.json'), core);
  write(join(folder, 'reader.json'), reader);
  for (const model of models) write(join(models_folder, model_file_name(model.id)), { models: [model] });
  remove_stale_models(models_folder, new Set(models.map(({ id }) => model_file_name(id))));
  write(join(folder, 'all.json'), { ...all, models });
}

function main([folder, ...compiler]) {
  if (folder === undefined || compiler.length === 0) {
    console.error('usage: node build.mjs FOLDER COMPILER...');
    return 2;
  }
  try {
    const catalogue = load_catalogue();
    write_bundle(folder, catalogue, compile_models(compiler, catalogue));
    const { core } = catalogue;
    console.log(`${core.model_index.length} models, ${core.gpus.length} GPUs, ${core.formats.length} weight formats, ${core.cache_types.length} cache types -> ${folder}`);
    return 0;
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    console.error(error.message);
    return 1;
  }
}

process.exitCode = main(process.argv.slice(2));
