# SPDX-License-Identifier: Apache-2.0
# Execution against peers measured in the same run; the bench ends with one line
# of ratios and fails when one is past its limit.
. "$(dirname "$0")/../lib.sh"
"$ACCEPT_RELEASE/bin/bench/opennrt_model_bench" --limits
