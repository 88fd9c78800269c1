#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the ABI that the public headers and the version script describe with
the stored one, by libabigail's abidiff. A library with the prototypes of the
golden table and no bodies is compiled against the headers, with debug
information, so that types of exported functions are compared too.

  abidiff_test.py CC INCLUDE_DIR TABLE VERSION_SCRIPT BASELINE [--update]

Exit code 77: libabigail is not installed."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import yaml


def library_source(table):
    exported = [f for f in table["functions"] if f["node"]] + table["later_functions"]
    headers = sorted({f["header"] for f in exported})
    yield from (f'#include "{header}"' for header in headers)
    for f in exported:
        params = ", ".join(place(p, f"p{i}") for i, p in enumerate(f["params"])) or "void"
        yield f"{f['returns']} {f['name']}({params}) {{ __builtin_trap(); }}"


def place(declarator, name):
    """A parameter of a type; a pointer to a function has the name inside."""
    before, star, after = declarator.partition("(*)")
    return f"{before}(*{name}){after}" if star else f"{declarator} {name}"


def main(compiler, include, table_path, script, baseline, *options):
    if not shutil.which("abidiff") or not shutil.which("abidw"):
        print("abidiff is not installed (package abigail-tools)")
        return 77
    table = yaml.safe_load(pathlib.Path(table_path).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        source, library = pathlib.Path(folder, "nrt.c"), pathlib.Path(folder, "libnrt.so.1")
        source.write_text("\n".join(library_source(table)) + "\n", encoding="utf-8")
        subprocess.run([compiler, "-std=gnu11", "-g", "-fPIC", "-shared", "-I", include,
                        f"-ffile-prefix-map={folder}/=", f"-Wl,--version-script={script}",
                        "-Wl,-soname,libnrt.so.1", "-o", library, source], check=True)
        plain = ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs"]
        if options == ("--update",):
            subprocess.run(["abidw", *plain, "--type-id-style", "hash", "--out-file", baseline,
                            library], check=True)
            return 0
        done = subprocess.run(["abidiff", "--no-show-locs", baseline, library],
                              capture_output=True, text=True, check=False)
        print(done.stdout + done.stderr, end="")
        print("same ABI" if done.returncode == 0 else
              "the ABI has changed; if that is meant, run this test with --update")
        return 1 if done.returncode else 0


sys.exit(main(*sys.argv[1:]))
