// All modules as one facade, for the page and for tests: what the main module leaves to the reader is
// converted by the reader and asked again, what it leaves to another engine's module is asked there. An
// answer is the same as that of the native program.

/** Keys of a request under which a model's configuration stands. */
const config_keys = ["model_config", "config_text", "text"];
/** These take a scenario as it is. */
const link_methods = ["link_encode", "link_decode"];
/** Converted configurations that are kept; a page has one or two at a time. */
const max_converted = 16;

const is_reader_needed = ({ code }) => code === "import.reader_needed";
const is_engine_needed = ({ code }) => code === "engine.module_needed";
const are_tools_needed = ({ code }) => code === "api.tools_needed";

/** Whether an answer is a request to load the reader first. */
export function needs_reader(reply) {
  return !reply.ok && reply.errors.some(is_reader_needed);
}

/** The module that has an engine, by its id or by the name that logs go under. */
const module_of = (engine) => (["llama_cpp", "llama.cpp", "ollama"].includes(engine) ? "llama_cpp" : "servers");

/** The engines' module that an answer asks for; null where it asks for none. */
export function needed_engine(reply) {
  const error = reply.ok ? undefined : reply.errors.find(is_engine_needed);
  return error === undefined ? null : module_of(error.args.engine);
}

/** Whether an answer is a request to load the module of methods without a catalogue first. */
export function needs_tools(reply) {
  return !reply.ok && reply.errors.some(are_tools_needed);
}

/** A module that is opened once, when it is first needed; a failure is not kept. */
class LaterModule {
  #open;
  #opening = null;
  /** What the opener resolved to; null before. */
  opened = null;

  constructor(open) {
    this.#open = open;
  }

  load() {
    this.#opening ??= this.#open().then(
      (opened) => void (this.opened = opened),
      (failure) => {
        this.#opening = null;
        throw failure;
      },
    );
    return this.#opening;
  }

  drop() {
    this.opened = this.#opening = null;
  }
}

export class Facade {
  #documents = [];
  #reader;
  #tools;
  /** By the module's name. */
  #engines;
  /** Configuration as given -> as the session reads it. */
  #converted = new Map();

