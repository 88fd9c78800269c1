#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives sdk_guide files with random numbers and adds them up itself: PROGRAM MODEL.neff"""
import array
import os
import pathlib
import random
import subprocess
import sys
import tempfile


def main():
    program, model = sys.argv[1:]
    listing = subprocess.run([program, model], check=True, capture_output=True, text=True).stdout
    tensors = [(line.split()[0], line.split()[1], int(line.split(", ")[1].split()[0]))
               for line in listing.splitlines()]
    inputs = [t for t in tensors if t[0] == "in"]
    outputs = [t for t in tensors if t[0] == "out"]
    assert len(inputs) == 2 and len(outputs) == 1, listing

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        numbers = random.Random(1)
        values = []
        for _, tensor, size in inputs:
            # array rounds each number to float32; an exponent of up to 2^20 makes sums round.
            values.append(array.array("f", [numbers.uniform(-1, 1) * 2.0 ** numbers.randrange(-20, 20)
                                            for _ in range(size // 4)]))
            (folder / f"{tensor}.in").write_bytes(values[-1].tobytes())
        subprocess.run([program, model, name], check=True)
        _, tensor, size = outputs[0]
        got = array.array("f", (folder / f"{tensor}.out").read_bytes())
        want = array.array("f", map(sum, zip(*values)))  # in double, rounded once
        wrong = sum(g != w for g, w in zip(got, want))
        print(f"{len(got)} sums, {wrong} wrong")
        assert len(got) == size // 4 == len(want) and wrong == 0

        # A file that does not fit the tensor is the client's error, found before the device runs.
        os.truncate(folder / f"{inputs[0][1]}.in", 4)
        short = subprocess.run([program, model, name], capture_output=True, text=True)
        assert short.returncode == 1 and "as long as the tensor" in short.stderr, short


main()
