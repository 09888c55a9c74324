/** Somebody else's site with a policy of its own, with a copy of the page below vramgauge/. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { kSiteDir } from "./harness.mjs";

const kTypes = {
  ".js": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
  ".css": "text/css",
  ".html": "text/html",
};
const kCopy = "/vramgauge/";

async function send_copy(path, response) {
  const file = normalize(join(kSiteDir, path.slice(kCopy.length) || "index.html"));
  const info = await stat(file).catch(() => null);
  if (!file.startsWith(kSiteDir) || !info?.isFile()) return void response.writeHead(404).end();
  response.writeHead(200, { "content-type": kTypes[extname(file)] ?? "text/plain" });
  createReadStream(file).pipe(response);
}

/** `pages` maps a path to its text; each is sent with `policy`, which may be a function of the path. */
export function foreign_host(pages, policy) {
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://host").pathname;
    if (path.startsWith(kCopy)) return void send_copy(path, response);
    if (pages[path] === undefined) return void response.writeHead(404).end();
    response.writeHead(200, {
      "content-type": kTypes[extname(path)] ?? "text/html; charset=utf-8",
      "content-security-policy": policy,
    });
    response.end(pages[path]);
  });
  return new Promise((started) => {
    server.listen(0, "127.0.0.1", () =>
      started({
        address: `http://127.0.0.1:${server.address().port}/`,
        stop: () => {
          server.closeAllConnections();
          return new Promise((stopped) => server.close(stopped));
        },
      }),
    );
  });
}
