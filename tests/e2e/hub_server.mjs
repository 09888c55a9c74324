/**
 * A hub on loopback for tests: lists and serves made-up repositories as Hugging Face and ModelScope do,
 * large files from a second address, and misbehaves where a repository is told to.
 */
import { createServer } from "node:http";

const kHost = "127.0.0.1";
const kExposed =
  "X-Error-Code, X-Error-Message, Link, Content-Range, Content-Length, Retry-After, Accept-Ranges";
const kZeros = Buffer.alloc(65_536);

/** A file of `size` bytes that begins with `head` and goes on with zeros. */
export const virtual_file = (head, size = head.length) => ({ head: Buffer.from(head), size });

/**
 * Repositories by id: {files: {path: file}, ...how it misbehaves}:
 *   cors: false                     no header lets pages of other sites read the answers
 *   redirect: true                  files lie at the second address
 *   ranges: false                   whole files only
 *   delay_ms                        before each answer about a file
 *   stall: true                     a file's answer begins and never goes on
 *   listing, file: {status, headers, body}   what is answered instead
 *   stated_extra_bytes              added to every size in the listing
 *   content_range                   sent instead of the true one
 *   cut_bytes                       the connection ends that many bytes early
 *   page_files                      files on a page of the listing
 */
export async function start_hub(repositories) {
  const requests = [];
  const files = await listen((request, response) => serve_file(request, response, "files"));
  const hub = await listen((request, response) => serve_hub(request, response));

  function serve_hub(request, response) {
    const url = note(request, "hub");
    const huggingface = /^\/api\/models\/(.+)\/tree\/([^/]+)$/.exec(url.pathname);
    const modelscope = /^\/api\/v1\/models\/(.+)\/repo\/files$/.exec(url.pathname);
    const id = huggingface?.[1] ?? modelscope?.[1];
    if (id === undefined) return serve_file(request, response, "hub", url);
    const repository = repositories[id];
    if (request.method === "OPTIONS") return preflight(response, repository);
    if (!repository)
      return refuse(response, {
        status: 401,
        headers: { "X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found" },
      });
    if (repository.listing) return refuse(response, repository.listing, repository);
    if (modelscope) return list_modelscope(response, repository);
    return list_huggingface(response, repository, url, hub.address);
  }

  function serve_file(request, response, server, url = note(request, server)) {
    const [, id, path] =
      /^\/(?:models\/)?(.+)\/resolve\/[^/]+\/(.+)$/.exec(decodeURIComponent(url.pathname)) ?? [];
    const repository = repositories[id];
    if (request.method === "OPTIONS") return preflight(response, repository);
    const file = repository?.files[path];
    if (!file)
      return refuse(response, { status: 404, headers: { "X-Error-Code": "EntryNotFound" } });
    if (repository.file) return refuse(response, repository.file, repository);
    if (repository.redirect && server === "hub")
      return response
        .writeHead(302, { ...cors(repository), location: `${files.address}${url.pathname}` })
        .end();
    setTimeout(() => send(request, response, repository, file), repository.delay_ms ?? 0);
  }

  function note(request, server) {
    const url = new URL(request.url, `http://${kHost}`);
    const { range, authorization } = request.headers;
    if (request.method !== "OPTIONS")
      requests.push({ server, path: url.pathname, range, authorization });
    return url;
  }

  return {
    address: hub.address,
    files_address: files.address,
    requests,
    stop: () => Promise.all([hub.stop(), files.stop()]),
  };
}

function listen(answer) {
  const server = createServer(answer);
  return new Promise((done) =>
    server.listen(0, kHost, () =>
      done({
        address: `http://${kHost}:${server.address().port}`,
        stop: () =>
          new Promise((stopped) => {
            server.closeAllConnections();
            server.close(stopped);
          }),
      }),
    ),
  );
}

const cors = (repository) =>
  repository?.cors === false
    ? {}
    : { "access-control-allow-origin": "*", "access-control-expose-headers": kExposed };

function preflight(response, repository) {
  response
    .writeHead(204, {
      ...cors(repository),
      "access-control-allow-headers": "authorization, range",
      "access-control-allow-methods": "GET",
    })
    .end();
}

function refuse(response, { status, headers = {}, body = "" }, repository) {
  response.writeHead(status, { ...cors(repository), ...headers }).end(body);
}

function send_json(response, repository, value, headers = {}) {
  response
    .writeHead(200, { ...cors(repository), "content-type": "application/json", ...headers })
    .end(JSON.stringify(value));
}

function list_huggingface(response, repository, url, address) {
  const rows = Object.entries(repository.files).map(([path, { size }]) => ({
    type: "file",
    path,
    size: size + (repository.stated_extra_bytes ?? 0),
  }));
  const page_files = repository.page_files ?? 1000;
  const from = Number(url.searchParams.get("cursor") ?? 0);
  const to = from + page_files;
  // As a mirror does that passes the original's own address on.
  const link =
    to < rows.length
      ? { link: `<https://huggingface.co${url.pathname}?cursor=${to}>; rel="next"` }
      : {};
  send_json(response, repository, rows.slice(from, to), link);
}

function list_modelscope(response, repository) {
  const Files = Object.entries(repository.files).map(([Path, { size }]) => ({
    Path,
    Name: Path.split("/").at(-1),
    Size: size,
    Type: "blob",
  }));
  send_json(response, repository, { Code: 200, Success: true, Message: "", Data: { Files } });
}

function send(request, response, repository, file) {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  const is_part = first !== undefined && repository.ranges !== false;
  const from = is_part ? Number(first) : 0;
  const to = is_part ? Math.min(Number(last) + 1, file.size) : file.size;
  if (from >= file.size) return refuse(response, { status: 416 }, repository);
  const content_range = repository.content_range ?? `bytes ${from}-${to - 1}/${file.size}`;
  response.writeHead(is_part ? 206 : 200, {
    ...cors(repository),
    "content-type": "application/octet-stream",
    "content-length": to - from,
    ...(is_part ? { "content-range": content_range } : {}),
  });
  write_bytes(response, file, from, to - (repository.cut_bytes ?? 0), repository);
}

/** Writes as fast as the reader takes; stops when it goes away. */
function write_bytes(response, file, from, to, repository) {
  if (response.destroyed) return;
  if (from >= to) {
    if (repository.cut_bytes) response.destroy();
    else response.end();
    return;
  }
  const piece =
    from < file.head.length
      ? file.head.subarray(from, Math.min(to, from + 65_536))
      : kZeros.subarray(0, Math.min(to - from, kZeros.length));
  const next = () => write_bytes(response, file, from + piece.length, to, repository);
  const goes_on = response.write(piece);
  if (repository.stall) return;
  if (goes_on) setImmediate(next);
  else response.once("drain", next);
}
