#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the C++ instruction table from types.yaml, records.yaml, opcodes.yaml.

usage: generate.py <folder of the yaml files> <output.cpp>
"""
import os
import sys

import yaml

GENERATIONS = ["sunda", "cayman", "mariana"]
ENGINES = ["PE", "ACT", "POOL", "DVE", "SP"]
RECORD_BYTES = 64
HEADER_BYTES = 12
# Keys of the header in the text form; no field may be called so.
HEADER_KEYS = {"wait", "update", "value", "word_len", "debug_cmd", "debug_hint"}

# name: (element width, kind)
SCALARS = {
    "u8": (1, "kUnsigned"),
    "u16": (2, "kUnsigned"),
    "u32": (4, "kUnsigned"),
    "u64": (8, "kHex"),
    "i32": (4, "kSigned"),
    "f32": (4, "kFloat"),
    "imm": (4, "kImmediate"),
    "reg": (1, "kRegister"),
    "dtype": (1, "kEnum"),
    "dtype_pair": (1, "kTypePair"),
    "ADDR4": (4, "kHex"),
    "ADDR8": (8, "kHex"),
}


def tensor(dims):
    """Address, steps in elements and counts of `dims` dimensions, innermost first."""
    return [(".addr", 0, 4, 1, "kHex", None), (".step", 4, 2, dims, "kSigned", None),
            (".num", 4 + 2 * dims, 2, dims, "kUnsigned", None)]


# Composite types: (suffix, offset, element width, count, kind, enum). A memory
# pattern is a tensor or an indirect pattern of the same size; its address
# marker tells which, the words are the same.
COMPOSITES = {
    "TENSOR1D": tensor(1),
    "TENSOR2D": tensor(2),
    "TENSOR3D": tensor(3),
    "TENSOR4D": tensor(4),
    "MEM_PATTERN2D": tensor(2),
    "MEM_PATTERN3D": tensor(3),
    "MEM_PATTERN4D": tensor(4),
    "DATA4D": [(".base", 0, 4, 1, "kSigned", None), (".step", 4, 2, 4, "kSigned", None),
               (".num", 12, 2, 4, "kUnsigned", None)],
    "MXMEM1D": [(".data", 0, 4, 1, "kHex", None), (".scale", 4, 4, 1, "kHex", None),
                (".num", 8, 2, 1, "kUnsigned", None), (".step_sign", 10, 1, 1, "kUnsigned", None),
                (".scale_partition", 11, 1, 1, "kUnsigned", None)],
    "PSEUDO_ADDR8": [(".offset", 0, 4, 1, "kHex", None), (".var", 4, 3, 1, "kUnsigned", None),
                     (".mode", 7, 1, 1, "kEnum", "variable_address_mode")],
    "events_extended": [(".wait_mode", 0, 1, 1, "kEnum", "wait_mode"),
                        (".wait_index", 1, 1, 1, "kUnsigned", None),
                        (".update_mode", 2, 1, 1, "kEnum", "update_mode"),
                        (".update_index", 3, 1, 1, "kUnsigned", None),
                        (".wait_value", 4, 4, 1, "kUnsigned", None),
                        (".update_value", 8, 4, 1, "kUnsigned", None)],
}


def fail(message):
    sys.exit("generate.py: " + message)


def mask(names, order, what):
    if names in ("all", "any"):
        return (1 << len(order)) - 1
    for name in names:
        if name not in order:
            fail(f"{what}: unknown name {name}")
    return sum(1 << order.index(name) for name in names)


def expand(record, field, enums):
    name, offset, type_name = field
    if type_name in COMPOSITES:
        return [(name + suffix, offset + at, width, count, kind, enum)
                for suffix, at, width, count, kind, enum in COMPOSITES[type_name]]
    base, _, count = type_name.partition("*")
    count = int(count) if count else 1
    if base == "char":
        return [(name, offset, 1, count, "kText", None)]
    if base == "u8" and count > 1:
        return [(name, offset, 1, count, "kBytes", None)]
    if base in SCALARS:
        width, kind = SCALARS[base]
        if kind == "kUnsigned" and ("addr" in name or "mask" in name):
            kind = "kHex"
        enum = "dtype" if kind in ("kEnum", "kTypePair") else None
        return [(name, offset, width, count, kind, enum)]
    if base in enums:
        return [(name, offset, 1, count, "kEnum", base)]
    fail(f"record {record}, field {name}: unknown type {type_name}")


def check_places(record, fields):
    used = [None] * RECORD_BYTES
    for name, offset, width, count, _, _ in fields:
        if name in HEADER_KEYS:
            fail(f"record {record}: {name} is a key of the header")
        for byte in range(offset, offset + width * count):
            if byte < HEADER_BYTES or byte >= RECORD_BYTES:
                fail(f"record {record}: field {name} leaves the payload")
            if used[byte]:
                fail(f"record {record}: fields {used[byte]} and {name} share byte {byte}")
            used[byte] = name


def main():
    folder, output = sys.argv[1:3]
    tables = {}
    for name in ("types", "records", "opcodes"):
        with open(os.path.join(folder, name + ".yaml"), encoding="utf-8") as f:
            tables[name] = yaml.safe_load(f)
    types = tables["types"]
    enums = {name: list(values.items()) for name, values in types["enums"].items()}
    enums["dtype"] = [(t["code"], t["name"]) for t in types["data_types"]]
    enums["alu_op"] = [(t["code"], t["name"]) for t in types["alu_ops"]]
    enums["activation_function"] = [(t["code"], t["name"]) for t in types["activation_functions"]]

    out = ["// Generated by generate.py from the instruction tables; do not edit.",
           '#include "opennrt/isa/table.h"', "", "namespace opennrt::isa {", "namespace {", ""]
    for name, values in sorted(enums.items()):
        if len({v for _, v in values}) != len(values) or len({c for c, _ in values}) != len(values):
            fail(f"enumeration {name}: a name or code occurs twice")
        out.append(f"constexpr EnumValue kValues_{name}[] = {{")
        out += [f'    {{0x{code:X}, "{text}"}},' for code, text in values]
        out.append("};")
    out.append("")
    order = {name: i for i, name in enumerate(sorted(enums))}
    out.append("constexpr EnumTable kEnums[] = {")
    out += [f'    {{"{n}", kValues_{n}, {len(enums[n])}}},' for n in sorted(enums)]
    out += ["};", ""]

    layouts = {}  # (record, generation) -> index
    layout_rows = []
    for record, body in tables["records"]["records"].items():
        variants = {None: body} if "fields" in body else body
        for variant, layout in variants.items():
            fields = [f for field in layout["fields"] for f in expand(record, field, enums)]
            fields.sort(key=lambda f: f[1])
            check_places(record, fields)
            if len({f[0] for f in fields}) != len(fields):
                fail(f"record {record}: a field name occurs twice")
            ident = f"kFields_{record}" + (f"_{variant}" if variant else "")
            if fields:
                out.append(f"constexpr Field {ident}[] = {{")
                for name, offset, width, count, kind, enum in fields:
                    table = f"&kEnums[{order[enum]}]" if enum else "nullptr"
                    out.append(f'    {{"{name}", {offset}, {width}, {count}, FieldKind::{kind}, '
                               f"{table}}},")
                out.append("};")
            for generation in [variant] if variant else GENERATIONS:
                layouts[(record, generation)] = len(layout_rows)
            confidence = "k" + layout["confidence"].capitalize()
            layout_rows.append(
                f'    {{"{record}", {ident if fields else "nullptr"}, {len(fields)}, '
                f'{mask(layout["generations"], GENERATIONS, record)}, Confidence::{confidence}}},')
    out += ["", "constexpr RecordLayout kLayouts[] = {"] + layout_rows + ["};", ""]

    instructions = sorted(tables["opcodes"]["instructions"], key=lambda i: i["code"])
    names = [i["name"] for i in instructions]
    codes = [i["code"] for i in instructions]
    if len(set(names)) != len(names) or len(set(codes)) != len(codes):
        fail("opcodes.yaml: a name or code occurs twice")
    out.append("constexpr Instruction kInstructions[] = {")
    for i in instructions:
        pointers = []
        for generation in GENERATIONS:
            index = layouts.get((i["record"], generation))
            pointers.append("nullptr" if index is None else f"&kLayouts[{index}]")
        if all(p == "nullptr" for p in pointers):
            fail(f'{i["name"]}: unknown record {i["record"]}')
        out.append(
            f'    {{0x{i["code"]:02X}, Kind::k{i["kind"].capitalize()}, '
            f'{mask(i["engines"], ENGINES, i["name"])}, '
            f'{mask(i["generations"], GENERATIONS, i["name"])}, '
            f'{"true" if i["observed"] else "false"}, "{i["name"]}", {{{", ".join(pointers)}}}}},')
    out += ["};", ""]
    index_of = {i["code"]: n for n, i in enumerate(instructions)}
    rows = [str(index_of.get(code, -1)) for code in range(256)]
    out.append("constexpr std::int16_t kIndex[256] = {")
    out += ["    " + ", ".join(rows[i:i + 16]) + "," for i in range(0, 256, 16)]
    out += ["};", "", "}  // namespace", "",
            "std::span<const Instruction> instructions() { return kInstructions; }",
            "std::span<const EnumTable> enumerations() { return kEnums; }",
            "std::span<const RecordLayout> record_layouts() { return kLayouts; }", "",
            "const Instruction* find_instruction(std::uint8_t opcode) {",
            "  return kIndex[opcode] < 0 ? nullptr : &kInstructions[kIndex[opcode]];",
            "}", "", "}  // namespace opennrt::isa", ""]
    with open(output, "w", encoding="utf-8") as f:
        f.write("\n".join(out))


if __name__ == "__main__":
    main()
