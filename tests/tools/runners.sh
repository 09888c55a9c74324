# shellcheck shell=bash
# Runs the test runners and repeats their closing lines at the end: sourced by ./test.

start_summary() {
  summary_file="$(mktemp)"
  passed_total=0
  failed_total=0
}

# remember LABEL LINES: closing lines to print again.
remember() {
  printf '%s\n%s\n' "[$1]" "$2" >>"$summary_file"
}

count() {
  passed_total=$((passed_total + $1))
  failed_total=$((failed_total + $2))
}

# run_logged LOG COMMAND...: shows and keeps the output, returns the command's status.
run_logged() {
  local log="$1" status=0
  shift
  "$@" </dev/null 2>&1 | tee "$log" || status=$?
  return "$status"
}

# run_ctest LABEL BUILD_DIR [ARGUMENT...]
run_ctest() {
  local label="$1" folder="$2" log status=0 closing total failed
  shift 2
  log="$(mktemp)"
  run_logged "$log" ctest --test-dir "$folder" --no-tests=error --parallel "$(nproc)" "$@" ||
    status=$?
  closing="$(grep -E '^[0-9]+% tests passed' "$log" || true)"
  remember "$label" "${closing:-no closing line from ctest}"
  total="$(sed -nE 's/.*tests failed out of ([0-9]+).*/\1/p' <<<"$closing")"
  failed="$(sed -nE 's/.* ([0-9]+) tests failed out of.*/\1/p' <<<"$closing")"
  count $((${total:-0} - ${failed:-0})) "${failed:-0}"
  rm -f "$log"
  return "$status"
}

# run_node_tests LABEL FILE...: a label without files is an error, as a run without tests would be.
run_node_tests() {
  local label="$1" log status=0 file
  shift
  for file in "$@"; do
    [[ -f "$file" ]] || die "no tests at $file"
  done
  log="$(mktemp)"
  run_logged "$log" node --test --test-reporter=spec \
    --test-concurrency="${node_test_concurrency:-$(nproc)}" "$@" || status=$?
  remember "$label" "$(grep -E '^. (tests|pass|fail|cancelled|skipped) [0-9]+$' "$log" || true)"
  count "$(node_count pass "$log")" $(($(node_count fail "$log") + $(node_count cancelled "$log")))
  [[ "$(node_count tests "$log")" -gt 0 ]] || status=1
  rm -f "$log"
  return "$status"
}

# node_count WORD LOG: the number on the closing line of node's runner.
node_count() {
  local number
  number="$(sed -nE "s/^. $1 ([0-9]+)\$/\\1/p" "$2" | tail -n 1)"
  echo "${number:-0}"
}

# Printed however the run ends; a failed run never closes with a clean line.
print_summary() {
  local status=$?
  heading "summary"
  cat "$summary_file"
  rm -f "$summary_file"
  [[ "$status" == 0 || "$failed_total" -gt 0 ]] || failed_total=1
  say "$passed_total passed, $failed_total failed"
  exit "$status"
}