  /**
   * `session` is a Session of the main module. The openers are called when what they open is first
   * needed: `open_reader` resolves to a Converter of the reader module with the class defaults loaded,
   * `open_engine` to a Session of the module "servers" or "llama_cpp", `open_tools` to a Tools object of the module for
   * methods without a catalogue.
   */
  constructor(session, { open_reader, open_engine, open_tools }) {
    this.session = session;
    this.#reader = new LaterModule(open_reader);
    this.#tools = new LaterModule(open_tools);
    const engine = (name) => [name, new LaterModule(() => this.#open_engine(open_engine, name))];
    this.#engines = new Map(["servers", "llama_cpp"].map(engine));
  }

  get has_reader() {
    return this.#reader.opened !== null;
  }

  get has_tools() {
    return this.#tools.opened !== null;
  }

  /** Loads a document into every session, also those that are opened later. */
  load_catalogue(document) {
    const text = this.session.load_catalogue(document);
    this.#documents.push(document);
    for (const { opened } of this.#engines.values()) opened?.load_catalogue(document);
    return text;
  }

  /** Puts a fresh session in the place of one that trapped, and lets go of the other modules. */
  restart(session) {
    for (const document of this.#documents) session.load_catalogue(document);
    this.session = session;
    for (const module of [this.#reader, this.#tools, ...this.#engines.values()]) module.drop();
  }

  /** The answer; it asks for the reader only while there is none. */
  call(method, request) {
    return JSON.parse(this.call_text(method, request));
  }

  /** The same as it is written. */
  call_text(method, request) {
    const known = link_methods.includes(method) ? request : this.#with_converted(request);
    const text = this.#answer(method, known);
    if (!this.has_reader || !text.startsWith('{"ok":false')) return text;
    const reply = JSON.parse(text);
    if (!needs_reader(reply)) return text;
    const wrong = new Map(
      reply.errors.filter(is_reader_needed).map((error) => [error, this.#convert(method, request, error)]),
    );
    if ([...wrong.values()].every((errors) => errors.length === 0))
      return this.#answer(method, this.#with_converted(request));
    const errors = reply.errors.flatMap((error) => wrong.get(error) ?? [error]);
    return JSON.stringify({ ...reply, errors });
  }

  /** The answer, after the modules that it needs are there. */
  async ask(method, request) {
    const reply = this.call(method, request);
    const load = this.missing_module(reply);
    if (load === null) return reply;
    await load();
    return this.ask(method, request);
  }

  /** What loads the module that an answer lacks; null where it lacks none. */
  missing_module(reply) {
    const engine = needed_engine(reply);
    if (engine !== null && this.#engines.get(engine).opened === null) return () => this.load_engine(engine);
    if (needs_tools(reply) && !this.has_tools) return () => this.load_tools();
    return needs_reader(reply) && !this.has_reader ? () => this.load_reader() : null;
  }

  load_reader() {
    return this.#reader.load();
  }

  load_engine(name) {
    return this.#engines.get(name).load();
  }

  /** Loads the module of methods without a catalogue. */
  load_tools() {
    return this.#tools.load();
  }

  /** Lets go of the reader, which after a trap is not to be used again. */
  drop_reader() {
    this.#reader.drop();
  }

  /** A session of an engines' module with the catalogue as the main one has it. */
  async #open_engine(open, name) {
    const session = await open(name);
    for (const document of this.#documents) session.load_catalogue(document);
    return session;
  }

  /** The reply of the module that has the engine or the method. */
  #answer(method, request) {
    const asked = JSON.stringify(request);
    const text = this.session.call(method, asked);
    if (!text.startsWith('{"ok":false')) return text;
    const reply = JSON.parse(text);
    const engine = this.#engines.get(needed_engine(reply))?.opened;
    if (engine) return engine.call(method, asked);
    if (!this.has_tools || !needs_tools(reply)) return text;
    return method === "check_log" ? this.#check_log(request) : this.#use_tools(method, asked);
  }

  /** The tools read the log, the module of its engine compares. */
  #check_log({ text, ...rest }) {
    const read = this.#tools.opened.call("read_log", JSON.stringify({ text }));
    if (!read.startsWith('{"ok":true')) return read;
    const { log } = JSON.parse(read).result;
    const engine = this.#engines.get(module_of(log.engine)).opened;
    if (engine !== null) return engine.call("check_log", JSON.stringify({ ...rest, log }));
    const error = { code: "engine.module_needed", path: "/text", args: { engine: log.engine }, message: "", hint: "" };
    return JSON.stringify({ ok: false, errors: [error], warnings: [] });
  }

  /** What a command line says is completed by the session, which has the models. */
  #use_tools(method, asked) {
    const text = this.#tools.opened.call(method, asked);
    if (method !== "parse_command" || !text.startsWith('{"ok":true')) return text;
    const { result, warnings } = JSON.parse(text);
    const completed = JSON.parse(this.session.call(method, JSON.stringify({ parsed: result })));
    if (!completed.ok) return JSON.stringify(completed);
    return JSON.stringify({ ...completed, warnings: [...warnings, ...completed.warnings] });
  }

  /** Converts the configuration that an error points to; returns what is wrong with it. */
  #convert(method, request, error) {
    // What an import finds has its place in the text itself.
    const place = method === "import" ? "/text" : error.path;
    const text = value_at(request, place);
    if (!config_keys.includes(place.split("/").at(-1)) || typeof text !== "string") return [error];
    const reply = JSON.parse(this.#reader.opened.convert(JSON.stringify({ text })));
    if (!reply.ok) return reply.errors.map((found) => ({ ...found, path: error.path + found.path }));
    if (this.#converted.size >= max_converted) this.#converted.clear();
    this.#converted.set(text, reply.result.text);
    return [];
  }

  #with_converted(request) {
    if (request === null || typeof request !== "object" || Array.isArray(request)) return request;
    const known = { ...request };
    for (const key of config_keys) {
      if (this.#converted.has(known[key])) known[key] = this.#converted.get(known[key]);
    }
    if (known.scenario !== undefined) known.scenario = this.#with_converted(known.scenario);
    return known;
  }
}

function value_at(request, pointer) {
  return pointer
    .split("/")
    .slice(1)
    .reduce((value, key) => value?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], request);
}
