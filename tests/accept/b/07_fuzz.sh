# SPDX-License-Identifier: Apache-2.0
# Structure-aware mutation of NEFFs under ASan and UBSan: no crash, no hang past
# the bound, no access out of bounds. FUZZ_SECONDS, default 1800.
. "$(dirname "$0")/../lib.sh"
seconds=${FUZZ_SECONDS:-1800}
work=$(mktemp -d)
log=$work/log
if ! OPENNRT_DEVICE=emulator "$ACCEPT_ROOT/build/fuzz/bin/fuzz/fuzz_program" -max_total_time="$seconds" \
  -timeout=60 -rss_limit_mb=8192 -artifact_prefix="$work/" "$work" >"$log" 2>&1; then
  tail -n 40 "$log"
  exit 1
fi
echo "$(grep -o 'Done [0-9]* runs in [0-9]*' "$log") s"
