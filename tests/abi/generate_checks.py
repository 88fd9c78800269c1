# SPDX-License-Identifier: Apache-2.0
"""Writes C source whose compilation proves the public headers against the
golden table: sizes, offsets, enum values, macros, prototypes."""
import sys

import yaml


def main(table_path, out_path):
    with open(table_path, encoding="utf-8") as file:
        table = yaml.safe_load(file)
    headers = sorted({f["header"] for f in table["functions"]})
    lines = ["/* Generated from golden/nrt_abi.yaml. */", "#include <stddef.h>"]
    lines += [f'#include "{h}"' for h in headers]

    def check(condition, text):
        lines.append(f'_Static_assert({condition}, "{text}");')

    for struct in table["structs"]:
        name = struct["name"]
        check(f"sizeof({name}) == {struct['size']}", f"size of {name}")
        check(f"_Alignof({name}) == {struct['align']}", f"alignment of {name}")
        for field in struct["fields"]:
            member = f"{name}.{field['name']}"
            check(f"offsetof({name}, {field['name']}) == {field['offset']}", f"offset of {member}")
            if field["size"]:  # none for a flexible array
                check(f"sizeof((({name} *)0)->{field['name']}) == {field['size']}", f"size of {member}")
    for enum, values in table["enums"].items():
        for name, value in values.items():
            check(f"(int){name} == {value}", f"{enum}: {name}")
    for name, value in table["macros"].items():
        check(f"{name} == {value}", name)
    for function in table["functions"]:
        params = ", ".join(function["params"]) or "void"
        pointer = f"{function['returns']} (*)({params})"
        check(f"__builtin_types_compatible_p(__typeof__(&{function['name']}), {pointer})",
              f"prototype of {function['name']}")
    with open(out_path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


main(*sys.argv[1:])
