// Both modules as one facade, for the page and for tests: what the main module leaves to the reader is
// converted by the reader and asked again. An answer is the same as that of the native program.

/** Keys of a request under which a model's configuration stands. */
const config_keys = ["model_config", "config_text", "text"];
/** These take a scenario as it is. */
const link_methods = ["link_encode", "link_decode"];
/** Converted configurations that are kept; a page has one or two at a time. */
const max_converted = 16;

const is_reader_needed = ({ code }) => code === "import.reader_needed";

/** Whether an answer is a request to load the reader first. */
export function needs_reader(reply) {
  return !reply.ok && reply.errors.some(is_reader_needed);
}

export class Facade {
  #open_reader;
  #loading = null;
  #reader = null;
  /** Configuration as given -> as the session reads it. */
  #converted = new Map();

  /**
   * `session` is a Session of the main module; `open_reader` resolves to a Converter of the reader
   * module with the class defaults loaded, and is called when one is first needed.
   */
  constructor(session, open_reader) {
    this.session = session;
    this.#open_reader = open_reader;
  }

  get has_reader() {
    return this.#reader !== null;
  }

  /** The answer; it asks for the reader only while there is none. */
  call(method, request) {
    return JSON.parse(this.call_text(method, request));
  }

  /** The same as it is written. */
  call_text(method, request) {
    const known = link_methods.includes(method) ? request : this.#with_converted(request);
    const text = this.session.call(method, JSON.stringify(known));
    if (this.#reader === null || !text.startsWith('{"ok":false')) return text;
    const reply = JSON.parse(text);
    if (!needs_reader(reply)) return text;
    const wrong = new Map(
      reply.errors.filter(is_reader_needed).map((error) => [error, this.#convert(method, request, error)]),
    );
    if ([...wrong.values()].every((errors) => errors.length === 0))
      return this.session.call(method, JSON.stringify(this.#with_converted(request)));
    const errors = reply.errors.flatMap((error) => wrong.get(error) ?? [error]);
    return JSON.stringify({ ...reply, errors });
  }

  /** The answer, after the reader is there if it needs one. */
  async ask(method, request) {
    const reply = this.call(method, request);
    if (!needs_reader(reply) || this.has_reader) return reply;
    await this.load_reader();
    return this.call(method, request);
  }

  /** Loads the reader; a failure is not kept. */
  load_reader() {
    this.#loading ??= this.#open_reader().then(
      (reader) => void (this.#reader = reader),
      (failure) => {
        this.#loading = null;
        throw failure;
      },
    );
    return this.#loading;
  }

  /** Lets go of the reader, which after a trap is not to be used again. */
  drop_reader() {
    this.#reader = this.#loading = null;
  }

  /** Converts the configuration that an error points to; returns what is wrong with it. */
  #convert(method, request, error) {
    // What an import finds has its place in the text itself.
    const place = method === "import" ? "/text" : error.path;
    const text = value_at(request, place);
    if (!config_keys.includes(place.split("/").at(-1)) || typeof text !== "string") return [error];
    const reply = JSON.parse(this.#reader.convert(JSON.stringify({ text })));
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
