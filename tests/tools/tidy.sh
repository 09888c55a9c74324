#!/usr/bin/env bash
# Runs clang-tidy over the core, its program and the WASM binding: ./test tidy
#   tests/tools/tidy.sh [FILE...]
set -euo pipefail
# shellcheck source=tests/tools/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$repo_root"

cmake --preset tidy >/dev/null
files=("$@")
if [[ ${#files[@]} == 0 ]]; then
  mapfile -d '' files < <(git ls-files -z --cached --others --exclude-standard --deduplicate -- 'core/*.cpp')
fi
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 --quiet -p build/tidy
