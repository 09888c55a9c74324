/** How files are read for a reader that asks for parts of them. Without a browser. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { load_module } from "./bundle.mjs";

const { read_model } = await load_module("src/import/read_model.ts");

const ok = (result) => ({ ok: true, result, warnings: [] });
const live = () => new AbortController().signal;

/** Wants `parts` of each file, one after the other: [[offset, length], ...] by file. */
function fake_reader(parts) {
  const queues = parts.map((list) => [...list]);
  const fed = [];
  const wanted = () =>
    queues.flatMap(([next], file) =>
      next ? [{ file, offset_bytes: next[0], length_bytes: next[1] }] : [],
    );
  return {
    fed,
    sizes: [],
    open: (request) => ok({ request, wanted: wanted() }),
    set_size(file, size) {
      this.sizes.push([file, size]);
      return ok({ wanted: wanted() });
    },
    feed(file, offset, bytes) {
      fed.push([file, offset, bytes.length]);
      const next = queues[file][0];
      assert.equal(offset, next[0], "only what is wanted is given");
      if (bytes.length === 0 || bytes.length === next[1]) queues[file].shift();
      else queues[file][0] = [offset + bytes.length, next[1] - bytes.length];
      return ok({ wanted: wanted() });
    },
    finish: () => ok({ name: "model" }),
    close() {},
  };
}

/** Counts reads under way; each takes a few turns. */
function fake_sources(count, { size = 1e12, fail_at } = {}) {
  const state = { running: 0, most: 0, closed: 0, stopped: 0 };
  const sources = Array.from({ length: count }, (_, file) => ({
    name: `${file}`,
    size,
    async read(offset, length, signal) {
      state.most = Math.max(state.most, ++state.running);
      await new Promise((done) => setTimeout(done, 2));
      --state.running;
      if (file === fail_at) throw new Error("lost");
      if (signal.aborted) throw new Error(`stopped ${++state.stopped}`);
      return new Uint8Array(Math.max(0, Math.min(length, size - offset)));
    },
    close: () => ++state.closed,
  }));
  return { sources, state };
}

test("parts are read until nothing is wanted, six at a time and one of each file", async () => {
  const reader = fake_reader(
    Array.from({ length: 20 }, () => [
      [0, 8],
      [8, 100],
    ]),
  );
  const { sources, state } = fake_sources(20);
  const progress = [];
  const reply = await read_model(reader, { name: "", sources }, live(), (step) =>
    progress.push(step),
  );
  assert.equal(reply.result.name, "model");
  assert.equal(reader.fed.length, 40);
  assert.equal(state.most, 6);
  assert.equal(state.closed, 20);
  assert.deepEqual(progress.at(-1), { files: 20, files_done: 20, bytes: 20 * 108, frac: 1 });
  const fracs = progress.map(({ frac }) => frac);
  assert.deepEqual(
    fracs,
    [...fracs].sort((a, b) => a - b),
  );
});

test("a long part comes in several reads", async () => {
  const reader = fake_reader([[[0, 2.5 * 2 ** 20]]]);
  await read_model(reader, fake_sources(1), live(), () => {});
  assert.deepEqual(reader.fed, [
    [0, 0, 2 ** 20],
    [0, 2 ** 20, 2 ** 20],
    [0, 2 ** 21, 2 ** 19],
  ]);
});

test("the end of a file is told by no bytes", async () => {
  const reader = fake_reader([
    [
      [0, 10],
      [10, 10],
    ],
  ]);
  await read_model(reader, fake_sources(1, { size: 10 }), live(), () => {});
  assert.deepEqual(reader.fed, [
    [0, 0, 10],
    [0, 10, 0],
  ]);
});

test("a size that is learned on the way is passed on, once", async () => {
  const reader = fake_reader([
    [
      [0, 4],
      [4, 4],
    ],
  ]);
  const model = fake_sources(1);
  const [source] = model.sources;
  const { read } = source;
  source.size = undefined;
  source.read = (...args) => ((source.size = 8), read(...args));
  await read_model(reader, model, live(), () => {});
  assert.deepEqual(reader.sizes, [[0, 8]]);
});

test("a refusal ends it, and everything is closed", async () => {
  const reader = fake_reader([[[0, 1]], [[0, 1]]]);
  reader.feed = () => ({ ok: false, errors: [{ code: "gguf.bad_magic" }], warnings: [] });
  const { sources, state } = fake_sources(2);
  const reply = await read_model(reader, { name: "", sources }, live(), () => {});
  assert.equal(reply.errors[0].code, "gguf.bad_magic");
  assert.equal(state.closed, 2);
});

test("a file that is lost ends it, and reads under way are stopped", async () => {
  const { sources, state } = fake_sources(3, { fail_at: 0 });
  const reader = fake_reader([
    [[0, 1]],
    [
      [0, 1],
      [1, 1],
    ],
    [
      [0, 1],
      [1, 1],
    ],
  ]);
  await assert.rejects(
    read_model(reader, { name: "", sources }, live(), () => {}),
    /lost/,
  );
  await new Promise((done) => setTimeout(done, 20));
  assert.equal(state.closed, 3);
  assert.equal(state.stopped, 2);
  assert.deepEqual(reader.fed, []);
});
