# SPDX-License-Identifier: Apache-2.0
# Programs written to the public API: SDK-guide style C, C by dlopen, C++ RAII
# with async use, Python ctypes, and one that forks before and after nrt_init.
. "$(dirname "$0")/../lib.sh"
/usr/bin/python3 tests/run.py --build "$ACCEPT_RELEASE" --labels clients | tail -n 1
