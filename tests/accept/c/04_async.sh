# SPDX-License-Identifier: Apache-2.0
# 4 producers x 100,000 requests over 2 cores: order, exact results, a full queue
# tried again, no lost completion; the same under TSan with fewer requests.
. "$(dirname "$0")/../lib.sh"
export ASYNC_REQUESTS=100000
gtest "$ACCEPT_RELEASE" async_load_test '*' >/dev/null
export ASYNC_REQUESTS=1000
gtest "$ACCEPT_TSAN" async_load_test '*' >/dev/null
echo "4 x 100000 requests, in order and exact"
