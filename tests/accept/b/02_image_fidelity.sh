# SPDX-License-Identifier: Apache-2.0
# Our images of every corpus program with a profile equal the recorded ones
# record by record, descriptor counts per ring and block equal.
. "$(dirname "$0")/../lib.sh"
cases=$(gtest "$ACCEPT_RELEASE" image_fidelity_test '*')
echo "$cases fidelity cases"
