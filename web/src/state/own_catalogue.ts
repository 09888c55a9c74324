import { page_error, type CoreClient, type PageCode } from "../core/client";
import type { CatalogueItem, CatalogueResult, Diag, Envelope, JsonValue } from "../core/types";

/**
 * A catalogue of one's own: a JSON object with any of the lists of presets/README.md. Models may hold a
 * plain config.json; an engine may hold no more than the constants that were measured.
 */
export type OwnCatalogue = Record<string, JsonValue>;

type Entry = Record<string, JsonValue>;

/** Lists that may be given, and how many entries each of them had. */
export type Counts = Partial<Record<(typeof kLists)[number], number>>;

const kLists = ["models", "gpus", "formats", "cache_types", "engines", "launchers"] as const;
/** A catalogue of thousands of models has a few megabytes. */
export const kMaxBytes = 32 * 2 ** 20;
/** Configurations in one of these forms need no reader. */
const kOwnForms = ["spec", "custom"];

export class CatalogueProblem extends Error {
  constructor(readonly findings: Diag[]) {
    super(findings.map((finding) => finding.message).join("; "));
  }
}

const problem = (code: PageCode, detail = ""): CatalogueProblem =>
  new CatalogueProblem(page_error(code, "", { detail }).errors);

/** Adds a catalogue to the core's; the answers that follow are made with it. */
export async function add_catalogue(core: CoreClient, text: string): Promise<Counts> {
  const own = parse(text);
  const document: OwnCatalogue = {};
  const counts: Counts = {};
  for (const list of kLists) {
    const entries = own[list];
    if (!Array.isArray(entries)) continue;
    counts[list] = entries.length;
    document[list] = entries.map(as_entry);
  }
  if (Object.keys(counts).length === 0) throw problem("page.catalogue_without_lists");
  if (document["models"]) {
    const models = await compiled(core, document["models"] as Entry[]);
    document["models"] = models;
    document["model_index"] = models.map(index_entry);
  }
  if (document["engines"]) document["engines"] = completed(core, document["engines"] as Entry[]);
  sound(core.load_document(JSON.stringify(document)));
  return counts;
}

/** What to tell about a catalogue that could not be added. */
export const findings_of = (failure: unknown): Diag[] =>
  failure instanceof CatalogueProblem
    ? failure.findings
    : page_error("page.catalogue_not_fetched", "", { detail: String(failure) }).errors;

function parse(text: string): OwnCatalogue {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (failure) {
    throw problem("page.catalogue_not_json", String(failure));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw problem("page.catalogue_without_lists");
  return value as OwnCatalogue;
}

/** What is no entry at all is left for the core to refuse, by its place. */
const as_entry = (value: JsonValue): Entry =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};

/** Models in a foreign form go through the reader, which is loaded for them. */
async function compiled(core: CoreClient, models: Entry[]): Promise<Entry[]> {
  const is_own = ({ config }: Entry): boolean =>
    kOwnForms.includes(String((config as Entry | undefined)?.["model_type"]));
  const foreign = models.filter((model) => !is_own(model));
  if (foreign.length === 0) return models;
  const { instance, catalogue } = await core.reader_module();
  const converter = new instance.Converter();
  converter.load_catalogue(catalogue);
  const reply = JSON.parse(converter.compile(JSON.stringify({ models: foreign })));
  const { models: read } = sound(reply as Envelope<{ models: Entry[] }>);
  return [...models.filter(is_own), ...read];
}

/** What lists and searches show of a model. */
const index_entry = ({ id, name, family, aliases, verified, total_params }: Entry): Entry => {
  const shown = { id, name: name ?? id, family, aliases, verified, parameters: total_params };
  const known = Object.entries(shown).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as Entry;
};

/** What an engine's entry leaves out stays as it is; its constants take the place of those of the same key. */
function completed(core: CoreClient, engines: Entry[]): Entry[] {
  const known = core.call("catalogue", { kind: "engines" });
  const items: CatalogueItem[] = known.ok ? (known.result as CatalogueResult).items : [];
  return engines.map((engine) => {
    const base = items.find((item) => item.id === engine["id"]) as Entry | undefined;
    const own = list_of(engine["constants"]);
    const keys = new Set(own.map((constant) => constant["key"]));
    const kept = list_of(base?.["constants"]).filter((constant) => !keys.has(constant["key"]));
    return { ...base, ...engine, constants: [...kept, ...own] };
  });
}

const list_of = (value: JsonValue | undefined): Entry[] =>
  Array.isArray(value) ? (value as Entry[]) : [];

function sound<T>(reply: Envelope<T>): T {
  if (!reply.ok) throw new CatalogueProblem(reply.errors);
  return reply.result;
}
