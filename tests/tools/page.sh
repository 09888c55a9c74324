# shellcheck shell=bash
# Builds the modules, the catalogue and the page: sourced by ./test and ./serve after setup.sh.

readonly page_dir="$repo_root/web/dist"

ensure_presets() {
  ensure_npm_packages "$repo_root/presets"
}

ensure_module() {
  build_preset wasm
}

# page_is_current: no source of the page is newer than the page. A deleted file shows as a newer folder.
page_is_current() {
  local page
  for page in "$page_dir/site/index.html" "$page_dir/single/vramgauge.html"; do
    [[ -f "$page" ]] || return 1
    [[ -z "$(find "$repo_root/web" "$repo_root/presets" "$repo_root"/build/wasm/wasm/*.wasm "$repo_root"/wasm/*.mjs \
      \( -name node_modules -o -name dist -o -path "$repo_root/web" -o -path "$repo_root/presets" \) -prune \
      -o -newer "$page" -print -quit)" ]] || return 1
  done
}

# build_page: types, translations, the site and the one-file page.
build_page() {
  ensure_module
  ensure_presets
  ensure_npm_packages "$repo_root/web"
  (cd "$repo_root/web" && npm run --silent build </dev/null)
}

ensure_page() {
  ensure_module
  page_is_current || build_page
}
