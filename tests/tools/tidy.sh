#!/usr/bin/env bash
# Runs clang-tidy over the core, its program and the WASM binding: ./test tidy
#   tests/tools/tidy.sh [FILE...]
set -euo pipefail
# shellcheck source=tests/tools/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$repo_root"

[[ -f build/tidy/compile_commands.json ]] || cmake --preset tidy
files=("$@")
if [[ ${#files[@]} == 0 ]]; then
  mapfile -d '' files < <(git ls-files -z --cached --others --exclude-standard --deduplicate -- 'core/*.cpp')
fi
# One file a process: the longest first would need a measurement, so the order is the tree's.
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 --quiet -p build/tidy
