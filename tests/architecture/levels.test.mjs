// Data flows one way: a file of the core includes its own level or a lower one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { is_cpp, project_files, read_text } from "./source_tree.mjs";

const levels = ["units", "specs", "import", "model", "engine", "plan", "report", "api"];

/** Where nlohmann/json may be seen: no public header, or a unit with exceptions would see another type. */
const json_library_users = /^core\/units\/json[a-z_]*\.cpp$/;

function level_of(folder, name) {
  const level = levels.indexOf(folder);
  assert.notEqual(level, -1, `${name}: ${folder} is not a level of the core (${levels.join(", ")})`);
  return level;
}

function includes_of(text) {
  return [...text.matchAll(/^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]/gm)].map((match) => ({
    system: match[1] === "<",
    target: match[2],
  }));
}

const cpp_files = project_files().filter(is_cpp);
const core_files = cpp_files.filter((name) => /^core\/(?!tools\/)/.test(name));

test("every folder of the core is a level", () => {
  const folders = new Set(core_files.map((name) => name.split("/")[1]));
  assert.ok(folders.has("units") && folders.has("api"));
  assert.deepEqual([...folders].filter((folder) => !levels.includes(folder)), []);
});

test("a core file includes its own level or a lower one", () => {
  const wrong = [];
  for (const name of core_files) {
    const own = level_of(name.split("/")[1], name);
    for (const { system, target } of includes_of(read_text(name))) {
      if (system) continue;
      const folder = target.split("/")[0];
      if (!target.includes("/") || level_of(folder, name) > own) wrong.push(`${name}: "${target}"`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("the WASM binding knows the facade only", () => {
  const wrong = [];
  for (const name of cpp_files.filter((file) => file.startsWith("wasm/"))) {
    for (const { system, target } of includes_of(read_text(name))) {
      if (!system && !target.startsWith("api/")) wrong.push(`${name}: "${target}"`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("nlohmann/json stays inside core/units/json*.cpp", () => {
  const wrong = core_files.filter(
    (name) =>
      !json_library_users.test(name) &&
      includes_of(read_text(name)).some(({ target }) => target.startsWith("nlohmann/")),
  );
  assert.deepEqual(wrong, []);
});

test("no header that a compiler lacks or that swells the module", () => {
  const banned = new Set([
    "iostream", "istream", "ostream", "sstream", "fstream", "iomanip", "regex", "format", "ranges",
    "filesystem", "source_location", "chrono", "ctime", "thread", "mutex", "random", "exception",
    "stdexcept", "emscripten.h", "emscripten/bind.h",
  ]);
  const wrong = [];
  for (const name of core_files) {
    for (const { target } of includes_of(read_text(name))) {
      if (banned.has(target)) wrong.push(`${name}: <${target}>`);
    }
  }
  assert.deepEqual(wrong, []);
});
