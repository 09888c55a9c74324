import create_main from "virtual:core-glue";
import type { RawReaderModule } from "virtual:core-reader-glue";
import { Facade, type EngineModule, type RawSession, type RawTools } from "../../../wasm/facade.mjs";
import type { CoreAssets } from "./assets";
import type { Diag, Envelope, ErrorEnvelope, JsonValue, Method, Methods } from "./types";

/** Codes of problems that arise in the page itself, not in the core. Translated like the core's. */
export type PageCode =
  | "page.internal_error"
  | "page.fetch_failed"
  | "page.not_a_number"
  | "page.file_too_large"
  | "page.not_a_probe"
  | "page.catalogue_not_json"
  | "page.catalogue_without_lists"
  | "page.catalogue_not_fetched";

export function page_error(code: PageCode, path = "", args: Diag["args"] = {}): ErrorEnvelope {
  return { ok: false, errors: [{ code, path, args, message: code, hint: "" }], warnings: [] };
}

/** The reader of foreign formats, instantiated, and the catalogue document that its objects load. */
export interface ReaderModule {
  instance: RawReaderModule;
  catalogue: Uint8Array;
}

/**
 * Typed access to the core: a session of the main module, those of other engines once they are asked for,
 * and the reader once something in a foreign format is met. Calls are synchronous and cheap. If a module
 * traps, the client starts new instances, loads the same catalogue documents again and reports
 * "page.internal_error" for the call that trapped.
 *
 * Reading the catalogue takes longer than everything else before an answer. Until `complete` has settled,
 * a client that started quickly knows what the default scenario names, and is to be asked for nothing else.
 */
export class CoreClient {
  #loading = new Map<string, Promise<void>>();
  #restarting: Promise<void> | null = null;
  #reader: Promise<ReaderModule> | null = null;
  #all_models: Promise<void> | null = null;
  #completing: Promise<void> | null = null;
  #is_complete = false;
  #facade: Facade;

  private constructor(
    private readonly assets: CoreAssets,
    private readonly module: WebAssembly.Module,
    session: RawSession,
  ) {
    this.#facade = this.#facade_of(session);
  }

