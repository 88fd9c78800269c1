# SPDX-License-Identifier: Apache-2.0
# Our headers equal the interface description; vecadd, copies and queues under
# {kernel, compat} x every preset x each feature bit masked use the request
# codes the rules name.
. "$(dirname "$0")/../lib.sh"
layout=$(gtest "$ACCEPT_RELEASE" ndl_layout_test)
matrix=$(gtest "$ACCEPT_RELEASE" ndl_matrix_test)
echo "$layout layout checks, $matrix matrix cases"
