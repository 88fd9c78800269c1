#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds each one-line fault of this folder in a copy of the tree and names the
test that notices it.

usage: run.py [--build DIR] [--jobs N] [patch...]

A patch starts with header lines:
    Area: compute | dma | driver | sequencer | lowering
    Fault: what is wrong now, in one sentence
    Tests: executable[:gtest filter] ...
and changes or removes one line of code in a folder of its area. The executables
are built and run in this order until one fails. A patch that no longer applies,
does not compile, or that no test notices, fails the run, as do fewer than five
patches in an area or thirty in all (when none is named).

The copy and its build directory are kept: a second run builds only what changed.
"""
import argparse
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
AREAS = {
    "compute": ("plugins/emulator/compute/",),
    "dma": ("plugins/emulator/dma/", "plugins/emulator/engine/dma_records.cpp"),
    "driver": ("plugins/emulator/driver/",),
    "sequencer": ("plugins/emulator/engine/",),
    "lowering": ("core/tdrv/", "core/neff/"),
}
CPU_SECONDS = 600  # for a test without a fault
WALL_SECONDS = 1800  # for any test


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **options)


def without_texts(line):
    return re.sub(r'"(\\.|[^"\\])*"', '""', line[1:]).split("//")[0].strip()


class Fault:
    """A patch with its header."""

    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)
        header, removed, added, files = {}, [], [], []
        with open(path, encoding="utf-8") as f:
            for line in f:
                match = re.match(r"(Area|Fault|Tests): (.*)", line)
                if match and not files:
                    header[match.group(1)] = match.group(2).strip()
                elif line.startswith("+++ "):
                    files.append(line[4:].strip().removeprefix("b/"))
                elif files and line.startswith("+"):
                    added.append(line)
                elif files and line.startswith("-"):
                    removed.append(line)
        missing = {"Area", "Fault", "Tests"} - header.keys()
        if missing:
            sys.exit(f"{path}: header lines missing: {', '.join(sorted(missing))}")
        self.area, self.tests = header["Area"], header["Tests"].split()
        if self.area not in AREAS:
            sys.exit(f"{path}: area {self.area} is not one of {', '.join(AREAS)}")
        if len(files) != 1 or len(removed) != 1 or len(added) > 1:
            sys.exit(f"{path}: not a change of one line in one file")
        self.file = files[0]
        if not self.file.startswith(AREAS[self.area]):
            sys.exit(f"{path}: {self.file} does not belong to {self.area}")
        if without_texts(removed[0]) == "".join(without_texts(line) for line in added):
            sys.exit(f"{path}: changes a text or a comment only")


def copy_tree(to):
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                 cwd=ROOT)
    if listed.returncode:
        sys.exit(listed.stdout)
    files = {f for f in listed.stdout.split("\0") if f and os.path.isfile(os.path.join(ROOT, f))}
    for folder, folders, names in os.walk(to):  # what the tree has no longer
        if folder == to and "build" in folders:
            folders.remove("build")
        for name in names:
            path = os.path.join(folder, name)
            if os.path.relpath(path, to) not in files:
                os.remove(path)
    for name in sorted(files):
        source, target = os.path.join(ROOT, name), os.path.join(to, name)
        with open(source, "rb") as f:
            content = f.read()
        if os.path.exists(target):
            with open(target, "rb") as f:
                if f.read() == content:
                    continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target)  # a new time: what was built from it is built again
        shutil.copymode(source, target)


class Tree:
    """The copy and its build."""

    def __init__(self, folder, jobs):
        self.source = folder
        self.build = os.path.join(folder, "build", "release")
        self.jobs = jobs
        self.seconds = {}  # of each test without a fault
        self.environment = dict(os.environ, OPENNRT_DEVICE="emulator")
        for variable, name in (("OPENNRT_CORPUS", "corpus"), ("OPENNRT_SPEC", "spec"),
                               ("OPENNRT_VECTORS", "vectors")):
            self.environment.setdefault(variable, os.path.join(ROOT, "..", "shared", name))

    def prepare(self, tests):
        copy_tree(self.source)
        configured = run(["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja",
                          "-DCMAKE_BUILD_TYPE=Release", "-DOPENNRT_BENCH=OFF"])
        if configured.returncode:
            sys.exit(configured.stdout)
        built = self.make(sorted({t.partition(":")[0] for t in tests}))
        if built.returncode:
            sys.exit("the tree does not build without a fault:\n" + built.stdout[-3000:])
        # Without a fault everything passes; otherwise "noticed" would mean nothing.
        for test in tests:
            begin = time.monotonic()
            failure = self.failure(test, CPU_SECONDS)
            self.seconds[test] = time.monotonic() - begin
            if failure:
                sys.exit(f"without a fault: {test}: {failure}")

    def make(self, targets):
        return run(["ninja", "-C", self.build, f"-j{self.jobs}", *targets])

    def failure(self, test, seconds):
        """What fails in a test, None when it passes. Exits when nothing ran."""
        executable, _, pattern = test.partition(":")
        command = [os.path.join(self.build, "bin", "tests", executable)]
        if pattern:
            command.append("--gtest_filter=" + pattern)
        # CPU time: on a busy machine nothing must seem to hang. Who waits for ever
        # uses none and is given up much later.
        limit = (seconds, seconds)
        try:
            result = run(command, env=self.environment, timeout=WALL_SECONDS,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit))
        except subprocess.TimeoutExpired as expired:
            output = (expired.stdout or b"").decode(errors="replace")
            return f"{started(output)} does not end within {WALL_SECONDS} s"
        if result.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return f"{started(result.stdout)} does not end within {seconds} s of CPU time"
        if result.returncode:
            failed = re.search(r"\[  FAILED  \] ([^\s,]+)", result.stdout)
            return failed.group(1) if failed else started(result.stdout) + " ends the process"
        if not re.search(r"\[  PASSED  \] [1-9]|^[1-9]\d* sequences", result.stdout, re.M):
            sys.exit(f"{test}: nothing ran")
        if pattern and "[  SKIPPED ]" in result.stdout:
            sys.exit(f"{test}: skipped:\n{result.stdout[-500:]}")
        return None

    def try_fault(self, fault):
        """(noticed, text)"""
        target = os.path.join(self.source, fault.file)
        if not os.path.exists(target):
            return False, f"{fault.file} does not exist"
        with open(target, "rb") as f:
            original = f.read()
        try:
            applied = run(["patch", "-p1", "--batch", "--fuzz=0", "--no-backup-if-mismatch",
                           "-r", "-", "-i", fault.path], cwd=self.source)
            if applied.returncode:
                return False, f"does not apply: {applied.stdout.strip()}"
            for test in fault.tests:
                executable = test.partition(":")[0]
                built = self.make([executable])
                if built.returncode:
                    return False, "does not compile: " + built.stdout[-1000:]
                # A fault may make a program run for ever.
                failure = self.failure(test, 20 + 10 * math.ceil(self.seconds[test]))
                if failure:
                    return True, f"{executable}: {failure}"
            return False, "no test notices it"
        finally:
            with open(target, "wb") as f:
                f.write(original)


def started(output):
    tests = re.findall(r"\[ RUN      \] (\S+)", output)
    return tests[-1] if tests else "the process"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "mutants"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("patches", nargs="*")
    options = parser.parse_args()
    paths = [os.path.abspath(p) for p in options.patches] or sorted(
        os.path.join(HERE, p) for p in os.listdir(HERE) if p.endswith(".patch"))
    faults = [Fault(p) for p in paths]
    begin = time.monotonic()
    tree = Tree(os.path.abspath(options.build), options.jobs)
    tree.prepare(sorted({t for f in faults for t in f.tests}))
    print(f"without a fault all tests pass, {time.monotonic() - begin:.0f} s", flush=True)
    survived = 0
    for fault in faults:
        since = time.monotonic()
        noticed, text = tree.try_fault(fault)
        survived += not noticed
        print(f"{'noticed ' if noticed else 'SURVIVES'} {fault.name}: {text} "
              f"({time.monotonic() - since:.0f} s)", flush=True)
    counts = {a: sum(f.area == a for f in faults) for a in AREAS}
    too_few = not options.patches and (len(faults) < 30 or min(counts.values()) < 5)
    if too_few:
        print("too few: thirty patches, five in each area")
    print(f"{len(faults) - survived} of {len(faults)} faults noticed: "
          + ", ".join(f"{a} {n}" for a, n in counts.items())
          + f"; {time.monotonic() - begin:.0f} s")
    return 1 if survived or too_few else 0


if __name__ == "__main__":
    sys.exit(main())
