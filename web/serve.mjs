/**
 * Serves a folder on loopback, for trying the page and for the tests. Standard library only.
 *   node serve.mjs [folder] [--port N] [--base /path/]
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const kHost = "127.0.0.1";
const kTypes = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
};

/** The file that a request names, or null where it leaves the folder or the base path. */
function file_of(root, base, url) {
  let path;
  try {
    path = decodeURIComponent(new URL(url, `http://${kHost}`).pathname);
  } catch {
    return null;
  }
  if (!path.startsWith(base)) return null;
  const file = normalize(
    join(root, path.slice(base.length), path.endsWith("/") ? "index.html" : ""),
  );
  return file === root || file.startsWith(root + sep) ? file : null;
}

async function answer(root, base, request, response) {
  const file =
    request.method === "GET" || request.method === "HEAD"
      ? file_of(root, base, request.url ?? "/")
      : null;
  const info = file && (await stat(file).catch(() => null));
  if (!info?.isFile()) {
    response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("Not found\n");
    return;
  }
  response.writeHead(200, {
    "content-type": kTypes[extname(file)] ?? "application/octet-stream",
    "content-length": info.size,
    "cache-control": "no-cache",
    // Pages of others may show the answer: a sandboxed frame and a script from elsewhere need this.
    "access-control-allow-origin": "*",
    "x-content-type-options": "nosniff",
  });
  if (request.method === "HEAD") response.end();
  else createReadStream(file).pipe(response);
}

/** Starts the server; resolves to its address and a function that stops it. Port 0 takes a free one. */
export function serve({ root, port = 0, base = "/" }) {
  const folder = resolve(root);
  const server = createServer((request, response) => void answer(folder, base, request, response));
  return new Promise((done, failed) => {
    server.once("error", failed);
    server.listen(port, kHost, () => {
      const address = `http://${kHost}:${server.address().port}${base}`;
      done({
        address,
        stop: () =>
          new Promise((stopped) => {
            server.closeAllConnections();
            server.close(stopped);
          }),
      });
    });
  });
}

function option(args, name, fallback) {
  const at = args.indexOf(name);
  return at < 0 ? fallback : args[at + 1];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const args = process.argv.slice(2);
  const root =
    args[0] && !args[0].startsWith("--")
      ? args[0]
      : fileURLToPath(new URL("dist/site", import.meta.url));
  const { address } = await serve({
    root,
    port: Number(option(args, "--port", "8000")),
    base: option(args, "--base", "/"),
  });
  console.log(address);
}
