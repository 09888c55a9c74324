import { ImportFailure } from "./failure";
import { refusal } from "./http_failures";
import { kSilenceMs, place, Request } from "./request";
import type { Bytes, RangeSource } from "./range_source";

/** Where a server sends whole files only, this much is passed over to get at a later part, bytes. */
const kMaxSkipBytes = 64 * 2 ** 20;

export interface HttpOptions {
  name: string;
  url: string;
  /** As the hub's listing has it. */
  size?: number | undefined;
  /** Sent to the hub itself; the browser drops it when a file lies elsewhere. */
  token?: string | undefined;
  silence_ms?: number;
}

/** The body of an answer, and which part of the file it is. */
interface Body {
  request: Request;
  /** Where in the file the next byte of the answer lies. */
  at: number;
  /** What came with the last piece and has not been taken yet. */
  rest: Uint8Array;
  is_part: boolean;
}

/** A file on a server: read by ranges, or from its beginning where the server knows no ranges. */
export class HttpSource implements RangeSource {
  readonly name: string;
  size: number | undefined;
  #body: Body | null = null;

  constructor(private readonly options: HttpOptions) {
    this.name = options.name;
    this.size = options.size;
  }

  async read(offset: number, length: number, signal: AbortSignal): Promise<Bytes> {
    const wanted = Math.min(length, (this.size ?? Infinity) - offset);
    if (wanted <= 0) return new Uint8Array(0);
    const body = this.#open_body(offset) ?? (await this.#request(offset, wanted, signal));
    if (!body) return new Uint8Array(0);
    const bytes = await this.#take(body, offset, wanted);
    if (body.is_part) this.close();
    return bytes;
  }

  close(): void {
    this.#body?.request.end();
    this.#body = null;
  }

  /** The whole file is still coming in: what lies ahead in it costs no further request. */
  #open_body(offset: number): Body | null {
    return this.#body && !this.#body.is_part && this.#body.at <= offset ? this.#body : null;
  }

  async #request(offset: number, wanted: number, signal: AbortSignal): Promise<Body | null> {
    this.close();
    const { url, token, silence_ms = kSilenceMs } = this.options;
    const request = new Request(url, signal, silence_ms);
    const response = await request.send({
      Range: `bytes=${offset}-${offset + wanted - 1}`,
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
    });
    try {
      if (response.status === 416) return this.#beyond_end(request, offset);
      if (response.status === 206) this.#check_range(response, offset, wanted);
      else if (response.status === 200) this.#check_whole(response, offset);
      else throw await refusal(request, response, "file", token !== undefined);
    } catch (thrown) {
      request.end();
      throw thrown;
    }
    const is_part = response.status === 206;
    this.#body = { request, at: is_part ? offset : 0, rest: new Uint8Array(0), is_part };
    return this.#body;
  }

  #beyond_end(request: Request, offset: number): null {
    request.end();
    if (this.size === undefined) return null;
    throw new ImportFailure("wrong_length", {
      ...this.#place(),
      stated_bytes: this.size,
      found_bytes: offset,
    });
  }

  /** The header is absent where the server does not expose it to other sites. */
  #check_range(response: Response, offset: number, wanted: number): void {
    const header = response.headers.get("content-range");
    if (header === null) return;
    const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(header) ?? [];
    if (Number(first) !== offset || !(Number(last) < offset + wanted))
      throw new ImportFailure("wrong_range", {
        ...this.#place(),
        asked: `${offset}-${offset + wanted - 1}`,
        got: header,
      });
    if (total !== "*") this.#settle_size(Number(total));
  }

  #check_whole(response: Response, offset: number): void {
    if (offset > kMaxSkipBytes) throw new ImportFailure("ranges_refused", this.#place());
    const length = response.headers.get("content-length");
    // A compressed answer states its own length, not the file's.
    if (length !== null && !response.headers.has("content-encoding"))
      this.#settle_size(Number(length));
  }

  #settle_size(found_bytes: number): void {
    if (this.size !== undefined && this.size !== found_bytes)
      throw new ImportFailure("wrong_length", {
        ...this.#place(),
        stated_bytes: this.size,
        found_bytes,
      });
    this.size = found_bytes;
  }

  async #take(body: Body, offset: number, wanted: number): Promise<Bytes> {
    const bytes = new Uint8Array(wanted);
    let filled = 0;
    while (filled < wanted) {
      if (body.rest.length === 0) {
        const piece = await body.request.next();
        if (!piece) return this.#ended(body, bytes, offset, filled);
        body.rest = piece;
      }
      const skipped = Math.min(body.rest.length, Math.max(0, offset - body.at));
      const part = body.rest.subarray(skipped, skipped + wanted - filled);
      bytes.set(part, filled);
      filled += part.length;
      body.at += skipped + part.length;
      body.rest = body.rest.subarray(skipped + part.length);
    }
    return bytes;
  }

  /** The answer is over before all came: the file's end where its size was unknown, else a false size. */
  #ended(body: Body, bytes: Bytes, offset: number, filled: number): Bytes {
    if (this.size !== undefined && body.is_part)
      throw new ImportFailure("cut_short", this.#place());
    if (this.size !== undefined)
      throw new ImportFailure("wrong_length", {
        ...this.#place(),
        stated_bytes: this.size,
        found_bytes: offset + filled,
      });
    this.size = offset + filled;
    return bytes.slice(0, filled);
  }

  #place(): { host: string; file: string } {
    return { host: place(this.options.url).host, file: this.name };
  }
}
