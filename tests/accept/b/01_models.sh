# SPDX-License-Identifier: Apache-2.0
# Every corpus model passes its manifest check, in default mode and under 20
# random interleavings with poison, race, coverage and bounds checks on:
# identical bits, no report.
. "$(dirname "$0")/../lib.sh"
plain=$(gtest "$ACCEPT_RELEASE" models_test '*')
export VERIFY_SEEDS=20
verified=$(gtest "$ACCEPT_RELEASE" models_verify_test '*')
echo "$plain model checks, $verified models x 20 interleavings identical and without a report"
