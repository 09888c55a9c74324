import type { Diag } from "../core/types";
import { check_parts, find_variants, type Variant } from "./choose";
import { as_failure, ImportFailure } from "./failure";
import { HttpSource } from "./http_source";
import { file_address, list_files, type Repository } from "./hub";
import { parse_base, parse_target } from "./hub_target";
import type { ModelReader, ReadResult } from "./model_reader";
import { FileSource } from "./range_source";
import { read_model, type ModelSources, type Progress } from "./read_model";

const kNoProgress: Progress = { files: 0, files_done: 0, bytes: 0, frac: 0 };

export interface HubRequest {
  name: string;
  base: string;
  token: string;
}

/** Where an import stands. */
export type ImportState =
  | { kind: "idle" }
  | { kind: "listing"; host: string }
  | { kind: "choosing"; variants: Variant[] }
  | { kind: "reading"; progress: Progress }
  | { kind: "failed"; failure: ImportFailure }
  | { kind: "refused"; findings: Diag[] }
  | { kind: "done"; result: ReadResult; warnings: Diag[]; progress: Progress };

/** Reads one model at a time, from a hub or from files; "change" is dispatched whenever the state changes. */
export class ImportTask extends EventTarget {
  state: ImportState = { kind: "idle" };
  #controller: AbortController | null = null;
  #continue: ((variant: Variant) => Promise<void>) | null = null;

  constructor(private readonly open_reader: () => Promise<ModelReader>) {
    super();
  }

  read_hub(request: HubRequest): Promise<void> {
    return this.#run(async (signal) => {
      const token = request.token.trim() || undefined;
      const base = parse_base(request.base);
      const target = parse_target(request.name, base);
      if (target.kind === "file")
        return this.#read(
          { name: model_name(target.name), sources: [new HttpSource({ ...target, token })] },
          signal,
        );
      this.#show({ kind: "listing", host: new URL(target.base).host });
      const files = await list_files(target, token, signal);
      const variants = find_variants(files, target.path, target.tag);
      if (variants.length === 1) return this.#read_variant(target, variants[0]!, token, signal);
      this.#continue = (variant) =>
        this.#run((next_signal) => this.#read_variant(target, variant, token, next_signal));
      this.#show({ kind: "choosing", variants });
    });
  }

  /** Goes on with one of the variants that were offered. */
  async choose(variant: Variant): Promise<void> {
    await this.#continue?.(variant);
  }

  read_files(files: readonly File[]): Promise<void> {
    const weights = files.find(({ name }) => !name.endsWith(".json"));
    const sources = files.map((file) => new FileSource(file));
    return this.#run((signal) =>
      this.#read({ name: model_name(weights?.name ?? ""), sources }, signal),
    );
  }

  cancel(): void {
    this.#controller?.abort();
  }

  /** Forgets the outcome of the last import. */
  reset(): void {
    this.cancel();
    this.#controller = null;
    this.#show({ kind: "idle" });
  }

  /** Runs one step; a newer one takes its place. */
  async #run(step: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.cancel();
    const controller = new AbortController();
    this.#controller = controller;
    this.#continue = null;
    try {
      await step(controller.signal);
    } catch (thrown) {
      const failure = as_failure(thrown);
      if (this.#controller === controller) this.#show({ kind: "failed", failure });
    }
  }

  async #read_variant(
    repository: Repository,
    variant: Variant,
    token: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    check_parts(variant);
    const sources = variant.files.map(
      ({ path, size }) =>
        new HttpSource({ name: path, url: file_address(repository, path), size, token }),
    );
    const name = variant.is_checkpoint ? repository.id : variant.name;
    await this.#read({ name: model_name(name), sources }, signal);
  }

  async #read(model: ModelSources, signal: AbortSignal): Promise<void> {
    let progress = { ...kNoProgress, files: model.sources.length };
    const show = (state: ImportState): void => {
      if (!signal.aborted) this.#show(state);
    };
    show({ kind: "reading", progress });
    const reader = await this.open_reader().catch((thrown: unknown) => {
      throw new ImportFailure("reader_failed", { detail: String(thrown) });
    });
    try {
      const reply = await read_model(reader, model, signal, (latest) => {
        progress = latest;
        show({ kind: "reading", progress });
      });
      if (reply.ok)
        show({ kind: "done", result: reply.result, warnings: reply.warnings, progress });
      else show({ kind: "refused", findings: reply.errors });
    } finally {
      reader.close();
    }
  }

  #show(state: ImportState): void {
    this.state = state;
    this.dispatchEvent(new Event("change"));
  }
}

/** A repository or file as a name: "Qwen/Qwen3-8B" and "Qwen3-8B.gguf" are "Qwen3-8B". */
function model_name(path: string): string {
  const file = path
    .slice(path.lastIndexOf("/") + 1)
    .replace(/(-\d{5}-of-\d{5})?\.(gguf|safetensors)$/i, "");
  // What every checkpoint's file is called names none.
  return file === "model" ? "" : file;
}
