# SPDX-License-Identifier: Apache-2.0
# Each injected fault of the driver: the status, the message, and the next init.
. "$(dirname "$0")/../lib.sh"
echo "$(gtest "$ACCEPT_RELEASE" driver_faults_test) faults"
