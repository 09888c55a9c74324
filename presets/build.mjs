// Checks every preset and writes the catalogue: node build.mjs FOLDER
//   FOLDER/core.json           index of the models and everything else: what a page loads first
//   FOLDER/models/<file>.json  {"models": [facts]}: one model, loaded when it is chosen
//   FOLDER/all.json            everything in one document
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CatalogueError, load_catalogue, model_file_name } from './catalogue.mjs';

function remove_stale_models(folder, wanted) {
  for (const name of readdirSync(folder)) {
    if (!wanted.has(name)) rmSync(join(folder, name));
  }
}

function write_bundle(folder, { core, models, all }) {
  const models_folder = join(folder, 'models');
  mkdirSync(models_folder, { recursive: true });
  const write = (path, data) => writeFileSync(path, JSON.stringify(data));
  write(join(folder, 'core.json'), core);
  write(join(folder, 'all.json'), all);
  for (const model of models) write(join(models_folder, model_file_name(model.id)), { models: [model] });
  remove_stale_models(models_folder, new Set(models.map(({ id }) => model_file_name(id))));
}

function main([folder, ...rest]) {
  if (folder === undefined || rest.length > 0) {
    console.error('usage: node build.mjs FOLDER');
    return 2;
  }
  try {
    const catalogue = load_catalogue();
    write_bundle(folder, catalogue);
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
