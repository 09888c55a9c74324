#!/usr/bin/env bash
# Fuzzes every target, SECONDS each; findings go to build/fuzz-findings, the grown corpora stay in
# build/fuzz-corpus.
#   tests/tools/fuzz.sh SECONDS [TARGET...]
set -euo pipefail
# shellcheck source=tests/tools/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

[[ "${1-}" =~ ^[0-9]+$ ]] || die "usage: tests/tools/fuzz.sh SECONDS [TARGET...]"
seconds="$1"
shift

install_packages "${packages_native[@]}" "${packages_clang[@]}"
ensure_node
ensure_npm_packages "$repo_root/presets"
use_build_environment
build_preset fuzz
if [[ $# -gt 0 ]]; then
  targets=("$@")
else
  mapfile -t targets < <(find "$build_dir/fuzz/tests/fuzz" -maxdepth 1 -type f -name 'fuzz_*' -executable -printf '%f\n' | sort)
fi
[[ ${#targets[@]} -gt 0 ]] || die "no fuzz targets were built"

findings="$build_dir/fuzz-findings"
mkdir -p "$findings"
for target in "${targets[@]}"; do
  heading "$target"
  corpus="$build_dir/fuzz-corpus/$target"
  seeds="$repo_root/tests/fuzz/corpus/${target#fuzz_}"
  mkdir -p "$corpus"
  folders=("$corpus")
  [[ ! -d "$seeds" ]] || folders+=("$seeds")
  "$build_dir/fuzz/tests/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$findings/" -print_final_stats=1 "${folders[@]}"
done
