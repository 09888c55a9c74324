// Reads, checks and joins the preset files; build.mjs writes the result, the tests inspect it.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';

export const presets_folder = import.meta.dirname;

/** Raised with every problem found, one a line. */
export class CatalogueError extends Error {}

/** A search name in normal form: what two names must differ in to be two names. */
export function normal_form(text) {
  return text.toLowerCase().replace(/[^a-z0-9.+]+/g, ' ').trim();
}

export function model_file_name(id) {
  return `${id.replaceAll('/', '__')}.json`;
}

const by_code_unit = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

function read_json(path) {
  const text = readFileSync(path, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CatalogueError(`${path}: ${error.message}`);
  }
}

function read_folder(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort(by_code_unit)
    .map((name) => ({ name, data: read_json(join(folder, name)) }));
}

/** One checking function per schema: (data) -> list of problems. */
export function load_schemas(folder = join(presets_folder, 'schema')) {
  const ajv = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, strictTypes: false });
  const checks = {};
  for (const { name, data } of read_folder(folder)) {
    const validate = ajv.compile(data);
    checks[name.replace('.schema.json', '')] = (value) =>
      validate(value) ? [] : validate.errors.map(describe_problem);
  }
  return checks;
}

function describe_problem({ instancePath, message, params }) {
  const detail = params.additionalProperty ?? params.unevaluatedProperty ?? params.allowedValues?.join(', ');
  return `${instancePath || '/'} ${message}${detail === undefined ? '' : ` (${detail})`}`;
}

/** Every preset file, unchecked. */
export function read_presets(folder = presets_folder) {
  const table = (name) => read_json(join(folder, `${name}.json`));
  return {
    models: read_folder(join(folder, 'models')),
    engines: read_folder(join(folder, 'engines')),
    gpus: table('gpus'),
    formats: table('formats'),
    cache_types: table('cache_types'),
    class_defaults: table('class_defaults'),
  };
}

/** All problems of the presets, each with the file it is in; empty when they are sound. */
export function find_problems(presets, checks = load_schemas()) {
  const problems = [];
  const check = (file, kind, data) => problems.push(...checks[kind](data).map((p) => `${file}: ${p}`));
  for (const { name, data } of presets.models) check(`models/${name}`, 'model', data);
  for (const { name, data } of presets.engines) check(`engines/${name}`, 'engine', data);
  for (const kind of ['gpus', 'formats', 'cache_types', 'class_defaults']) check(`${kind}.json`, kind, presets[kind]);
  // What follows relies on the shapes that the schemas promise.
  if (problems.length > 0) return problems;
  return [
    ...model_file_problems(presets.models),
    ...name_problems('models', presets.models.map(({ data }) => data)),
    ...name_problems('gpus.json', presets.gpus.gpus),
    ...name_problems('formats.json', presets.formats.formats),
    ...name_problems('cache_types.json', presets.cache_types.cache_types),
    ...name_problems('engines', presets.engines.map(({ data }) => ({ aliases: [], ...data }))),
    ...capacity_problems(presets.gpus.gpus),
    ...format_problems(presets.formats.formats),
    ...engine_problems(presets.engines),
  ];
}

function model_file_problems(models) {
  return models
    .filter(({ name, data }) => name !== model_file_name(data.id))
    .map(({ name, data }) => `models/${name}: id ${data.id} belongs in ${model_file_name(data.id)}`);
}

/** An id, name or alias must lead to one entry only. */
function name_problems(file, entries) {
  const owner = new Map();
  const problems = [];
  for (const entry of entries) {
    for (const name of [entry.id, entry.name, ...entry.aliases].map(normal_form)) {
      const other = owner.get(name);
      if (other !== undefined && other !== entry) problems.push(`${file}: "${name}" means both ${other.id} and ${entry.id}`);
      owner.set(name, entry);
    }
    const own = [entry.id, entry.name].map(normal_form);
    for (const alias of entry.aliases) {
      if (own.includes(alias)) problems.push(`${file}: ${entry.id} repeats its own name as alias "${alias}"`);
    }
  }
  return problems;
}

function capacity_problems(gpus) {
  return gpus
    .filter((gpu) => gpu.usable_bytes > gpu.total_bytes)
    .map((gpu) => `gpus.json: ${gpu.id} can use more (${gpu.usable_bytes}) than it has (${gpu.total_bytes})`);
}

function format_problems(formats) {
  const ids = new Set(formats.map(({ id }) => id));
  const ggml_types = new Set(formats.map(({ layout }) => layout?.ggml_type));
  const problems = [];
  for (const { id, role_formats = {}, layout = {} } of formats) {
    for (const [role, other] of Object.entries(role_formats)) {
      if (!ids.has(other)) problems.push(`formats.json: ${id} stores ${role} as ${other}, which is not listed`);
    }
    if (layout.base_type !== undefined && !ggml_types.has(layout.base_type)) {
      problems.push(`formats.json: ${id} is built on ${layout.base_type}, which is not listed`);
    }
  }
  return problems;
}

function engine_problems(engines) {
  const problems = [];
  for (const { name, data } of engines) {
    if (name !== `${data.id}.json`) problems.push(`engines/${name}: id ${data.id} belongs in ${data.id}.json`);
    const keys = data.constants.map(({ key, since }) => `${key} ${since ?? ''}`);
    if (new Set(keys).size !== keys.length) problems.push(`engines/${name}: a constant is listed twice`);
    for (const { key, low, value, high } of data.constants) {
      if (!(low <= value && value <= high)) problems.push(`engines/${name}: ${key} is not within its bounds`);
    }
  }
  return problems;
}

const rounded_units = { B: 1e9, T: 1e12 };

/** Parameters for lists: the published count, or the rounded one where only that is published. */
function listed_parameters({ total_params, total_params_rounded: rounded }) {
  if (total_params !== undefined) return total_params;
  if (rounded === undefined) return undefined;
  return Math.round(Number.parseFloat(rounded) * rounded_units[rounded.at(-1)]);
}

function index_entry(model) {
  const { id, name, family, aliases, verified } = model;
  return { id, name, family, aliases, file: model_file_name(id), parameters: listed_parameters(model), verified };
}

/** The documents of the bundle: what the page loads first, what its reader loads, and everything in one. */
export function bundle(presets) {
  const models = presets.models.map(({ data }) => data);
  const listed = (is_listed) => presets.engines.map(({ data }) => data).filter(is_listed);
  const core = {
    model_index: models.map(index_entry),
    gpus: presets.gpus.gpus,
    formats: presets.formats.formats,
    cache_types: presets.cache_types.cache_types,
    engines: listed(({ is_served, starts }) => is_served === undefined && starts === undefined),
    launchers: listed(({ starts }) => starts !== undefined),
  };
  const reader = { class_defaults: presets.class_defaults };
  return { core, reader, models, all: { ...core, ...reader, models } };
}

/** Reads and checks everything, or throws with the list of problems. */
export function load_catalogue(folder = presets_folder) {
  const presets = read_presets(folder);
  const problems = find_problems(presets);
  if (problems.length > 0) throw new CatalogueError(problems.join('\n'));
  return bundle(presets);
}
