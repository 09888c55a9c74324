/** Reading parts of files from servers that keep to the rules, and from others. Without a browser. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { load_module } from "./bundle.mjs";
import { start_hub, virtual_file } from "./hub_server.mjs";

const { HttpSource } = await load_module("src/import/http_source.ts");
const { FileSource } = await load_module("src/import/range_source.ts");

const kHead = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 251));
const kBytes = 6e9;
const file = virtual_file(kHead, kBytes);
const one = (behaviour) => ({ files: { "a.gguf": file }, ...behaviour });

let hub;
before(async () => {
  hub = await start_hub({
    "t/good": one({}),
    "t/elsewhere": one({ redirect: true }),
    "t/whole": one({ ranges: false }),
    "t/other_range": one({ content_range: `bytes 5-9/${kBytes}` }),
    "t/shorter": one({ content_range: `bytes 0-99/${kBytes - 1}` }),
    "t/cut": one({ cut_bytes: 40 }),
    "t/stalled": one({ ranges: false, stall: true }),
    "t/slow": one({ delay_ms: 60_000 }),
    "t/limited": one({ file: { status: 429, headers: { "retry-after": "7" } } }),
    "t/gated": one({
      file: { status: 403, body: '{"error":"Access to model t/gated is restricted."}' },
    }),
  });
});
after(() => hub.stop());

const live = new AbortController().signal;
const source = (id, options = {}) =>
  new HttpSource({
    name: "a.gguf",
    url: `${hub.address}/t/${id}/resolve/main/a.gguf`,
    size: kBytes,
    silence_ms: 300,
    ...options,
  });
const failure = async (promise) => {
  try {
    await promise;
  } catch (thrown) {
    return thrown;
  }
  return assert.fail("nothing was thrown");
};
const part = (from, to) => new Uint8Array(kHead.subarray(from, to));

test("parts are asked for by range, also where the file lies on another host", async () => {
  for (const id of ["good", "elsewhere"]) {
    hub.requests.length = 0;
    const from_hub = source(id);
    assert.deepEqual(await from_hub.read(10, 90, live), part(10, 100));
    assert.equal(hub.requests.at(-1).range, "bytes=10-99");
    assert.equal(hub.requests.at(-1).server, id === "good" ? "hub" : "files");
    // Behind the head there are zeros; nothing lies behind the end.
    assert.deepEqual(await from_hub.read(kBytes - 2, 10, live), new Uint8Array(2));
    assert.equal((await from_hub.read(kBytes, 10, live)).length, 0);
  }
});

test("an unknown size is learned from the first answer", async () => {
  const unsized = source("good", { size: undefined });
  await unsized.read(0, 10, live);
  assert.equal(unsized.size, kBytes);
});

test("a server without ranges is read from the beginning, once, and stopped", async () => {
  hub.requests.length = 0;
  const whole = source("whole");
  assert.deepEqual(await whole.read(0, 100, live), part(0, 100));
  assert.deepEqual(await whole.read(300, 100, live), part(300, 400));
  assert.deepEqual(await whole.read(400, 2, live), part(400, 402));
  assert.equal(hub.requests.length, 1);
  whole.close();
  assert.deepEqual(await whole.read(0, 2, live), part(0, 2));
  assert.equal(hub.requests.length, 2);
  whole.close();
  assert.equal((await failure(whole.read(5e9, 10, live))).code, "ranges_refused");
});

test("an answer that is not what was asked for is refused", async () => {
  const other = await failure(source("other_range").read(0, 100, live));
  assert.equal(other.code, "wrong_range");
  assert.equal(other.args.got, `bytes 5-9/${kBytes}`);
  const shorter = await failure(source("shorter").read(0, 100, live));
  assert.equal(shorter.code, "wrong_length");
  assert.deepEqual([shorter.args.stated_bytes, shorter.args.found_bytes], [kBytes, kBytes - 1]);
  assert.equal(
    (await failure(source("whole", { size: 10 }).read(0, 10, live))).code,
    "wrong_length",
  );
  assert.equal(
    (await failure(source("good", { size: kBytes + 50 }).read(kBytes + 1, 9, live))).code,
    "wrong_length",
  );
  assert.equal((await failure(source("cut").read(0, 100, live))).code, "cut_short");
});

test("silence ends a request, before and within an answer", async () => {
  assert.equal((await failure(source("slow").read(0, 100, live))).code, "timeout");
  const stalled = source("stalled");
  assert.equal((await stalled.read(0, 100, live)).length, 100);
  const silent = await failure(stalled.read(0, 1e6, live));
  assert.deepEqual([silent.code, silent.args.seconds], ["timeout", 0.3]);
});

test("a request can be cancelled at any time", async () => {
  const early = new AbortController();
  early.abort();
  assert.equal((await failure(source("good").read(0, 1, early.signal))).code, "cancelled");
  const late = new AbortController();
  const reading = failure(source("slow", { silence_ms: 10_000 }).read(0, 1, late.signal));
  setTimeout(() => late.abort(), 50);
  assert.equal((await reading).code, "cancelled");
});

test("refusals say why, in headers or in words", async () => {
  const limited = await failure(source("limited").read(0, 1, live));
  assert.deepEqual([limited.code, limited.args.seconds], ["rate_limited_until", 7]);
  assert.equal((await failure(source("gated").read(0, 1, live))).code, "gated");
  assert.equal((await failure(source("nothing").read(0, 1, live))).code, "file_missing");
  const nowhere = source("good", { url: "http://127.0.0.1:9/a.gguf" });
  assert.equal((await failure(nowhere.read(0, 1, live))).code, "unreachable");
});

test("the token goes to the hub and not to where it redirects", async () => {
  hub.requests.length = 0;
  await source("elsewhere", { token: "hf_secret" }).read(0, 1, live);
  assert.deepEqual(
    hub.requests.map(({ server, authorization }) => [server, authorization]),
    [
      ["hub", "Bearer hf_secret"],
      ["files", undefined],
    ],
  );
});

test("a file of this computer is read in parts, and its loss is a failure", async () => {
  const local = new FileSource(new File([kHead], "a.gguf"));
  assert.deepEqual(await local.read(990, 100, live), part(990, 1000));
  const gone = new FileSource({
    name: "a.gguf",
    size: 9,
    slice: () => ({
      arrayBuffer: () => Promise.reject(new DOMException("gone", "NotReadableError")),
    }),
  });
  assert.equal((await failure(gone.read(0, 1, live))).code, "unreadable_file");
});
