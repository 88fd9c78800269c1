# SPDX-License-Identifier: Apache-2.0
"""Compares the golden table with the reference of the ABI (nrt-abi.yaml in the
directory OPENNRT_SPEC). Exit code 77 = skipped."""
import os
import re
import sys

import yaml


def members(fields, prefix=""):
    """Members that have an address, inner ones as a.b or a[0].b."""
    for field in fields:
        if "anonymous" in field:
            yield from members(field["fields"], prefix)
        elif "bits" not in field:
            name = prefix + field["name"]
            yield {"name": name, "offset": field["offset"], "size": field.get("size")}
            if "fields" in field:
                inner = name + ("[0]." if "[" in field["type"] else ".")
                yield from members(field["fields"], inner)


def prototype(function):
    return {"header": function["header"], "returns": function["returns"],
            "params": [p["type"] for p in function["params"]]}


def golden_form(reference):
    """The whole reference in the form of the golden table."""
    parts = [reference, reference["nec"], reference["driver_headers"]]
    functions = [{"name": f["name"], "node": f["node"] if f["exported"] else None, **prototype(f)}
                 for f in reference["functions"]]
    later = [{"name": f["name"], "node": re.sub(r" .*", "", f["node"]), **prototype(f)}
             for f in reference["extensions"][0]["functions"]]
    driver = [{"name": f["name"], **prototype(f)}
              for f in reference["driver_headers"]["functions_not_exported"]]
    types = {t["name"]: t["type"] for t in reference["scalar_typedefs"]}
    types.update((t["name"], t["c_name"]) for t in reference["opaque_types"])
    for callback in reference["callbacks"]:
        params = ", ".join(p["type"] for p in callback["params"])
        types[callback["name"]] = f"{callback['returns']} (*)({params})"
    structs = [{"name": s["name"], "tag": s["c_name"], "size": s["size"], "align": s["align"],
                "fields": list(members(s["fields"]))} for part in parts for s in part["structs"]]
    # Untagged enums share one name, so they are called by their first member.
    enums = {}
    for part in parts:
        for enum in part["enums"]:
            name = enum["name"]
            if name.startswith("("):
                name = "with " + enum["values"][0]["name"]
            enums[name] = {v["name"]: v["value"] for v in enum["values"]}
    macros = {m["name"]: m["value"] for part in parts for m in part["macros"] if "value" in m}
    return {"functions": functions, "later_functions": later, "driver_functions": driver,
            "types": types, "structs": structs, "enums": enums, "macros": macros}


def differences(golden, reference):
    for section, theirs in golden_form(reference).items():
        mine = golden[section]
        if isinstance(theirs, list):
            mine, theirs = ({row["name"]: row for row in rows} for rows in (mine, theirs))
        for name in sorted(mine.keys() | theirs.keys()):
            if mine.get(name) != theirs.get(name):
                yield f"{section}: {name}: {mine.get(name)}, reference {theirs.get(name)}"


def main(golden_path, default_spec):
    path = os.path.join(os.environ.get("OPENNRT_SPEC", default_spec), "nrt-abi.yaml")
    if not os.path.exists(path):
        print(f"skipped: {path} is absent; set OPENNRT_SPEC")
        return 77
    with open(golden_path, encoding="utf-8") as a, open(path, encoding="utf-8") as b:
        found = list(differences(yaml.safe_load(a), yaml.safe_load(b)))
    print("\n".join(found) or "the tables agree")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
