# SPDX-License-Identifier: Apache-2.0
"""Interface rules: checks rules.yaml and writes what is made from it.

Usage: generate.py RULES.yaml table OUT.cpp     the table of rules.h
       generate.py RULES.yaml readme README.md  the table between the marks of README.md
       generate.py RULES.yaml check README.md   fails when that table is out of step
"""
import json
import re
import sys
from pathlib import Path

import yaml

KINDS = ("any", "arch", "ndl", "port")
ENFORCERS = ("loader", "core", "nobody")
LISTS = ("quick", "full")
KEYS = {"id", "kind", "must", "consequence", "enforced_by", "list", "tests", "needs"}
BEGIN, END = "<!-- rules -->\n", "<!-- end of rules -->\n"


def read(path):
    rules = yaml.safe_load(Path(path).read_text())["rules"]
    ids, owners, problems = set(), {}, []
    for rule in rules:
        name = rule.get("id", "?")

        def wrong(text, name=name):
            problems.append(f"{path}: rule {name}: {text}")
        for key in sorted(KEYS - {"needs"} - rule.keys()):
            wrong(f"{key} is missing")
        for key in sorted(rule.keys() - KEYS):
            wrong(f"unknown key {key}")
        for key, values in (("kind", KINDS), ("enforced_by", ENFORCERS), ("list", LISTS)):
            if rule.get(key) not in values:
                wrong(f"{key} is {rule.get(key)!r}, use {', '.join(values)}")
        if not re.fullmatch(r"[a-z0-9]+(\.[a-z0-9_]+)+", name) or \
                not name.startswith(f"{rule.get('kind')}."):
            wrong("an id is KIND.WORD or KIND.WORD.WORD")
        if name in ids:
            wrong("named twice")
        ids.add(name)
        if not rule.get("tests"):
            wrong("no test tries it")
        for case in rule.get("tests") or []:
            if case in owners:
                wrong(f"{case} belongs to {owners[case]}")
            owners[case] = name
    if problems:
        sys.exit("\n".join(problems))
    return rules


def table(rules):
    lines = ["// Generated from rules.yaml.", '#include "rules.h"', "",
             "namespace opennrt::conform {", "namespace {", ""]
    for n, rule in enumerate(rules):
        cases = ", ".join(json.dumps(case) for case in rule["tests"])
        lines.append(f"constexpr const char* kCases{n}[] = {{{cases}}};")
    lines += ["", "constexpr Rule kRules[] = {"]
    for n, rule in enumerate(rules):
        texts = [rule["id"], rule["kind"], rule.get("needs", ""), rule["must"],
                 rule["consequence"], rule["enforced_by"]]
        quick = "true" if rule["list"] == "quick" else "false"
        lines.append("    {" + ", ".join(map(json.dumps, texts)) + f", {quick}, kCases{n}}},")
    lines += ["};", "", "}  // namespace", "",
              "std::span<const Rule> rules() { return kRules; }", "",
              "const Rule* rule_of(std::string_view name) {",
              "  for (const Rule& rule : kRules)",
              "    for (const char* item : rule.cases)",
              "      if (name == item) return &rule;",
              "  return nullptr;", "}", "", "}  // namespace opennrt::conform", ""]
    return "\n".join(lines)


def markdown(rules):
    rows = ["| Rule | Must | Otherwise | Enforced by | List | Tests |", "|---|---|---|---|---|---|"]
    for rule in rules:
        needs = f" ({rule['needs']})" if "needs" in rule else ""
        cells = [f"`{rule['id']}`{needs}", rule["must"], rule["consequence"], rule["enforced_by"],
                 rule["list"], ", ".join(f"`{case}`" for case in rule["tests"])]
        assert not any("|" in cell for cell in cells), cells
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def with_table(readme, rules):
    head, rest = readme.split(BEGIN)
    return head + BEGIN + markdown(rules) + END + rest.split(END)[1]


def main(source, action, target):
    rules, target = read(source), Path(target)
    if action == "table":
        target.write_text(table(rules))
    elif action == "readme":
        target.write_text(with_table(target.read_text(), rules))
    elif action == "check":
        if with_table(target.read_text(), rules) != target.read_text():
            sys.exit(f"{target} is out of step with {source}; run: generate.py {source} readme {target}")
        print(f"{target}: {len(rules)} rules")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
