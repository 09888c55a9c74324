#!/usr/bin/env bash
# TaskProlog of Slurm: a job that names its scenario is ended where it does not fit.
#   sbatch --export=ALL,VRAMGAUGE_SCENARIO='v=1&model=...' job.sh
# Not for Prolog, whose failure takes the node out of service. Jobs without a scenario are left alone.
set -euo pipefail

[[ -n "${VRAMGAUGE_SCENARIO-}" ]] || exit 0

code=0
answer="$(vramgauge validate "$VRAMGAUGE_SCENARIO" 2>&1)" || code=$?
# Lines after "print" reach the job's output.
while IFS= read -r line; do
  echo "print vramgauge: $line"
done <<<"$answer"
# 0 fits, 2 tight, 3 cannot tell: only a clear no ends the job.
[[ "$code" != 1 ]] || exit 1
