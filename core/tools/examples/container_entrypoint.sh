#!/usr/bin/env bash
# Entry point of a container: the engine starts only where its scenario fits.
#   VRAMGAUGE_SCENARIO='v=1&model=...' container_entrypoint.sh vllm serve ...
# VRAMGAUGE_ALLOW_TIGHT=1 starts it too where only the central value fits.
set -euo pipefail

code=0
vramgauge validate "${VRAMGAUGE_SCENARIO:?a scenario link}" >&2 || code=$?
if [[ "$code" == 2 && "${VRAMGAUGE_ALLOW_TIGHT-}" == 1 ]]; then
  code=0
fi
if [[ "$code" != 0 ]]; then
  echo "not started: vramgauge validate ended with $code" >&2
  exit "$code"
fi
exec "$@"
