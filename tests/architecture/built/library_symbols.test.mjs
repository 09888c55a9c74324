// What the built library asks of the outside: no output, no files, no clock, no end of the process.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { repo_root } from "../source_tree.mjs";

const library = path.join(repo_root, "build/dev/core/libvramgauge_core.a");

/** The JSON library checks itself and ends the process where exceptions are off; it is handed only bounded text. */
const json_member = /^json[a-z_]*\.cpp\.o$/;
const json_may_use = new Set(["abort", "__assert_fail"]);

const banned = [
  ["output", /^(printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|fputc|fwrite|perror|__printf_chk|__fprintf_chk|stdout|stderr|std::(cout|cerr|clog|cin))$/],
  ["iostream", /^std::(basic_[io]+stream|basic_[io]?stringstream|ios_base|locale)\b/],
  ["files", /^(open|open64|fopen|fopen64|read|write|close|mmap)$/],
  ["environment and clock", /^(getenv|time|clock|clock_gettime|gettimeofday|rand|srand|random)$|^std::chrono::/],
  ["process exit", /^(abort|exit|_exit|quick_exit|std::terminate\(\)|__assert_fail)$/],
  ["exceptions", /^__cxa_(throw|rethrow|begin_catch|allocate_exception)$/],
];

/** Lines of nm as {member, kind, symbol}, demangled, without versions. */
function symbols() {
  const listing = execFileSync("nm", ["-A", "-C", library], { encoding: "utf8", maxBuffer: 512 << 20 });
  return listing
    .split("\n")
    .map((line) => /^[^ ]*:([^: ]+\.o):\s*[0-9a-f]*\s+(\w)\s+(.*?)(@.*)?$/.exec(line))
    .filter((match) => match !== null)
    .map(([, member, kind, symbol]) => ({ member, kind, symbol }));
}

const all_symbols = existsSync(library) ? symbols() : [];
const undefined_symbols = all_symbols.filter(({ kind }) => /[Uwv]/.test(kind));

/** Members where std::variant brings its own check, which ends the process where exceptions are off. */
const variant_users = new Set(
  all_symbols
    .filter(({ symbol }) => symbol === "std::__throw_bad_variant_access(char const*)")
    .map(({ member }) => member),
);

/** Whether a library header, not our code (a test of the sources sees to that), calls it. */
function comes_from_a_library({ member, symbol }) {
  if (json_member.test(member)) return json_may_use.has(symbol);
  return symbol === "abort" && variant_users.has(member);
}

test("the library is built", () => {
  assert.ok(existsSync(library), `${library} is missing: build the dev preset first`);
});

test("the symbols are read", () => {
  assert.ok(undefined_symbols.some(({ symbol }) => symbol === "memcpy" || symbol === "memmove"));
});

for (const [what, pattern] of banned) {
  test(`the library needs no ${what}`, () => {
    const wrong = undefined_symbols
      .filter((entry) => pattern.test(entry.symbol) && !comes_from_a_library(entry))
      .map(({ member, symbol }) => `${member}: ${symbol}`);
    assert.deepEqual([...new Set(wrong)], []);
  });
}
