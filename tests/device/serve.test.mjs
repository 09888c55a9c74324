// vramgauge serve: the facade's answers over HTTP, whoever asks and however badly.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { device, GIB, Machine, MIB } from "./device_machine.mjs";

const machine = new Machine({ devices: [device(0, { others: [{ pid: 7, used_bytes: 30 * GIB }] })] });
const page = "https://planner.example";
let server;
let port;

/** Resident memory of the server, in bytes: now (VmRSS) or at most so far (VmHWM). */
function memory(key) {
  return Number(readFileSync(`/proc/${server.pid}/status`, "utf8").match(new RegExp(`${key}:\\s+(\\d+) kB`))[1]) * 1024;
}

before(async () => {
  server = machine.start(["serve", "--port", "0", "--timeout-s", "3", "--threads", "100", "--allow-origin", page],
    // Freed memory that a sanitizer keeps for a while is not the server's.
    { ASAN_OPTIONS: "quarantine_size_mb=8" });
  server.stderr.resume();
  const [line] = await once(server.stdout, "data");
  [, port] = String(line).match(/^Listening on http:\/\/127\.0\.0\.1:(\d+)\n$/);
});

after(async () => {
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
  assert.ok(machine.ledger().is_empty());
  machine.remove();
});

function ask(method, path, body, headers = { "Content-Type": "application/json" }) {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, method, path, headers, agent: false }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

const estimates = [
  { scenario: {} },
  { scenario: { model: "qwen3 8b", weight_format: "bf16", num_requests: 8 } },
  { scenario: { model: "meta-llama/Llama-3.1-8B-Instruct", engine: "llama_cpp", gpu: "rtx 4090", context_tokens: "32K" } },
  { scenario: { model: "no such model" } },
];
const command_line = (method, request) => machine.run(["call", method, JSON.stringify(request)]).stdout.trim();
const expected = estimates.map((request) => command_line("estimate", request));

test("answers are the facade's, byte for byte", async () => {
  for (const [i, request] of estimates.entries()) {
    const { status, headers, text } = await ask("POST", "/estimate", JSON.stringify(request));
    assert.equal(text, expected[i]);
    assert.equal(status, text.startsWith('{"ok":true') ? 200 : 422);
    assert.equal(headers["content-type"], "application/json");
  }
  assert.equal((await ask("POST", "/solve", "{}")).text, command_line("solve", {}));
});

test("validate and probe answer for this machine", async () => {
  const scenario = { model: "meta-llama/Llama-3.1-8B-Instruct", weight_format: "bf16", context_tokens: 8192 };
  const { status, text } = await ask("POST", "/validate", JSON.stringify({ scenario }));
  assert.equal(status, 200);
  const flags = ["--model", scenario.model, "--weight-format", "bf16", "--context-tokens", "8192"];
  assert.equal(text, machine.run(["validate", "--json", ...flags]).stdout.trim());
  const probe = await ask("GET", "/probe", "", {});
  assert.equal(probe.status, 200);
  assert.deepEqual(JSON.parse(probe.text).result, JSON.parse(machine.run(["probe", "--json", "--look-only"]).stdout));
  for (const wrong of ["{}}", "[]", '{"scenario":7}', '{"senario":{}}', ""])
    assert.equal((await ask("POST", "/validate", wrong)).status, 422, wrong);
});

test("only pages on the list may ask, and only under this machine's own name", async () => {
  const json = { "Content-Type": "application/json" };
  const allowed = await ask("POST", "/estimate", "{}", { ...json, Origin: page });
  assert.equal(allowed.status, 200);
  assert.equal(allowed.headers["access-control-allow-origin"], page);
  for (const origin of ["https://planner.example.evil", "null", "http://planner.example"]) {
    const refused = await ask("POST", "/estimate", "{}", { ...json, Origin: origin });
    assert.equal(refused.status, 403);
    assert.equal(refused.headers["access-control-allow-origin"], undefined);
  }
  const preflight = await ask("OPTIONS", "/estimate", "", { Origin: page, "Access-Control-Request-Method": "POST" });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers["access-control-allow-headers"], "Content-Type");
  for (const [host, status] of [["rebound.example", 403], ["127.0.0.1.example", 403], [`localhost:${port}`, 200], ["[::1]", 200]])
    assert.equal((await ask("POST", "/estimate", "{}", { ...json, Host: host })).status, status, host);
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
    assert.equal((await ask("POST", "/estimate", "{}", { "Content-Type": type })).status, 415);
});

