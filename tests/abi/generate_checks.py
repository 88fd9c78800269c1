# SPDX-License-Identifier: Apache-2.0
"""Writes C and C++ source whose compilation proves the public headers against
the golden table: sizes, offsets, enum values, macros, types, prototypes."""
import sys

import yaml


def checks(table, cpp):
    sizeof_member = "sizeof((({0} *)0)->{1})"
    for struct in table["structs"]:
        name = struct["name"]
        yield f"sizeof({name}) == {struct['size']}", f"size of {name}"
        yield f"alignof({name}) == {struct['align']}", f"alignment of {name}"
        yield f"SAME({name}, {struct['tag']})", f"tag of {name}"
        for field in struct["fields"]:
            member = f"{name}.{field['name']}"
            yield f"offsetof({name}, {field['name']}) == {field['offset']}", f"offset of {member}"
            if field["size"]:  # none for a flexible array
                size = sizeof_member.format(name, field["name"])
                yield f"{size} == {field['size']}", f"size of {member}"
    for enum, values in table["enums"].items():
        for name, value in values.items():
            yield f"(long long){name} == {value}", f"{enum}: {name}"
        if not enum.startswith("with "):
            yield f"sizeof({enum}) == 4", f"size of {enum}"
    for name, value in table["macros"].items():
        same = f'__builtin_strcmp({name}, "{value}") == 0' if isinstance(value, str) \
            else f"{name} == {value}"
        yield same, name
    for name, type_ in table["types"].items():
        yield f"SAME({name}, {type_})" if type_ != "void" or cpp else "1", f"type {name}"
    for section in ("functions", "later_functions", "driver_functions"):
        for function in table[section]:
            params = ", ".join(function["params"]) or "void"
            pointer = f"{function['returns']} (*)({params})"
            yield (f"SAME(__typeof__(&{function['name']}), {pointer})",
                   f"prototype of {function['name']}")


C_PROLOGUE = """#include <stdalign.h>
#define SAME(...) __builtin_types_compatible_p(__VA_ARGS__)
#define CHECK _Static_assert
"""
CPP_PROLOGUE = """#include <type_traits>
#define SAME(...) std::is_same<__VA_ARGS__>::value
#define CHECK static_assert
"""


def main(table_path, c_path, cpp_path):
    with open(table_path, encoding="utf-8") as file:
        table = yaml.safe_load(file)
    headers = sorted({f["header"] for s in ("functions", "driver_functions") for f in table[s]})
    for path, prologue, cpp in ((c_path, C_PROLOGUE, False), (cpp_path, CPP_PROLOGUE, True)):
        lines = ["// Generated from golden/nrt_abi.yaml.", "#include <stddef.h>"]
        lines += [f'#include "{h}"' for h in headers]
        lines.append(prologue)
        lines += [f'CHECK({condition}, "{text}");' for condition, text in checks(table, cpp)]
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


main(*sys.argv[1:])
