// What the architecture tests share: the tracked files of the checkout and how to read them.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const repo_root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

/** Files of the project: tracked ones and new ones that git does not ignore. */
export function project_files() {
  const listed = execFileSync(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"],
    { cwd: repo_root, encoding: "utf8", maxBuffer: 64 << 20 },
  );
  const deleted = execFileSync("git", ["ls-files", "-z", "--deleted"], {
    cwd: repo_root,
    encoding: "utf8",
  });
  const gone = new Set(deleted.split("\0"));
  return listed.split("\0").filter((name) => name !== "" && !gone.has(name));
}

export function read_text(name) {
  return readFileSync(path.join(repo_root, name), "utf8");
}

export function is_cpp(name) {
  return /\.(h|cpp|def)$/.test(name) && /^(core|wasm|tests)\//.test(name);
}

/**
 * C++ text with comments and the contents of string and character literals blanked out, line
 * numbers kept. Raw strings are handled; trigraphs and line splices are not used here.
 */
export function code_only(text) {
  const token =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|R"([^()\\\s]{0,16})\([\s\S]*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'/g;
  return text.replace(token, (match) =>
    match.startsWith("/") ? match.replace(/[^\n]/g, " ") : `""${match.replace(/[^\n]/g, "")}`,
  );
}

/** Every line of `text` that matches, as "name:line: text". */
export function matching_lines(name, text, pattern) {
  return text
    .split("\n")
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => pattern.test(line))
    .map(({ line, number }) => `${name}:${number}: ${line.trim().slice(0, 120)}`);
}