/** Sends bytes and returns what comes back until the server closes. */
function raw(bytes) {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    const chunks = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", () => {});
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.write(bytes);
  });
}

const post = (headers, body) =>
  Buffer.concat([Buffer.from(`POST /estimate HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`), Buffer.from(body)]);
const with_json = (body) => post(`Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`, body);
const chunked = (body, more = "") =>
  post(`Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n${more}`, body);

/** Numbers that look random and are the same in each run. */
function lottery(seed) {
  let state = seed;
  return (limit) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * limit);
  };
}

function hostile_requests() {
  const draw = lottery(200);
  const noise = (size) => Buffer.from(Array.from({ length: size }, () => draw(256)));
  const good = with_json('{"scenario":{"model":"qwen3 8b"}}');
  const bodies = [
    "", "{", "[]", "null", '{"scenario":', '{"scenario":{"model":3}}', '{"scenario":{"gpu_count":-1}}', "{".repeat(100_000),
    "[".repeat(500_000), '{"a":1,"a":2}', '{"scenario":{"context_tokens":1e400}}', '{"scenario":{"num_requests":99999999999999999999}}',
    '{"scenario":{"model_config":"{\\"model_type\\":\\"llama\\"}"}}', `{"scenario":{"model":"${"x".repeat(900_000)}"}}`,
    '{"scenario":{"weight_format":"1e9bpw"}}', '{"scenario":{"model":"\ud800"}}', '"\u0000"', "\xff\xfe", '{"scenario":{"__proto__":{}}}',
  ];
  const requests = [
    ...bodies.map(with_json),
    "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET /probe\r\n\r\n", "GET /probe HTTP/9.9\r\n\r\n", "\0\0\0\0\r\n\r\n",
    "GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /%2e%2e/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    `GET /${"a".repeat(9000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, "PUT /estimate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx",
    "DELETE /probe HTTP/1.1\r\nHost: localhost\r\n\r\n", "BREW /estimate HTTP/1.1\r\nHost: localhost\r\n\r\n",
    `GET /probe HTTP/1.1\r\nHost: localhost\r\nX: ${"y".repeat(100_000)}\r\n\r\n`,
    `GET /probe HTTP/1.1\r\nHost: ${"h".repeat(2 * MIB)}`,
    `GET /nothing HTTP/1.1\r\nHost: localhost\r\nRange: bytes=${"0-1,".repeat(2000)}0-1\r\n\r\n`,
    `GET /nothing HTTP/1.1\r\nHost: localhost\r\n${"A: b\r\n".repeat(10_000)}\r\n`, "GET /probe HTTP/1.1\nHost: localhost\n\n",
    "GET /probe HTTP/1.1\r\nHost: evil\r\n\r\n", "GET /probe HTTP/1.1\r\n: empty\r\n\r\n", "GET /probe HTTP/1.1\r\nHost\r\n\r\n",
    post("Content-Type: application/json\r\nContent-Length: -5\r\n", "{}"),
    post("Content-Type: application/json\r\nContent-Length: 99999999999999999999\r\n", "{}"),
    post("Content-Type: application/json\r\nContent-Length: 0x10\r\n", "{}"),
    post(`Content-Type: application/json\r\nContent-Length: ${2 * MIB}\r\n`, "z".repeat(2 * MIB)),
    post("Content-Type: application/json\r\nContent-Length: 5\r\nContent-Length: 1\r\n", "{"),
    post("Content-Type: application/json\r\n", "{"),
    post("Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 1\r\n", "{"),
    post("Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n", "nogz!"),
    (() => { const bomb = gzipSync(Buffer.alloc(200 * MIB)); return post(`Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n`, bomb); })(),
    chunked("zz\r\n{}\r\n0\r\n\r\n"), chunked("-1\r\n{}\r\n0\r\n\r\n"), chunked("ffffffffffffffff\r\n{}"), chunked("2\r\n{"),
    chunked(`${(2 * MIB).toString(16)}\r\n${"q".repeat(2 * MIB)}\r\n0\r\n\r\n`), chunked("9".repeat(100_000)),
    chunked("1\r\n{\r\n".repeat(200_000)), chunked("2\r\n[]\r\n0\r\n\r\n", "Content-Length: 2\r\n"),
  ].map((bytes) => Buffer.from(bytes));
  while (requests.length < 200) {
    const kind = draw(3);
    if (kind === 0) requests.push(noise(1 + draw(2000)));
    if (kind === 1) requests.push(good.subarray(0, 1 + draw(good.length - 1)));
    if (kind === 2) {
      const broken = Buffer.from(good);
      for (let i = 0; i < 4; ++i) broken[draw(broken.length)] = draw(256);
      requests.push(broken);
    }
  }
  return requests;
}

