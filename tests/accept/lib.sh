# SPDX-License-Identifier: Apache-2.0
# Shared by the acceptance scripts of this letter; sourced.
set -euo pipefail
cd "$ACCEPT_ROOT"

# gtest BUILD NAME FILTER: runs the cases and prints how many passed; fails when
# one failed, was skipped, or none ran, and says so on stderr.
gtest() {
  local build=$1 name=$2 filter=${3:-*} log
  log=$(mktemp)
  if ! "$build/bin/tests/$name" --gtest_filter="$filter" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    rm -f "$log"
    echo "$name $filter failed in $build" >&2
    exit 1
  fi
  if grep -q '\[  SKIPPED \]' "$log" || ! grep -q '\[  PASSED  \] [1-9]' "$log"; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    echo "$name $filter: skipped or ran nothing in $build" >&2
    exit 1
  fi
  grep -c '\[       OK \]' "$log"
  rm -f "$log"
}
