# SPDX-License-Identifier: Apache-2.0
# Sequences of driver requests for 30 minutes under ASan and UBSan: no crash,
# the books of the driver balance after each. FUZZ_SECONDS, default 1800.
. "$(dirname "$0")/../lib.sh"
seconds=${FUZZ_SECONDS:-1800}
work=$(mktemp -d)
log=$work/log
if ! "$ACCEPT_ROOT/build/fuzz/bin/fuzz/fuzz_driver" -max_total_time="$seconds" -timeout=60 \
  -rss_limit_mb=8192 -artifact_prefix="$work/" "$work" >"$log" 2>&1; then
  tail -n 40 "$log"
  exit 1
fi
echo "$(grep -o 'Done [0-9]* runs in [0-9]*' "$log") s"
