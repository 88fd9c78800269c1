# SPDX-License-Identifier: Apache-2.0
# Sequences of driver requests for 30 minutes under ASan and UBSan: no crash,
# the books of the driver balance after each.
. "$(dirname "$0")/../lib.sh"
"$ACCEPT_ASAN/bin/fuzz/fuzz_driver" -max_total_time="${FUZZ_SECONDS:-1800}" 2>&1 | tail -n 1
