# SPDX-License-Identifier: Apache-2.0
"""Turns the table of settings (config/schema/nrt.schema.yaml) into the keys and rows of core/config.

usage: generate.py nrt.schema.yaml setting_keys.h settings_table.inc
"""
import os
import sys

import yaml

TYPES = {"bool": "kBool", "uint": "kUint", "ulong": "kUint", "size": "kSize", "enum": "kEnum", "log-level": "kLevel",
         "log-location": "kLocation", "string": "kString", "path": "kString", "list": "kList", "cores": "kCores",
         "ranges": "kRanges", "numbers": "kNumbers", "any": "kOpaque"}
FORMS = {"instance-type": "kInstanceType", "endpoint": "kEndpoint", "algorithms": "kAlgorithms",
         "histogram": "kHistogram", "output-directory": "kOutputDirectory", "verify-modes": "kVerifyModes"}
BAD = {"fail": "kFail", "default": "kDefault", "clamp": "kClamp", "any": "kNever"}
MUST_BE = {"file": "kFile", "directory": "kDirectory"}
ARCHES = (2, 3, 4)
ATTRIBUTES = {"key", "type", "form", "default", "arch_default", "min", "max", "multiple_of", "power_of_two", "count",
              "max_count", "choices", "indexed", "must_be", "max_bytes", "bad", "environment", "per_load", "appends",
              "empty_is_off", "effect", "doc"}
# Types of 32 bits end there; numbers of a list are what their row says.
UINT_MAX = 2**32 - 1


HEAD = "// SPDX-License-Identifier: Apache-2.0\n// Generated from config/schema/nrt.schema.yaml.\n"


def refuse(row, what):
    sys.exit(f"{row.get('key', row)}: {what}")


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def constant(key):
    words = key.replace(".", "_").split("_")
    return "k" + "".join(word[:1].upper() + word[1:] for word in words)


def check(row):
    unknown = set(row) - ATTRIBUTES
    if unknown:
        refuse(row, f"unknown attributes {sorted(unknown)}")
    for name, allowed in (("type", TYPES), ("form", FORMS), ("bad", BAD), ("must_be", MUST_BE)):
        if name in row and row[name] not in allowed:
            refuse(row, f"{name} {row[name]} is none of {sorted(allowed)}")
    if row.get("effect", "none") != "none":
        refuse(row, "effect is none or absent")
    for name in ("default", "type", "doc"):
        if not isinstance(row.get(name, ""), str):
            refuse(row, f"{name} must be a text")
    if row.get("bad") == "any" and row["type"] not in ("string", "path"):
        refuse(row, "bad: any is for texts")
    if len(row.get("environment", [])) > 2:
        refuse(row, "more than two variables")


def fields(row):
    yield "id", "Key::" + constant(row["key"])
    yield "key", quoted(row["key"])
    yield "type", "Type::" + TYPES[row["type"]]
    if "form" in row:
        yield "form", "Form::" + FORMS[row["form"]]
    if "default" in row:
        yield "fallback", quoted(row["default"])
    if "arch_default" in row:
        yield "arch_fallback", "{" + ", ".join(quoted(row["arch_default"].get(a, "")) for a in ARCHES) + "}"
    if "min" in row:
        yield "min", f"{row['min']}u"
    maximum = row.get("max", UINT_MAX if row["type"] in ("uint", "numbers") else None)
    if maximum is not None:
        yield "max", f"{maximum}u"
    for name in ("multiple_of", "count", "max_count", "max_bytes"):
        if name in row:
            yield name, f"{row[name]}u"
    for name in ("power_of_two", "indexed", "per_load", "appends", "empty_is_off"):
        if row.get(name):
            yield name, "true"
    if "choices" in row:
        yield "choices", quoted("|".join(row["choices"]))
    if "must_be" in row:
        yield "must_be", "MustBe::" + MUST_BE[row["must_be"]]
    if "bad" in row:
        yield "bad", "OnBad::" + BAD[row["bad"]]
    if "environment" in row:
        yield "variables", "{" + ", ".join(quoted(v) for v in row["environment"]) + "}"
    if "effect" in row:
        yield "acts", "false"


# In the order of the members of Setting, which designated initialisers need.
ORDER = ("id", "key", "type", "form", "fallback", "arch_fallback", "min", "max", "multiple_of", "power_of_two", "count",
         "max_count", "choices", "indexed", "must_be", "max_bytes", "bad", "variables", "per_load", "appends",
         "empty_is_off", "acts")


def write(path, lines):
    """A file whose text does not change keeps its time: nothing that includes it is compiled again."""
    text = HEAD + "".join(lines)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def keys(schema):
    yield "#pragma once\n\n#include <cstdint>\n\nnamespace opennrt::config {\n\n"
    yield "enum class Key : std::uint8_t {\n"
    for row in schema["keys"]:
        yield f"  {constant(row['key'])},  // {row['key']}\n"
    yield "  kCount\n};\n\n}  // namespace opennrt::config\n"


def rows(schema):
    yield "constexpr std::array<Setting, kSettings> kTable = {{\n"
    for row in schema["keys"]:
        members = sorted(fields(row), key=lambda item: ORDER.index(item[0]))
        yield "    {" + ",\n     ".join(f".{name} = {value}" for name, value in members) + "},\n"
    yield "}};\n\nconstexpr std::string_view kRemovedVariables[] = {\n"
    for name in schema["removed"]:
        yield f"    {quoted(name)},\n"
    yield "};\n"


def main():
    schema_file, keys_file, rows_file = sys.argv[1:]
    with open(schema_file, encoding="utf-8") as f:
        schema = yaml.safe_load(f)
    seen = set()
    for row in schema["keys"]:
        check(row)
        for name in [row["key"], *row.get("environment", [])]:
            if name in seen:
                refuse(row, f"{name} stands twice in the table")
            seen.add(name)
    write(keys_file, keys(schema))
    write(rows_file, rows(schema))


main()
