# Scenarios recorded from the real driver replay equal.
. "$(dirname "$0")/../lib.sh"
for arch in 2 3; do
  "$ACCEPT_RELEASE/bin/tests/driver_replay" "$OPENNRT_VECTORS/driver-2.24.7.0-arch$arch.yaml" "$OPENNRT_SPEC/kernel-abi.yaml"
done
