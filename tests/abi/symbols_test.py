# SPDX-License-Identifier: Apache-2.0
"""What libnrt.so.1 shows to others: exactly the names of its version script, each
at the node of the golden table, no C++ symbol, no data; SONAME, NODELETE,
immediate binding, .symtab with the functions of driver layer and data store. Prints which functions of the table
are missing."""
import os
import re
import subprocess
import sys

import yaml

PROBLEMS = []


def expect(condition, text):
    if not condition:
        PROBLEMS.append(text)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def main(library, golden_path, script_path):
    with open(golden_path, encoding="utf-8") as file:
        golden = yaml.safe_load(file)
    listed = {f["name"]: f"{f['name']}@@{f['node']}" for f in golden["functions"] if f["node"]}
    later = {f["name"]: f"{f['name']}@@{f['node']}" for f in golden["later_functions"]}
    wanted_hidden = {f["name"] for f in golden["functions"] if not f["node"]}
    with open(script_path, encoding="utf-8") as file:
        script = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    exported = set(re.findall(r"\b(n(?:rt|rta|ec)_\w+);", script))
    expect(exported <= listed.keys() | later.keys(),
           f"not in the table: {sorted(exported - listed.keys() - later.keys())}")
    wanted = {(listed | later)[name] for name in exported}
    functions, nodes = set(), set()
    for line in output("nm", "-D", "--defined-only", library).splitlines():
        _, kind, name = line.split()
        if kind == "A":
            nodes.add(name.split("@")[0])
        else:
            expect(kind == "T", f"{name} is exported as {kind}, not as a function")
            functions.add(name)
    expect(functions == wanted, f"missing {sorted(wanted - functions)}, "
                                f"unexpected {sorted(functions - wanted)}")
    expect(nodes == {"NRT_2.0.0", "NRT_3.0.0"}, f"version nodes are {sorted(nodes)}")
    for name in wanted_hidden:
        expect(not any(f.startswith(name + "@") for f in functions), f"{name} is exported")
    dynamic = output("readelf", "-dW", library)
    expect("Library soname: [libnrt.so.1]" in dynamic, "SONAME is not libnrt.so.1")
    expect(re.search(r"FLAGS_1.*NODELETE", dynamic), "NODELETE is missing")
    expect(re.search(r"FLAGS_1.*NOW", dynamic), "immediate binding is missing")
    expect("TEXTREL" not in dynamic, "text relocations")
    needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    for name in needed:
        expect(not re.match(r"lib(protobuf|PocoNet|PocoUtil|archive|fmt|spdlog)", name),
               f"{name} must not be linked")
    sections = output("readelf", "-SW", library)
    expect(" .symtab " in sections, ".symtab was stripped")
    # Programs find these there, although they are not exported.
    driver = {f["name"] for f in golden["driver_functions"] if f["name"].startswith(("ndl_", "nds_"))}
    kinds = {}
    for line in output("nm", library).splitlines():
        *_, kind, name = line.split()
        kinds.setdefault(name.split("@")[0], set()).add(kind)
    absent = sorted(name for name in driver if kinds.get(name) != {"t"})
    expect(not absent, f"no local function in .symtab: {absent}")
    expect("UNIQUE" not in output("readelf", "--dyn-syms", "-W", library), "unique symbols")
    link = os.path.join(os.path.dirname(library), "libnrt.so")
    expect(os.path.realpath(link) == os.path.realpath(library), "libnrt.so is no link to it")
    missing = sorted(listed.keys() - exported)
    print(f"{len(listed) - len(missing)} of {len(listed)} functions are exported, "
          f"{len(exported & later.keys())} of {len(later)} later ones")
    print(f"{len(missing)} missing: {' '.join(missing)}")
    print(f"{len(driver)} functions of driver layer and data store are in .symtab")
    print("\n".join(PROBLEMS) or "as declared")
    return 1 if PROBLEMS else 0


sys.exit(main(*sys.argv[1:]))
