#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the test suite of a build directory, label by label.

Prints passed, failed and skipped cases with the reasons of the skips, and
fails when a case failed or when a label ran no test. The one exception: without
--labels and without OPENNRT_CORPUS, all of label corpus may be skipped.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

LABELS = ["unit", "integration", "abi", "clients", "corpus", "fuzz-regress", "threads", "bench-smoke"]
EXCLUDED = "slow"


def tests_of(build, label):
    text = subprocess.run(["ctest", "--show-only=json-v1", "-L", f"^{label}$", "-LE", EXCLUDED],
                          cwd=build, check=True, capture_output=True, text=True).stdout
    return [t["name"] for t in json.loads(text)["tests"]]


def run(build, names, jobs):
    """Runs the named ctest tests. Returns ({name: state}, {name: output})."""
    report = build / "test-results"
    shutil.rmtree(report, ignore_errors=True)
    report.mkdir()
    env = dict(os.environ, GTEST_OUTPUT=f"xml:{report}/")
    pattern = "^(" + "|".join(names) + ")$"
    junit = report / "ctest.junit"
    subprocess.run(["ctest", "-R", pattern, "-j", str(jobs), "--output-on-failure",
                    "--output-junit", str(junit)], cwd=build, env=env)
    states = {}
    for case in ET.parse(junit).getroot().iter("testcase"):
        states[case.get("name")] = case.get("status")
    cases = []  # (suite.case, outcome, reason)
    with_cases = set()
    for file in report.glob("*.xml"):
        root = ET.parse(file).getroot()
        with_cases.add(file.stem)
        for case in root.iter("testcase"):
            name = f"{case.get('classname')}.{case.get('name')}"
            if case.find("failure") is not None:
                cases.append((file.stem, name, "failed", ""))
            elif case.find("skipped") is not None:
                cases.append((file.stem, name, "skipped", case.find("skipped").get("message", "")))
            elif case.get("status") == "notrun":
                cases.append((file.stem, name, "skipped", "disabled"))
            else:
                cases.append((file.stem, name, "passed", ""))
    for name, state in states.items():  # tests that are not googletest, and crashes
        if state == "run" and name not in with_cases:
            cases.append((name, name, "passed", ""))
        elif state == "fail" and not any(c[0] == name and c[2] == "failed" for c in cases):
            cases.append((name, name, "failed", ""))
        elif state not in ("run", "fail"):
            cases.append((name, name, "skipped", state))
    return cases


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--labels", nargs="+", help="default: all")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    build = args.build.resolve()

    by_label = {label: tests_of(build, label) for label in args.labels or LABELS}
    names = sorted({name for group in by_label.values() for name in group})
    empty = [label for label, group in by_label.items() if not group]
    cases = run(build, names, args.jobs) if names else []

    without_models = False
    print()
    for label, group in by_label.items():
        mine = [c for c in cases if c[0] in group]
        count = {s: sum(c[2] == s for c in mine) for s in ("passed", "failed", "skipped")}
        if not count["passed"] + count["failed"]:
            if label == "corpus" and mine and not args.labels and not os.environ.get("OPENNRT_CORPUS"):
                without_models = True
            else:
                empty.append(label)
        print(f"{label:>14}: {count['passed']} passed, {count['failed']} failed, "
              f"{count['skipped']} skipped")
    for _, name, outcome, reason in cases:
        if outcome != "passed":
            print(f"  {outcome}: {name}" + (f" ({' '.join(reason.split())})" if reason else ""))
    for label in sorted(set(empty)):
        print(f"  label '{label}' ran no test")
    if without_models:
        print("  real models: not tested, none found here (see OPENNRT_CORPUS in tests/README.md)")
    total = {s: sum(c[2] == s for c in cases) for s in ("passed", "failed", "skipped")}
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] or empty else 0


if __name__ == "__main__":
    sys.exit(main())
