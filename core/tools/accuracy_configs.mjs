// Gathers what rows of truth files are predicted from beside the catalogue: the models' own
// configurations, and engines whether they are served or not:
// node accuracy_configs.mjs PRESETS OUTPUT.json
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [presets, output] = process.argv.slice(2);
const read = (...parts) => JSON.parse(readFileSync(join(presets, ...parts), 'utf8'));
const read_all = (folder) =>
  readdirSync(join(presets, folder))
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => read(folder, name));

const models = read_all('models').map(({ id, config, quant_config }) => ({ id, config, quant_config }));
// What starts an engine has no constants.
const engines = read_all('engines').filter(({ constants }) => constants !== undefined);
writeFileSync(output, JSON.stringify({ class_defaults: read('class_defaults.json'), models, engines }));
