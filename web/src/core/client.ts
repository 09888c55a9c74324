import create_module from "virtual:core-glue";
import type { CoreAssets } from "./assets";
import type { Diag, Envelope, ErrorEnvelope, Method, Methods } from "./types";

type Session = InstanceType<Awaited<ReturnType<typeof create_module>>["Session"]>;

/** Codes of problems that arise in the page itself, not in the core. Translated like the core's. */
export type PageCode =
  "page.internal_error" | "page.fetch_failed" | "page.not_a_number" | "page.file_too_large";

export function page_error(code: PageCode, path = "", args: Diag["args"] = {}): ErrorEnvelope {
  return { ok: false, errors: [{ code, path, args, message: code, hint: "" }], warnings: [] };
}

/**
 * Typed access to one core session. Calls are synchronous and cheap. If the module traps, the client
 * starts a new instance from the compiled module, loads the same catalogue documents again and
 * reports "page.internal_error" for the call that trapped.
 */
export class CoreClient {
  #documents: Uint8Array[] = [];
  #loading = new Map<string, Promise<void>>();
  #restarting: Promise<void> | null = null;

  private constructor(
    private readonly assets: CoreAssets,
    private readonly module: WebAssembly.Module,
    private session: Session,
  ) {}

  static async start(assets: CoreAssets): Promise<CoreClient> {
    const [module, catalogue] = await Promise.all([assets.module(), assets.catalogue()]);
    const client = new CoreClient(assets, module, await open_session(module));
    client.load(catalogue);
    return client;
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
      return JSON.parse(this.session.call(method, JSON.stringify(request))) as Envelope<
        Methods[M]["result"]
      >;
    } catch (trap) {
      this.#restart();
      return page_error("page.internal_error", "", { method, detail: String(trap) });
    }
  }

  /** Fetches and loads the facts of one model; several callers share one fetch. */
  load_model_facts(file: string): Promise<void> {
    const pending =
      this.#loading.get(file) ?? this.assets.model_facts(file).then((facts) => this.load(facts));
    this.#loading.set(file, pending);
    pending.catch(() => this.#loading.delete(file));
    return pending;
  }

  private load(document: Uint8Array): void {
    const reply = JSON.parse(this.session.load_catalogue(document)) as Envelope<unknown>;
    if (!reply.ok) throw new Error(reply.errors.map((error) => error.message).join("; "));
    this.#documents.push(document);
  }

  #restart(): void {
    this.#restarting ??= open_session(this.module)
      .then((session) => {
        this.session = session;
        for (const document of this.#documents) session.load_catalogue(document);
      })
      .finally(() => (this.#restarting = null));
  }
}

/** The file that holds the missing facts, when that is the only thing an answer lacks. */
export function missing_facts(reply: Envelope<unknown>): string | null {
  if (reply.ok) return null;
  const missing = reply.errors.find((error) => error.code === "catalogue.model_not_loaded");
  const file = missing?.args["file"];
  return typeof file === "string" ? file : null;
}

async function open_session(module: WebAssembly.Module): Promise<Session> {
  const instance = await create_module({
    instantiateWasm: (imports, done) => {
      void WebAssembly.instantiate(module, imports).then((ready) => done(ready, module));
      return {};
    },
  });
  return new instance.Session();
}
