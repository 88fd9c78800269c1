# SPDX-License-Identifier: Apache-2.0
"""Compiles each public header alone, included twice: C11 -pedantic and C++17,
with every compiler given. C++ helpers (.hpp) only in C++17. Arguments: include directories, "--", compilers."""
import subprocess
import sys
from pathlib import Path

C_FLAGS = ["-std=c11", "-pedantic", "-Wstrict-prototypes", "-x", "c"]
CPP_FLAGS = ["-std=c++17", "-x", "c++"]


def main(arguments):
    split = arguments.index("--")
    roots, compilers = arguments[:split], arguments[split + 1:]
    headers = [(root, h.relative_to(root)) for root in roots for h in sorted(Path(root).rglob("*.h*"))]
    bad = 0
    for compiler in compilers:
        flags = CPP_FLAGS if "++" in Path(compiler).name else C_FLAGS
        for root, header in headers:
            if header.suffix == ".hpp" and flags is C_FLAGS:
                continue
            command = [compiler, *flags, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", root, "-"]
            done = subprocess.run(command, input=f'#include "{header}"\n' * 2, text=True,
                                  capture_output=True, check=False)
            if done.returncode != 0:
                bad += 1
                print(f"{compiler}: {header}\n{done.stderr}")
    print(f"{len(headers)} headers, {len(compilers)} compilers, {bad} failures")
    return 1 if bad or not headers or not compilers else 0


sys.exit(main(sys.argv[1:]))
