# SPDX-License-Identifier: Apache-2.0
"""The table of settings (nrt.schema.yaml) as a JSON schema of the configuration file, for editors and other checkers.

usage: json_schema.py nrt.schema.yaml nrt.schema.json

It accepts what the runtime's parser accepts, as far as a schema can say it: of texts with a grammar of their own
(addresses, algorithms, dumps) it wants a text.
"""
import json
import re
import sys

import yaml

UINT_MAX = {"uint": 2**32 - 1, "numbers": 2**32 - 1}
NUMBER = "(0[xX][0-9a-fA-F]+|[0-9]+)"
BLANKS = "[ \\t]*"


def any_case(word):
    return "".join(f"[{c.upper()}{c.lower()}]" if c.isalpha() else re.escape(c) for c in word)


def text(pattern):
    return {"type": "string", "pattern": f"^{BLANKS}({pattern}){BLANKS}$"}


def integer(row):
    out = {"type": "integer"}
    # A number out of range is moved into it.
    if row.get("bad") != "clamp":
        out["minimum"] = row.get("min", 0)
        maximum = row.get("max", UINT_MAX.get(row["type"]))
        if maximum is not None:
            out["maximum"] = maximum
    else:
        out["minimum"] = 0
    if "multiple_of" in row:
        out["multipleOf"] = row["multiple_of"]
    if row.get("power_of_two"):
        out = {"enum": [2**k for k in range(64) if row.get("min", 0) <= 2**k <= row.get("max", 2**63)]}
    return out


def sequence(item, **limits):
    return {"type": "array", "items": item, **limits}


def boolean(row):
    words = "|".join(any_case(word) for word in ("true", "false", "yes", "no", "on", "off"))
    return [{"type": "boolean"}, {"enum": [0, 1]}, text(f"{words}|0|1")]


def uint(row):
    return [integer(row), text(NUMBER)]


def size(row):
    return [integer(row), text(NUMBER + "([KMGT](iB)?)?")]


def enumeration(row):
    choices = row["choices"]
    numbers = [yaml.safe_load(c) for c in choices if not isinstance(yaml.safe_load(c), str)]
    out = [{"enum": choices + numbers}, text("|".join(any_case(c) for c in choices))]
    if row.get("indexed"):
        out.append({"type": "integer", "minimum": 0, "maximum": len(choices) - 1})
    return out


def level(row):
    return [text(".*(" + "|".join(any_case(w) for w in ("ERROR", "WARN", "INFO", "DEBUG", "TRACE", "QUIET")) + ").*")]


def location(row):
    return [text(".*(" + any_case("CONSOLE") + "|" + any_case("SYSLOG") + "|/).*")]


def string(row):
    out = {"type": ["string", "number", "boolean"]}
    if "max_bytes" in row:
        out["maxLength"] = row["max_bytes"]
    return [out]


def words(row):
    return [{"type": ["string", "number", "boolean"]}, sequence({"type": ["string", "number", "boolean"]})]


def ranges(row):
    item = f"{BLANKS}{NUMBER}{BLANKS}(-{BLANKS}{NUMBER}{BLANKS})?"
    one = [{"type": "integer", "minimum": 0, "maximum": 65535}, {"type": "string", "pattern": f"^({item})(,{item})*$"}]
    return [*one, sequence({"anyOf": one})]


def numbers(row):
    one = {"anyOf": [integer(row), text(NUMBER)]}
    limits = {"minItems": row.get("count", 1)}
    if "count" in row:
        limits["maxItems"] = row["count"]
    whole = [text(f"{NUMBER}({BLANKS},{BLANKS}{NUMBER})*"), sequence(one, **limits)]
    return whole if row.get("count", 1) != 1 else [integer(row), *whole]


TYPES = {"bool": boolean, "uint": uint, "ulong": uint, "size": size, "enum": enumeration, "log-level": level,
         "log-location": location, "string": string, "path": string, "list": words, "cores": ranges, "ranges": ranges,
         "numbers": numbers}


def value(row):
    # A key without a value is as good as none.
    out = {} if row["type"] == "any" else {"anyOf": [*TYPES[row["type"]](row), {"type": "null"}]}
    doc = row["doc"] + (" (no effect in this release)" if row.get("effect") == "none" else "")
    if "environment" in row:
        doc += ". Variable: " + " or ".join(row["environment"])
    return {"description": doc, **({"default": row["default"]} if "default" in row else {}), **out}


def group():
    return {"type": ["object", "null"], "properties": {}, "additionalProperties": False}


def insert(root, key, leaf):
    """Puts the reference where the key's words lead. What is a setting and the beginning of others (ndl, ndl.record)
    is a value or a group; with the value the others are written with their dots."""
    at, words = root, key.split(".")
    for i, word in enumerate(words[:-1]):
        below = at["properties"].setdefault(word, group())
        if "$ref" in below:
            below = at["properties"][word] = {"anyOf": [below, group()]}
        if "anyOf" in below:
            at["properties"][".".join(words[i:])] = leaf
            below = below["anyOf"][1]
        at = below
    at["properties"][words[-1]] = leaf


def schema_of(table):
    defs = {row["key"]: value(row) for row in table["keys"]}
    root = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "OpenNRT configuration", **group()}
    for row in sorted(table["keys"], key=lambda row: row["key"].count(".")):
        insert(root, row["key"], {"$ref": "#/$defs/" + row["key"]})
    # Any key may be written with its dots.
    root["patternProperties"] = {"^" + re.escape(key).replace("\\_", "_") + "$": {"$ref": "#/$defs/" + key}
                                 for key in defs if "." in key}
    module = {**group(), "properties": {"level": {"anyOf": [*level({}), {"type": "null"}]},
                                        "location": {"anyOf": [*location({}), {"type": "null"}]}}}
    root["properties"]["log"]["properties"]["modules"] = {"type": ["object", "null"], "additionalProperties": module}
    root["properties"]["plugins"]["properties"]["settings"] = {
        "type": ["object", "null"], "description": "settings.<plugin>.<key>: read by that plugin only",
        "additionalProperties": {"type": ["object", "null"]}}
    root["$defs"] = defs
    return root


def main():
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as f:
        schema = schema_of(yaml.safe_load(f))
    with open(target, "w", encoding="utf-8") as f:
        json.dump(schema, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
