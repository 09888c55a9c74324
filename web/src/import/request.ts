import { decoded } from "./address";
import { ImportFailure } from "./failure";

/** How long a server may say nothing, ms. */
export const kSilenceMs = 30_000;
/** Longest answer that is taken as text, bytes: the listing of a very large repository. */
const kMaxTextBytes = 16 * 2 ** 20;

const policy_violations: string[] = [];
globalThis.document?.addEventListener("securitypolicyviolation", (event) =>
  policy_violations.push(event.blockedURI),
);

/** One request; ends when it is cancelled or when the server has been silent for too long. */
export class Request {
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timed_out = false;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(
    readonly url: string,
    private readonly signal: AbortSignal,
    private readonly silence_ms = kSilenceMs,
  ) {
    signal.addEventListener("abort", this.#abort);
  }

  async send(headers: Record<string, string>): Promise<Response> {
    if (this.signal.aborted) throw new ImportFailure("cancelled");
    this.#wait();
    try {
      const response = await fetch(this.url, {
        headers,
        signal: this.#controller.signal,
        cache: "no-store",
        credentials: "omit",
        referrerPolicy: "no-referrer",
      });
      clearTimeout(this.#timer);
      this.#reader = response.body?.getReader();
      return response;
    } catch {
      const failure = this.#interruption() ?? (await unreachable(this.url));
      this.end();
      throw failure;
    }
  }

  /** The next piece of the answer; null at its end. */
  async next(): Promise<Uint8Array | null> {
    this.#wait();
    try {
      const { value } = (await this.#reader?.read()) ?? {};
      clearTimeout(this.#timer);
      if (!value) this.end();
      return value ?? null;
    } catch {
      const failure = this.#interruption() ?? new ImportFailure("cut_short", place(this.url));
      this.end();
      throw failure;
    }
  }

  /** The rest of the answer; what goes beyond `max_bytes` is left out. */
  async text(max_bytes = kMaxTextBytes): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    let taken = 0;
    for (let piece = await this.next(); piece && taken < max_bytes; piece = await this.next()) {
      taken += piece.length;
      text += decoder.decode(piece, { stream: true });
    }
    this.end();
    return text;
  }

  /** Nothing more is wanted. */
  end(): void {
    clearTimeout(this.#timer);
    this.signal.removeEventListener("abort", this.#abort);
    this.#controller.abort();
  }

  readonly #abort = (): void => this.#controller.abort();

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timed_out = true;
      this.#controller.abort();
    }, this.silence_ms);
  }

  #interruption(): ImportFailure | undefined {
    if (this.signal.aborted) return new ImportFailure("cancelled");
    return this.#timed_out
      ? new ImportFailure("timeout", { ...place(this.url), seconds: this.silence_ms / 1000 })
      : undefined;
  }
}

/** Server and file of an address, for messages. */
export function place(url: string): { host: string; file: string } {
  const { host, pathname } = new URL(url);
  return { host, file: decoded(pathname.slice(pathname.lastIndexOf("/") + 1)) };
}

/** A browser does not say why a request came to nothing, save where the page's own policy forbade it. */
async function unreachable(url: string): Promise<ImportFailure> {
  // The report of a violation is a task of its own, after the one that failed.
  await new Promise((done) => setTimeout(done, 20));
  const { origin, protocol } = new URL(url);
  const { host } = place(url);
  if (policy_violations.some((blocked) => blocked.startsWith(origin)))
    return new ImportFailure("policy_blocked", { host });
  if (globalThis.navigator?.onLine === false) return new ImportFailure("offline", { host });
  return protocol === "http:" && globalThis.location?.protocol === "https:"
    ? new ImportFailure("insecure", { host })
    : new ImportFailure("unreachable", { host });
}
