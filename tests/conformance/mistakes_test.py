#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mistakes of plugin authors: builds the template of a backend once with each of them,
from installed files alone, and demands that the conformance kit fails and names the
rule that was broken.

usage: mistakes_test.py CMAKE SOURCE BUILD [NAME...]

A patch in mistakes/ starts with header lines:
    Mistake: what is wrong now, in one sentence
    Rule: id of the rule that must be among those the kit names
and changes one place of sdk/template. Without names all patches are tried, at least 25
are demanded, and the good template has to pass the whole kit first; else the quick list.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
LEAST = 25
BAD = {"failed", "crashed", "hung", "exited"}
WALL_SECONDS = 900  # for one build and its checks


def run(command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          timeout=WALL_SECONDS, **options)


class Mistake:
    """A patch with its header."""

    def __init__(self, path):
        self.path, self.name = path, path.stem
        text = path.read_text(encoding="utf-8")
        header = dict(re.findall(r"^(Mistake|Rule): (.+)$", text.split("\n--- ")[0], re.M))
        if header.keys() != {"Mistake", "Rule"}:
            sys.exit(f"{path}: the header needs a line Mistake: and a line Rule:")
        self.what, self.rule = header["Mistake"], header["Rule"].strip()
        if len(re.findall(r"^\+\+\+ ", text, re.M)) != 1:
            sys.exit(f"{path}: not a change of one file")


class Kit:
    """The template and the kit of an installation."""

    def __init__(self, cmake, source, build, scratch):
        self.cmake, self.scratch = cmake, scratch
        self.prefix = scratch / "prefix"
        # Nothing but the installation itself tells where things are.
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(("OPENNRT_", "NEURON_", "LD_", "CMAKE_"))}
        self.environment.update(OPENNRT_EMULATOR_HBM_BYTES="256M")
        installed = run([cmake, "--install", build, "--prefix", self.prefix])
        if installed.returncode:
            sys.exit(installed.stdout[-3000:])

    def build(self, tree):
        """The plugin of a tree; None and the output when it does not compile."""
        out = tree / "build"
        for command in ([self.cmake, "-S", tree, "-B", out, "-DBUILD_TESTING=OFF",
                         f"-DCMAKE_PREFIX_PATH={self.prefix}"],
                        [self.cmake, "--build", out, "--target", "aurora"]):
            done = run(command, env=self.environment)
            if done.returncode:
                return None, done.stdout
        return out / "plugins" / "opennrt-aurora.so", ""

    def copy(self, name):
        tree = self.scratch / name
        shutil.copytree(self.prefix / "share" / "opennrt" / "template", tree)
        return tree

    def judge(self, plugin, *options):
        """(exit status, rules that failed, output)"""
        report = plugin.parent / "report.json"
        done = run([self.prefix / "bin" / "opennrt", "conform", *options, "--time-limit", "20",
                    "--json", report, plugin],
                   env=self.environment, cwd=plugin.parent)
        rules = failed_rules(json.loads(report.read_text())) if report.exists() else set()
        return done.returncode, rules, done.stdout

    def check_good(self, which):
        plugin, output = self.build(self.copy("good"))
        if plugin is None:
            sys.exit(f"the template does not build:\n{output[-3000:]}")
        status, rules, output = self.judge(plugin, which)
        if status != 0 or rules:
            sys.exit(f"the template does not pass: status {status}, {sorted(rules)}\n{output}")

    def try_mistake(self, mistake):
        """(named, text)"""
        tree = self.copy(mistake.name)
        applied = run(["patch", "-p1", "--batch", "--fuzz=0", "--no-backup-if-mismatch", "-r", "-",
                       "-i", mistake.path], cwd=tree)
        if applied.returncode:
            return False, f"does not apply: {applied.stdout.strip()}"
        plugin, output = self.build(tree)
        if plugin is None:
            return False, f"does not compile: {output[-1000:]}"
        status, rules, output = self.judge(plugin)
        shutil.rmtree(tree)
        others = ", ".join(sorted(rules - {mistake.rule}))
        if status != 1:
            return False, f"the kit ends with status {status}\n{output[-1000:]}"
        if mistake.rule not in rules:
            return False, f"{mistake.rule} is not named, but {others or 'nothing'}"
        return True, mistake.rule + (f" (also {others})" if others else "")


def failed_rules(report):
    return {case["rule"] for case in report["cases"] if case["status"] in BAD}


def main(cmake, source, build, *names):
    begin = time.monotonic()
    paths = [HERE / "mistakes" / f"{name}.patch" for name in names] or sorted(
        (HERE / "mistakes").glob("*.patch"))
    mistakes = [Mistake(path) for path in paths]
    if not names and len(mistakes) < LEAST:
        sys.exit(f"{len(mistakes)} mistakes, need {LEAST}")
    named = 0
    with tempfile.TemporaryDirectory() as directory:
        kit = Kit(cmake, Path(source).resolve(), Path(build).resolve(), Path(directory).resolve())
        kit.check_good("--quick" if names else "--full")
        print(f"the template passes, {time.monotonic() - begin:.0f} s", flush=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for mistake, (found, text) in zip(mistakes, pool.map(kit.try_mistake, mistakes)):
                named += found
                print(f"{'named ' if found else 'MISSED'} {mistake.name}: {text}", flush=True)
    print(f"{named} of {len(mistakes)} mistakes named; {time.monotonic() - begin:.0f} s")
    return 0 if named == len(mistakes) else 1


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
