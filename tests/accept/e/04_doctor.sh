# SPDX-License-Identifier: Apache-2.0
# `opennrt doctor` names the cause of every staged broken setup and has no finding
# on healthy ones.
. "$(dirname "$0")/../lib.sh"
cases=$(gtest "$ACCEPT_RELEASE" doctor_test)
setups=$(grep -cE '^ +(expect|trapped)\(' tests/integration/doctor_test.cpp)
echo "$setups broken setups named in $cases cases"