test("200 malformed requests: nothing but refusals, and the next answer is right", async () => {
  const requests = hostile_requests();
  assert.equal(requests.length, 200);
  const before_bytes = memory("VmRSS");
  const answers = [];
  for (let start = 0; start < requests.length; start += 100)
    answers.push(...(await Promise.all(requests.slice(start, start + 100).map(raw))));
  const accepted = answers.filter((text) => text.startsWith("HTTP/1.1 200"));
  // A request that only four random bytes set apart may still be sound.
  for (const text of accepted) assert.match(text, /\r\n\r\n\{"ok":true/);
  const refused = answers.filter((text) => /^HTTP\/1\.1 [45]\d\d /.test(text));
  assert.ok(refused.length >= 100, `${refused.length} refusals`);
  assert.ok(accepted.length <= 20, `${accepted.length} accepted`);
  // An answer of another kind would be a fault; without an answer the connection was just closed.
  assert.deepEqual(answers.filter((text) => text !== "" && !/^HTTP\/1\.1 [1245]\d\d /.test(text)), []);
  assert.equal(server.exitCode, null);
  assert.equal((await ask("POST", "/estimate", JSON.stringify(estimates[0]))).text, expected[0]);
  assert.ok(memory("VmHWM") < before_bytes + 256 * MIB, `${memory("VmHWM") / MIB} MiB`);
});

test("those who only wait are let go", async () => {
  const started = Date.now();
  const slow = Array.from({ length: 120 }, () => raw("POST /estimate HTTP/1.1\r\nHost: loc"));
  assert.equal((await ask("POST", "/estimate", JSON.stringify(estimates[0]))).text, expected[0]);
  await Promise.all(slow);
  assert.ok(Date.now() - started < 30_000);
});

test("1,000 requests at once: every answer is right, and memory stays bounded", async (t) => {
  const before_bytes = memory("VmRSS");
  const answers = await Promise.all(Array.from({ length: 1000 }, (_, i) => {
    const which = i % estimates.length;
    return ask("POST", "/estimate", JSON.stringify(estimates[which])).then(({ text }) => text === expected[which]);
  }));
  assert.equal(answers.length, 1000);
  assert.ok(answers.every(Boolean));
  t.diagnostic(`${Math.round(before_bytes / MIB)} MiB before, ${Math.round(memory("VmRSS") / MIB)} MiB after`);
  // AddressSanitizer reserves terabytes of addresses, and keeps red zones around everything.
  const allowed_bytes = memory("VmSize") > 2 ** 40 ? 512 * MIB : 32 * MIB;
  assert.ok(memory("VmRSS") < before_bytes + allowed_bytes, `${(memory("VmRSS") - before_bytes) / MIB} MiB more`);
});

test("an address that cannot be taken is said, not waited for", () => {
  const { status, stderr } = machine.run(["serve", "--port", String(port)]);
  assert.equal(status, 3);
  assert.match(stderr, /cannot listen on 127\.0\.0\.1:/);
});
