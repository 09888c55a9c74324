// Rules of the sources that a reviewer should not have to remember.
import assert from "node:assert/strict";
import { test } from "node:test";
import { code_only, is_cpp, matching_lines, project_files, read_text } from "./source_tree.mjs";

const files = project_files();
const cpp_files = files.filter(is_cpp);
const core_files = cpp_files.filter((name) => /^core\/(?!tools\/)/.test(name));
const text_files = files.filter(
  (name) => /\.(h|cpp|def|ts|mjs|js|css|html|json|md|sh|yml|yaml|cmake|txt|py|csv)$/.test(name) ||
    /(^|\/)(test|serve|run|CMakeLists\.txt|\.clang-[a-z]+|\.gitignore|\.editorconfig)$/.test(name),
);
const self = /^tests\/architecture\//;

function offences(names, pattern, read = read_text) {
  return names.flatMap((name) => matching_lines(name, read(name), pattern));
}

test("C++ sources are plain ASCII", () => {
  // eslint-disable-next-line no-control-regex
  assert.deepEqual(offences(cpp_files, /[^\x00-\x7f]/), []);
});

function count(text, pattern) {
  return text.match(pattern)?.length ?? 0;
}

const banned_in_core = [
  ["exceptions", /\b(try|throw|catch)\b/],
  ["throwing access", /\.at\s*\(|->at\s*\(/],
  ["throwing or locale-bound parsing", /\bsto(i|l|ll|ul|ull|f|d|ld)\s*\(|\b(atoi|atol|atoll|atof|strtod)\s*\(/],
  ["output", /\bstd\s*::\s*(cout|cerr|clog|cin)\b|\b(printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|fwrite)\s*\(/],
  ["process exit", /\b(abort|exit|_Exit|quick_exit|terminate)\s*\(/],
  ["assert on input", /\bassert\s*\(/],
  ["floating-point character conversion", /\bstd\s*::\s*bit_cast\b/],
  // Its counter has virtual functions, whose code the linker may take from a unit with run-time types.
  ["shared pointers", /\bstd\s*::\s*(make_shared|shared_ptr)\b/],
  ["environment and clock", /\b(getenv|time|clock)\s*\(|\bstd\s*::\s*chrono\b/],
];

for (const [what, pattern] of banned_in_core) {
  test(`the core has no ${what}`, () => {
    const names = core_files.filter((name) => !/^core\/units\/json[a-z_]*\.(h|cpp)$/.test(name));
    assert.deepEqual(offences(names, pattern, (name) => code_only(read_text(name))), []);
  });
}

test("headers are guarded by #pragma once", () => {
  const bare = cpp_files.filter((name) => name.endsWith(".h") && !/^#pragma once$/m.test(read_text(name)));
  assert.deepEqual(bare, []);
});

test("headers open no namespace for those who include them", () => {
  assert.deepEqual(offences(cpp_files.filter((name) => name.endsWith(".h")), /\busing\s+namespace\b/), []);
});

test("macros carry the project's prefix, or expand a table and end there", () => {
  const names = cpp_files.filter((name) => name.startsWith("core/") || name.startsWith("wasm/"));
  assert.deepEqual(offences(names, /^\s*#\s*define\s+(?!VRAMGAUGE_|X\()/), []);
  const left_open = names.filter((name) => {
    const text = read_text(name);
    return count(text, /^#define X\(/gm) !== count(text, /^#undef X$/gm);
  });
  assert.deepEqual(left_open, []);
});

test("nothing is left to be done in the sources", () => {
  const names = text_files.filter((name) => !self.test(name) && !/^(presets|tests\/data|tests\/golden)\//.test(name));
  assert.deepEqual(offences(names, /\b(TODO|FIXME|XXX|HACK)\b/), []);
});

test("no path of one machine", () => {
  const names = text_files.filter((name) => !self.test(name));
  assert.deepEqual(offences(names, /(^|[\s"'`(=:])\/(work|root|home)\/[\w.]|\/tmp\/vg\b|\.\.\/shared\b/), []);
});

test("lock files name no registry host", () => {
  const locks = files.filter((name) => /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock)$/.test(name));
  assert.deepEqual(offences(locks, /"resolved"\s*:|registry\./), []);
});

test("shell scripts stop at the first failure", () => {
  const scripts = files.filter((name) => /^(test|serve|\.ci\/run)$/.test(name) || /^tests\/tools\/.*\.sh$/.test(name));
  const sourced = /^# shellcheck shell=bash/;
  const wrong = scripts.filter((name) => {
    const text = read_text(name);
    return !sourced.test(text) && !/^set -euo pipefail$/m.test(text);
  });
  assert.deepEqual(wrong, []);
});

test("source files stay short enough to read", () => {
  const long = files
    .filter((name) => /^(core|wasm|web\/src)\/.*\.(h|cpp|ts)$/.test(name))
    .map((name) => [name, read_text(name).split("\n").length])
    .filter(([, lines]) => lines > 1200);
  assert.deepEqual(long, []);
});
