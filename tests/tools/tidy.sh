#!/usr/bin/env bash
# Runs clang-tidy over the core and its program: ./test tidy
#   tests/tools/tidy.sh [FILE...]
# A file that passed is not looked at again until its preprocessed text or the rules change.
set -euo pipefail
# shellcheck source=tests/tools/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$repo_root"

readonly passed_dir="$build_dir/tidy/passed"

# Comments stay in the text: one may switch a rule off.
fingerprint() {
  {
    cat .clang-tidy
    clang++-14 -std=c++20 -Icore -Icore/tools -isystem build/tidy/header_only -DVRAMGAUGE_VERSION='""' \
      -E -C -w "$1"
  } | sha256sum | cut -c1-40
}

tidy_one() {
  local key
  key="$(fingerprint "$1")"
  [[ -e "$passed_dir/$key" ]] && return 0
  say "$1"
  clang-tidy-14 --quiet -p build/tidy "$1" 2>&1 | { grep -vE '^[0-9]+ warnings? generated\.$' || true; }
  touch "$passed_dir/$key"
}

if [[ "${1-}" == --one ]]; then
  tidy_one "$2"
  exit
fi

cmake --preset tidy >/dev/null
mkdir -p "$passed_dir"
files=("$@")
if [[ ${#files[@]} == 0 ]]; then
  mapfile -d '' files < <(git ls-files -z --cached --others --exclude-standard --deduplicate -- 'core/*.cpp')
fi
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" "$repo_root/tests/tools/tidy.sh" --one
say "${#files[@]} files are clean"
