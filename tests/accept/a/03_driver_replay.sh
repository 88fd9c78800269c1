# Scenarios recorded from the real driver replay equal.
. "$(dirname "$0")/../lib.sh"
"$ACCEPT_RELEASE/bin/tests/driver_replay" "$OPENNRT_VECTORS/driver-2.24.7.0-arch2.yaml" "$OPENNRT_SPEC/kernel-abi.yaml"
