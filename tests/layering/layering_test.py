#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Layering: includes go downward only, the sdk without its tools does not know
the core, and only the driver layer and the libc port reach device nodes.

Usage: layering_test.py SOURCE_DIR BUILD_DIR
"""
import pathlib
import re
import subprocess
import sys

# Layer -> layers whose headers it may include besides its own. `tdrv` public
# header for kmgr is tdrv/tdrv.h only.
COMMON = {"base", "log"}
MAY = {
    "base": set(),
    "log": {"base"},
    "strings": {"base"},
    "trace": {"base", "log", "strings"},
    "dump": COMMON | {"trace"},
    "config": COMMON,
    "nds": COMMON,
    "plugin": COMMON | {"config"},
    "book": COMMON | {"config", "plugin"},
    "neff": COMMON | {"config"},
    "hal": COMMON | {"config"},
    "tdrv": COMMON | {"config", "book", "neff", "hal", "trace", "nds"},
    "kmgr": COMMON | {"config", "book", "neff", "tdrv", "plugin", "trace", "dump", "strings"},
    "collectives": COMMON | {"trace"},
    "api": COMMON | {"config", "book", "plugin", "kmgr", "collectives", "trace", "dump", "nds"},
}
# The only objects that may import the calls which open devices. Those of the
# emulator stand in for the call in other programs, and speak with seccomp.
DEVICE_CALLS = {"ioctl"}
DEVICE_OBJECTS = re.compile(r"libc_port|emulator/preload/|emulator/launcher/.*guard")

INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/([^"]+)"', re.M)


def check_includes(source):
    problems = []
    core = source / "core"
    for file in sorted(core.rglob("*")):
        if file.suffix not in (".h", ".cpp", ".c"):
            continue
        layer = file.relative_to(core).parts[0]
        if layer == "include":
            continue
        if layer not in MAY:
            problems.append(f"{file}: layer {layer} is not in the layer table")
            continue
        for folder, header in INCLUDE.findall(file.read_text()):
            if folder in ("opennrt", "nrt", "ndl", layer):
                continue
            if folder in MAY and folder not in MAY[layer]:
                problems.append(f"{file}: {layer} may not include {folder}/{header}")
            if layer == "kmgr" and folder == "tdrv" and header != "tdrv.h":
                problems.append(f"{file}: kmgr may include tdrv/tdrv.h only, not {header}")
    for plugin in ("sunda", "cayman", "mariana", "arch-common", "ndl-common", "ndl-kernel", "ndl-compat", "emulator", "port-replay"):
        for file in sorted((source / "plugins" / plugin).rglob("*")):
            if file.suffix not in (".h", ".cpp", ".c"):
                continue
            # A program that links the core's parts, no plugin.
            if file.is_relative_to(source / "plugins" / "emulator" / "daemon"):
                continue
            for folder, header in INCLUDE.findall(file.read_text()):
                if folder in MAY:
                    problems.append(f"{file}: a plugin may not include core's {folder}/{header}")
    for part in ("include", "isa", "neffkit"):
        for file in sorted((source / "sdk" / part).rglob("*")):
            if file.suffix not in (".h", ".cpp", ".c"):
                continue
            for folder, header in INCLUDE.findall(file.read_text()):
                if folder in MAY or folder == "nrt":
                    problems.append(f"{file}: the sdk may not include core's {folder}/{header}")
    return problems


def check_imports(build):
    problems = []
    seen = 0
    objects = [o for o in build.rglob("*.o") if "/core/" in str(o) or "/plugins/" in str(o)]
    for obj in sorted(objects):
        text = subprocess.run(["nm", "-u", str(obj)], capture_output=True, text=True).stdout
        names = {line.split()[-1].split("@")[0] for line in text.splitlines() if line.strip()}
        hits = names & DEVICE_CALLS
        seen += bool(hits)
        if hits and not DEVICE_OBJECTS.search(str(obj)):
            problems.append(f"{obj.relative_to(build)}: imports {', '.join(sorted(hits))}")
    if not objects or not seen:
        problems.append(f"{build}: no object imports ioctl; the check would prove nothing")
    return problems


def main():
    source, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    problems = check_includes(source) + check_imports(build)
    for problem in problems:
        print(problem)
    print(f"layering: {len(problems)} violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
