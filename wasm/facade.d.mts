/** What the main module exports: text in, envelopes out. */
export interface RawSession {
  load_catalogue(document: Uint8Array | string): string;
  call(method: string, request: string): string;
}

/** What the reader module exports. */
export interface RawConverter {
  load_catalogue(document: Uint8Array | string): string;
  convert(request: string): string;
  /** A catalogue document's models in the form that every session reads. */
  compile(document: string): string;
}

/** Reads model files by the parts that it wants of them (core/api/reader.h). */
export interface RawReader {
  load_catalogue(document: Uint8Array | string): string;
  open(request: string): string;
  feed(file: number, offset_bytes: number, bytes: Uint8Array): string;
  set_size(file: number, size_bytes: number): string;
  finish_document(): string;
  /** Gives its memory back. */
  delete(): void;
}

export function needs_reader(
  reply: { ok: true } | { ok: false; errors: { code: string }[] },
): boolean;

/** Modules of engines beside the main one. */
export type EngineModule = "servers" | "llama_cpp";

export function needed_engine(
  reply: { ok: true } | { ok: false; errors: { code: string; args: Record<string, unknown> }[] },
): EngineModule | null;

/** What the module of methods without a catalogue exports. */
export interface RawTools {
  call(method: string, request: string): string;
}

export function needs_tools(
  reply: { ok: true } | { ok: false; errors: { code: string }[] },
): boolean;

/** What opens the modules that are not there from the start. */
export interface Openers {
  open_reader(): Promise<RawConverter>;
  open_engine(name: EngineModule): Promise<RawSession>;
  open_tools(): Promise<RawTools>;
}

export class Facade {
  constructor(session: RawSession, openers: Openers);
  readonly session: RawSession;
  /** Whether the reader is loaded. */
  readonly has_reader: boolean;
  /** Whether the module of methods without a catalogue is loaded. */
  readonly has_tools: boolean;
  load_catalogue(document: Uint8Array | string): string;
  restart(session: RawSession): void;
  missing_module(
    reply: { ok: true } | { ok: false; errors: { code: string }[] },
  ): (() => Promise<void>) | null;
  call(method: string, request: object): unknown;
  ask(method: string, request: object): Promise<unknown>;
  load_reader(): Promise<void>;
  load_engine(name: EngineModule): Promise<void>;
  load_tools(): Promise<void>;
  drop_reader(): void;
}
