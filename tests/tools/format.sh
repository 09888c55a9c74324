#!/usr/bin/env bash
# Checks the layout of the C++ sources; with --fix, applies it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mode=(--dry-run --Werror)
[[ "${1-}" != --fix ]] || mode=(-i)

git ls-files -z --cached --others --exclude-standard --deduplicate -- \
  'core/*.h' 'core/*.cpp' 'wasm/*.h' 'wasm/*.cpp' 'tests/*.h' 'tests/*.cpp' |
  while IFS= read -r -d '' file; do [[ ! -f "$file" ]] || printf '%s\0' "$file"; done |
  xargs -0 --no-run-if-empty -n 40 -P "$(nproc)" clang-format-14 "${mode[@]}"
