import { url_of } from "./address";
import { ImportFailure } from "./failure";
import { refusal } from "./http_failures";
import type { Target } from "./hub_target";
import { place, Request } from "./request";

export type Repository = Extract<Target, { kind: "repository" }>;

export interface HubFile {
  path: string;
  /** Bytes. */
  size: number | undefined;
}

/** A repository with more pages of 1,000 files than this holds something else than a model. */
const kMaxPages = 20;

/** Every file of a repository. */
export function list_files(
  repository: Repository,
  token: string | undefined,
  signal: AbortSignal,
): Promise<HubFile[]> {
  return repository.style === "modelscope"
    ? list_modelscope(repository, token, signal)
    : list_huggingface(repository, token, signal);
}

/** Where a file of a repository is read from. */
export function file_address({ style, base, id, revision }: Repository, path: string): string {
  const root = style === "modelscope" ? `${base}/models` : base;
  return `${root}/${id}/resolve/${encodeURIComponent(revision)}/${encoded_path(path)}`;
}

async function list_huggingface(
  { base, id, revision }: Repository,
  token: string | undefined,
  signal: AbortSignal,
): Promise<HubFile[]> {
  const address = `${base}/api/models/${id}/tree/${encodeURIComponent(revision)}?recursive=true`;
  const files: HubFile[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < kMaxPages; ++page) {
    const url = cursor === null ? address : `${address}&cursor=${encodeURIComponent(cursor)}`;
    const { content, link } = await get_json(url, token, signal);
    files.push(...entries(content, "path", "size", "type", "file", url));
    cursor = next_cursor(link);
    if (cursor === null) break;
  }
  return files;
}

/** A mirror may name the original's address there, so only the position is taken from it. */
function next_cursor(link: string | null): string | null {
  const address = /<([^>]+)>\s*;\s*rel="?next/.exec(link ?? "")?.[1];
  return url_of(address ?? "")?.searchParams.get("cursor") ?? null;
}

async function list_modelscope(
  { base, id, revision }: Repository,
  token: string | undefined,
  signal: AbortSignal,
): Promise<HubFile[]> {
  const url = `${base}/api/v1/models/${id}/repo/files?Revision=${encodeURIComponent(revision)}&Recursive=true`;
  const { content } = await get_json(url, token, signal);
  const { Success, Message, Data } = content as {
    Success?: boolean;
    Message?: string;
    Data?: { Files?: unknown };
  };
  // Refusals come with status 200 as well.
  if (Success === false)
    throw new ImportFailure("repo_missing", { ...place(url), message: String(Message ?? "") });
  return entries(Data?.Files, "Path", "Size", "Type", "blob", url);
}

/** The files among the rows of a listing, whatever its names for things. */
function entries(
  rows: unknown,
  path: string,
  size: string,
  type: string,
  file_type: string,
  url: string,
): HubFile[] {
  if (!Array.isArray(rows)) throw new ImportFailure("not_a_listing", place(url));
  return (rows as Record<string, unknown>[])
    .filter((row) => row?.[type] === file_type && typeof row[path] === "string")
    .map((row) => ({ path: row[path] as string, size: whole_number(row[size]) }));
}

function whole_number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

async function get_json(
  url: string,
  token: string | undefined,
  signal: AbortSignal,
): Promise<{ content: object; link: string | null }> {
  const request = new Request(url, signal);
  const response = await request.send(token ? { Authorization: `Bearer ${token}` } : {});
  if (!response.ok) throw await refusal(request, response, "listing", token !== undefined);
  const text = await request.text();
  try {
    const content: unknown = JSON.parse(text);
    if (typeof content === "object" && content !== null)
      return { content, link: response.headers.get("link") };
  } catch {
    // Falls through: an address that is no hub answers with a page.
  }
  throw new ImportFailure("not_a_listing", place(url));
}

function encoded_path(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