  /** A client that knows the whole catalogue. */
  static async start(assets: CoreAssets): Promise<CoreClient> {
    const [module, catalogue] = await Promise.all([assets.module(), assets.catalogue()]);
    const client = new CoreClient(assets, module, await open_session(module));
    load(client.#facade, catalogue);
    client.#is_complete = true;
    return client;
  }

  /** A client for the default scenario, where the catalogue comes apart; `complete` brings the rest. */
  static async start_quickly(assets: CoreAssets): Promise<CoreClient> {
    const first_catalogue = assets.first_catalogue();
    if (!first_catalogue) return CoreClient.start(assets);
    const [module, first] = await Promise.all([assets.module(), first_catalogue]);
    const client = new CoreClient(assets, module, await open_session(module));
    load(client.#facade, first);
    return client;
  }

  get is_complete(): boolean {
    return this.#is_complete;
  }

  /** Fetches and reads the whole catalogue, once. */
  complete(): Promise<void> {
    if (this.#is_complete) return Promise.resolve();
    this.#completing ??= this.#complete().finally(() => (this.#completing = null));
    return this.#completing;
  }

  /** A session of its own, list by list in tasks of their own: the page answers to input in between. */
  async #complete(): Promise<void> {
    const [session, catalogue, first] = await Promise.all([
      open_session(this.module),
      this.assets.catalogue(),
      this.assets.first_catalogue(),
    ]);
    const facade = this.#facade_of(session);
    const lists = JSON.parse(new TextDecoder().decode(catalogue)) as Record<string, JsonValue>;
    for (const [list, entries] of Object.entries(lists)) {
      await next_task();
      load(facade, JSON.stringify({ [list]: entries }));
    }
    if (first) load(facade, first);
    this.#facade = facade;
    this.#is_complete = true;
  }

  #facade_of(session: RawSession): Facade {
    return new Facade(session, {
      open_reader: () => this.#open_converter(),
      open_engine: (name) => open_engine(this.assets, name),
      open_tools: () => open_tools(this.assets),
    });
  }

  /** Settles when a restart after a trap, if one is under way, has finished. */
  async ready(): Promise<void> {
    await this.#restarting;
  }

  call<M extends Method>(
    method: M,
    request: Methods[M]["request"],
  ): Envelope<Methods[M]["result"]> {
    try {
      return this.#facade.call(method, request) as Envelope<Methods[M]["result"]>;
    } catch (trap) {
      this.#restart();
      return page_error("page.internal_error", "", { method, detail: String(trap) });
    }
  }

  /** The same, once everything that the answer lacks has been fetched. */
  async ask<M extends Method>(
    method: M,
    request: Methods[M]["request"],
  ): Promise<Envelope<Methods[M]["result"]>> {
    const reply = this.call(method, request);
    const fetch_missing = this.missing_part(reply);
    if (!fetch_missing) return reply;
    try {
      await fetch_missing();
    } catch (failure) {
      return page_error("page.fetch_failed", "/model", { detail: String(failure) });
    }
    return this.ask(method, request);
  }

  /** What fetches the part of the core that an answer lacks; null where it lacks none. */
  missing_part(reply: Envelope<unknown>): (() => Promise<void>) | null {
    const file = missing_facts(reply);
    if (file !== null) return () => this.load_model_facts(file);
    return reply.ok ? null : this.#facade.missing_module(reply);
  }

  /** Fetches and loads the facts of one model; several callers share one fetch. */
  load_model_facts(file: string): Promise<void> {
    const pending =
      this.#loading.get(file) ?? this.assets.model_facts(file).then((facts) => load(this.#facade, facts));
    this.#loading.set(file, pending);
    pending.catch(() => this.#loading.delete(file));
    return pending;
  }

  /** Fetches and loads the facts of every model, once. */
  load_all_models(): Promise<void> {
    this.#all_models ??= (this.assets.all_models() ?? Promise.resolve(null)).then((facts) => {
      if (facts) load(this.#facade, facts);
    });
    this.#all_models.catch(() => (this.#all_models = null));
    return this.#all_models;
  }

  /** Fetches the reader, if it is not there yet. */
  load_reader(): Promise<void> {
    return this.#facade.load_reader();
  }

  /** The reader's module, for those who read files with it; fetched when it is first asked for. */
  reader_module(): Promise<ReaderModule> {
    this.#reader ??= open_reader(this.assets).catch((failure: unknown) => {
      this.#reader = null;
      throw failure;
    });
    return this.#reader;
  }

  /** Lets go of the reader, which after a trap is not to be used again. */
  drop_reader(): void {
    this.#reader = null;
    this.#facade.drop_reader();
  }

  /** Merges a document into the catalogue; one that is not sound changes nothing. */
  load_document(document: Uint8Array | string): Envelope<unknown> {
    return load_into(this.#facade, document);
  }

  async #open_converter(): Promise<InstanceType<RawReaderModule["Converter"]>> {
    const { instance, catalogue } = await this.reader_module();
    const converter = new instance.Converter();
    converter.load_catalogue(catalogue);
    return converter;
  }

  #restart(): void {
    this.drop_reader();
    this.#restarting ??= open_session(this.module)
      .then((session) => this.#facade.restart(session))
      .finally(() => (this.#restarting = null));
  }
}

const load_into = (facade: Facade, document: Uint8Array | string): Envelope<unknown> =>
  JSON.parse(facade.load_catalogue(document)) as Envelope<unknown>;

function load(facade: Facade, document: Uint8Array | string): void {
  const reply = load_into(facade, document);
  if (!reply.ok) throw new Error(reply.errors.map((error) => error.message).join("; "));
}

const next_task = (): Promise<void> => new Promise((done) => setTimeout(done));

/** The file that holds the missing facts of a model; a log that is read is an answer without its prediction then. */
function missing_facts(reply: Envelope<unknown>): string | null {
  const errors = reply.ok
    ? ((reply.result as { prediction_errors?: Diag[] } | null)?.prediction_errors ?? [])
    : reply.errors;
  const missing = errors.find((error) => error.code === "catalogue.model_not_loaded");
  const file = missing?.args["file"];
  return typeof file === "string" ? file : null;
}

/** Lets a module's own script instantiate what is compiled already. */
function with_module(module: WebAssembly.Module): ModuleOptions {
  return {
    instantiateWasm: (imports, done) => {
      void WebAssembly.instantiate(module, imports).then((ready) => done(ready, module));
      return {};
    },
  };
}

async function open_session(module: WebAssembly.Module): Promise<RawSession> {
  const instance = await create_main(with_module(module));
  return new instance.Session();
}

const engine_glue = {
  servers: () => import("virtual:core-servers-glue"),
  llama_cpp: () => import("virtual:core-llama-cpp-glue"),
};

async function open_engine(assets: CoreAssets, name: EngineModule): Promise<RawSession> {
  const [glue, module] = await Promise.all([engine_glue[name](), assets.engine_module(name)]);
  const instance = await glue.default(with_module(module));
  return new instance.Session();
}

async function open_tools(assets: CoreAssets): Promise<RawTools> {
  const [glue, module] = await Promise.all([
    import("virtual:core-tools-glue"),
    assets.tools_module(),
  ]);
  const instance = await glue.default(with_module(module));
  return new instance.Tools();
}

async function open_reader(assets: CoreAssets): Promise<ReaderModule> {
  const [glue, module, catalogue] = await Promise.all([
    import("virtual:core-reader-glue"),
    assets.reader_module(),
    assets.reader_catalogue(),
  ]);
  return { instance: await glue.default(with_module(module)), catalogue };
}
