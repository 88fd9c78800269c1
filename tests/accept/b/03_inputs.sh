# SPDX-License-Identifier: Apache-2.0
# Signed inputs with zeros, denormals and large values beside uniform ones;
# attention with peaked and flat rows.
. "$(dirname "$0")/../lib.sh"
signed=$(gtest "$ACCEPT_RELEASE" models_test '*_Signed')
peaked=$(gtest "$ACCEPT_RELEASE" models_test '*_Peaked')
flat=$(gtest "$ACCEPT_RELEASE" models_test '*_Flat')
echo "$signed signed, $peaked peaked, $flat flat"
