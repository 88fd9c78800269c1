# SPDX-License-Identifier: Apache-2.0
# Every recorded scenario of the real driver, two versions and two arches, in
# process, through the daemon and by a raw client under `opennrt emu`: equal.
# Several hundred generated sequences hold the invariants.
. "$(dirname "$0")/../lib.sh"
total=0
for way in process daemon emu; do
  for version in 2.24.7.0 2.26.5.0; do
    for arch in 2 3; do
      line=$("$ACCEPT_RELEASE/bin/tests/driver_replay" --through "$way" "$OPENNRT_VECTORS/driver-$version-arch$arch.yaml" \
        "$OPENNRT_SPEC/kernel-abi.yaml" | tail -n 1)
      [[ $line =~ ^([0-9]+)\ equal,\ 0\ not\ yet,\ 0\ different$ ]] || { echo "$way $version arch $arch: $line"; exit 1; }
      total=$((total + BASH_REMATCH[1]))
    done
  done
done
sequences=$("$ACCEPT_RELEASE/bin/tests/driver_sequences" --count 600 | tail -n 1)
echo "$total scenarios equal in three ways; $sequences"
