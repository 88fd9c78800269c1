# SPDX-License-Identifier: Apache-2.0
"""Compares the golden table with the reference of the ABI (nrt-abi.yaml in the
directory OPENNRT_SPEC). Exit code 77 = skipped."""
import os
import sys

import yaml


def differences(golden, reference):
    functions = {f["name"]: f for f in reference["functions"]}
    for mine in golden["functions"]:
        theirs = functions.get(mine["name"])
        if theirs is None:
            yield f"{mine['name']}: unknown function"
            continue
        params = [p["type"] for p in theirs["params"]]
        node = theirs["node"] if theirs["exported"] else None
        if (mine["params"], mine["returns"], mine["node"]) != (params, theirs["returns"], node):
            yield f"{mine['name']}: prototype or node differs"
    structs = {s["name"]: s for s in reference["structs"]}
    for mine in golden["structs"]:
        theirs = structs.get(mine["name"])
        if theirs is None or (mine["size"], mine["align"]) != (theirs["size"], theirs["align"]):
            yield f"{mine['name']}: size or alignment differs"
            continue
        layout = [(f["name"], f["offset"]) for f in theirs["fields"]]
        if [(f["name"], f["offset"]) for f in mine["fields"]] != layout:
            yield f"{mine['name']}: fields differ"
    # Untagged enums share one name in the reference, so groups are found by a member.
    for name, mine in golden["enums"].items():
        group = next(({v["name"]: v["value"] for v in e["values"]} for e in reference["enums"]
                      if any(v["name"] == next(iter(mine)) for v in e["values"])), {})
        if group != mine:
            yield f"{name}: {sorted(set(group.items()) ^ set(mine.items()))} differ"
    macros = {m["name"]: m.get("value") for m in reference["macros"]}
    for name, value in golden["macros"].items():
        if macros.get(name) != value:
            yield f"{name}: {value}, reference {macros.get(name)}"


def main(golden_path, default_spec):
    path = os.path.join(os.environ.get("OPENNRT_SPEC", default_spec), "nrt-abi.yaml")
    if not os.path.exists(path):
        print(f"skipped: {path} is absent; set OPENNRT_SPEC")
        return 77
    with open(golden_path, encoding="utf-8") as a, open(path, encoding="utf-8") as b:
        found = list(differences(yaml.safe_load(a), yaml.safe_load(b)))
    print("\n".join(found) or "the tables agree")
    return 1 if found else 0


sys.exit(main(*sys.argv[1:]))
