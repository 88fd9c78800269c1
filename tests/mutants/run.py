#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds each one-line fault of this folder in a copy of the tree and names the
test that notices it.

usage: run.py [--build DIR] [--jobs N] [patch...]

A patch starts with header lines:
    Area: compute | dma | sequencer | lowering
    Fault: what is wrong now, in one sentence
    Tests: executable[:gtest filter] ...
The executables are built and run in this order until one fails. A patch that no
longer applies, does not compile, or that no test notices, fails the run, as do
fewer than five patches in an area or thirty in all (when none is named).
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
AREAS = ("compute", "dma", "sequencer", "lowering")
TEST_SECONDS = 600  # a fault may make a program wait for ever


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **options)


def read_header(path):
    header, changed, target = {}, 0, None
    with open(path, encoding="utf-8") as f:
        for line in f:
            match = re.match(r"(Area|Fault|Tests): (.*)", line)
            if match and target is None:
                header[match.group(1)] = match.group(2).strip()
            elif line.startswith("+++ "):
                target = line[4:].strip().removeprefix("b/")
            elif line.startswith("+") and target:
                changed += 1
    missing = {"Area", "Fault", "Tests"} - header.keys()
    if missing or header["Area"] not in AREAS or changed != 1:
        sys.exit(f"{path}: header lines missing ({sorted(missing)}), unknown area, or not a "
                 f"one-line change ({changed} lines)")
    return header


def copy_tree(to):
    files = run(["git", "ls-files", "-z"], cwd=ROOT).stdout.split("\0")
    for name in filter(None, files):
        source, target = os.path.join(ROOT, name), os.path.join(to, name)
        if not os.path.exists(source):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target) or open(source, "rb").read() != open(target, "rb").read():
            shutil.copy(source, target)


def first_failure(text):
    match = re.search(r"\[  FAILED  \] ([^\s,]+)", text)
    return match.group(1) if match else "the process ended early"


def try_patch(path, header, source, build, jobs, environment):
    """(noticed, text)"""
    name = os.path.basename(path)
    applied = run(["patch", "-p1", "--batch", "--fuzz=0", "-i", path], cwd=source)
    if applied.returncode:
        return False, f"does not apply: {applied.stdout.strip()}"
    try:
        for test in header["Tests"].split():
            executable, _, pattern = test.partition(":")
            built = run(["ninja", "-C", build, f"-j{jobs}", executable,
                         "opennrt_runtime", "opennrt_plugins", "opennrt_examples"])
            if built.returncode:
                return False, "does not compile: " + built.stdout[-600:]
            command = [os.path.join(build, "bin", "tests", executable)]
            if pattern:
                command.append("--gtest_filter=" + pattern)
            try:
                result = run(command, env=environment, timeout=TEST_SECONDS)
            except subprocess.TimeoutExpired:
                return True, f"{executable}: no end within {TEST_SECONDS} s"
            if result.returncode:
                return True, f"{executable}: {first_failure(result.stdout)}"
            if "[  PASSED  ] 0 tests" in result.stdout or "[  SKIPPED ]" in result.stdout:
                return False, f"{executable} {pattern}: ran nothing"
        return False, "no test notices it"
    finally:
        run(["patch", "-p1", "-R", "--batch", "-i", path], cwd=source)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "mutants"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("patches", nargs="*")
    options = parser.parse_args()
    paths = [os.path.abspath(p) for p in options.patches] or sorted(
        os.path.join(HERE, p) for p in os.listdir(HERE) if p.endswith(".patch"))
    headers = {p: read_header(p) for p in paths}
    source, build = os.path.join(options.build, "source"), os.path.join(options.build, "build")
    copy_tree(source)
    environment = dict(os.environ, OPENNRT_DEVICE="emulator")
    for variable, folder in (("OPENNRT_CORPUS", "corpus"), ("OPENNRT_SPEC", "spec"),
                             ("OPENNRT_VECTORS", "vectors")):
        environment.setdefault(variable, os.path.join(ROOT, "..", "shared", folder))
    configured = run(["cmake", "-S", source, "-B", build, "-G", "Ninja",
                      "-DCMAKE_BUILD_TYPE=Release", "-DOPENNRT_BENCH=OFF"])
    if configured.returncode:
        sys.exit(configured.stdout)
    # Without a fault everything passes; otherwise "noticed" would mean nothing.
    tests = sorted({t for h in headers.values() for t in h["Tests"].split()})
    names = sorted({t.partition(":")[0] for t in tests})
    built = run(["ninja", "-C", build, f"-j{options.jobs}", *names, "opennrt_runtime",
                 "opennrt_plugins", "opennrt_examples"])
    if built.returncode:
        sys.exit("the tree does not build without a fault:\n" + built.stdout[-3000:])
    for test in tests:
        executable, _, pattern = test.partition(":")
        command = [os.path.join(build, "bin", "tests", executable)]
        result = run(command + ([f"--gtest_filter={pattern}"] if pattern else []), env=environment)
        if result.returncode:
            sys.exit(f"{test} fails without a fault: {first_failure(result.stdout)}")
    survived = 0
    for path in paths:
        noticed, text = try_patch(path, headers[path], source, build, options.jobs, environment)
        survived += not noticed
        print(f"{'noticed ' if noticed else 'SURVIVES'} {os.path.basename(path)}: {text}",
              flush=True)
    counts = {a: sum(h["Area"] == a for h in headers.values()) for a in AREAS}
    print(f"{len(paths) - survived} of {len(paths)} faults noticed; "
          + ", ".join(f"{a} {n}" for a, n in counts.items()))
    too_few = not options.patches and (len(paths) < 30 or min(counts.values()) < 5)
    if too_few:
        print("too few: thirty patches, five in each area")
    return 1 if survived or too_few else 0


if __name__ == "__main__":
    sys.exit(main())
