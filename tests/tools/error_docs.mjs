// Writes core/ERRORS.md from the error code table: node tests/tools/error_docs.mjs
import { writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { error_codes, table_file } from "../architecture/error_codes.mjs";
import { repo_root } from "../architecture/source_tree.mjs";

export const docs_file = "core/ERRORS.md";

function cell(text) {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

export function error_docs() {
  const lines = [
    "# Errors and warnings",
    "",
    `Written from \`${table_file}\` by \`node tests/tools/error_docs.mjs\`; a test keeps the two alike.`,
    "",
    "Every diagnostic carries its code, a JSON Pointer into what was given, a line and column where there is text, the",
    "arguments named in braces, the message and a hint. A code keeps its meaning once released.",
    "",
    "| code | severity | message | hint |",
    "| --- | --- | --- | --- |",
    ...error_codes().map(
      ({ code, severity, template, hint }) =>
        `| \`${code}\` | ${severity} | ${cell(template)} | ${cell(hint)} |`,
    ),
    "",
  ];
  return lines.join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(path.join(repo_root, docs_file), error_docs());
}
