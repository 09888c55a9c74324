#!/usr/bin/env bash
# Builds what is published: this checkout at the root, every released version under its own folder,
# so that an old link can be opened by the program that wrote it.
#   tests/tools/build_pages.sh FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

[[ $# == 1 ]] || { echo "usage: tests/tools/build_pages.sh FOLDER" >&2; exit 2; }
out="$1"
versions="$PWD/build/versions"

# publish CHECKOUT TARGET
publish() {
  "$1/serve" --build-only
  mkdir -p "$2"
  cp -r "$1/web/dist/site/." "$2/"
  cp "$1/web/dist/single/vramgauge.html" "$2/"
}

rm -rf "$out"
publish "$PWD" "$out"
for tag in $(git tag --list 'v[0-9]*' --sort=version:refname); do
  [[ -d "$versions/$tag" ]] || git worktree add --detach "$versions/$tag" "$tag"
  publish "$versions/$tag" "$out/$tag"
done
touch "$out/.nojekyll"
