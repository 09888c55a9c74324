import { ImportFailure } from "./failure";
import { place, type Request } from "./request";

/** A refusal is short; a page of HTML is not read to its end. */
const kMaxRefusalBytes = 8192;
const kMaxMessageChars = 240;

/** What was asked for: a missing listing means a missing repository. */
export type Asked = "listing" | "file";

/**
 * Why a server refused. Hubs say it in the headers X-Error-Code and X-Error-Message, or only in a JSON
 * body where those are not exposed to pages of other sites.
 */
export async function refusal(
  request: Request,
  response: Response,
  asked: Asked,
  with_token: boolean,
): Promise<ImportFailure> {
  const body = await request.text(kMaxRefusalBytes).catch(() => "");
  const message = response.headers.get("x-error-message") ?? message_in(body);
  const code = response.headers.get("x-error-code") ?? "";
  const args = {
    ...place(request.url),
    status: response.status,
    message: message.slice(0, kMaxMessageChars),
  };
  if (response.status === 401 || response.status === 403)
    return new ImportFailure(access_code(code, message, response.status, with_token), args);
  if (response.status === 404) return new ImportFailure(missing_code(code, asked), args);
  if (response.status === 429) return rate_limited(response, args);
  return new ImportFailure("server_error", args);
}

function access_code(code: string, message: string, status: number, with_token: boolean) {
  if (code === "GatedRepo" || /gated|restricted|authorized list|access to model/i.test(message))
    return "gated";
  // Hugging Face answers 401 for what is private and for what does not exist, so as not to tell which.
  if (code === "RepoNotFound") return "repo_missing";
  return with_token && status === 401 ? "token_refused" : "no_access";
}

function missing_code(code: string, asked: Asked) {
  if (code === "RevisionNotFound") return "revision_missing";
  if (code === "EntryNotFound") return "file_missing";
  return code === "RepoNotFound" || asked === "listing" ? "repo_missing" : "file_missing";
}

function rate_limited(response: Response, args: { host: string }): ImportFailure {
  const seconds = seconds_until(response.headers.get("retry-after"));
  return seconds === null
    ? new ImportFailure("rate_limited", args)
    : new ImportFailure("rate_limited_until", { ...args, seconds });
}

/** Retry-After holds seconds or a date. */
function seconds_until(header: string | null): number | null {
  if (header === null) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(1, Math.ceil(seconds)) : null;
}

function message_in(body: string): string {
  try {
    const { error, Message } = JSON.parse(body) as { error?: unknown; Message?: unknown };
    return [error, Message].find((text) => typeof text === "string") ?? "";
  } catch {
    return "";
  }
}
