/**
 * Prints the catalogue document that the first answer needs, which is small: what the default scenario names.
 *   node first_catalogue.mjs MODULES CATALOGUE
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { open_session } from "../../wasm/modules.mjs";

const [modules, catalogue] = process.argv.slice(2);
const read = (...path) => readFileSync(join(catalogue, ...path), "utf8");
const default_of = (fields, key) => fields.find((field) => field.key === key).default;

const whole = read("core.json");
const session = await open_session(modules, [whole]);
const { fields } = JSON.parse(session.call("describe", "{}")).result;
const lists = JSON.parse(whole);
const named = (list, key) => lists[list].filter(({ id }) => id === default_of(fields, key));
const [model] = named("model_index", "model");
const facts = read("models", model.file);
session.load_catalogue(facts);

const first = JSON.stringify({
  ...JSON.parse(facts),
  model_index: [model],
  gpus: named("gpus", "gpu"),
  formats: named("formats", "weight_format"),
  cache_types: named("cache_types", "cache_type_k"),
  engines: named("engines", "engine"),
});

const answer = (from) => from.call("estimate", JSON.stringify({ scenario: {} }));
const expected = answer(session);
if (!JSON.parse(expected).ok || answer(await open_session(modules, [first])) !== expected)
  throw new Error("the default scenario has another answer without the rest of the catalogue");
process.stdout.write(first);
