# Device images equal the recorded ones, record by record.
. "$(dirname "$0")/../lib.sh"
n=$(gtest "$ACCEPT_RELEASE" image_fidelity_test '*')
echo "$n fidelity cases"
