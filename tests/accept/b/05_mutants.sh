# SPDX-License-Identifier: Apache-2.0
# One-line faults in compute, dma, sequencer and lowering: each is noticed.
. "$(dirname "$0")/../lib.sh"
tests/mutants/run.py
