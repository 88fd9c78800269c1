# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of the configuration says what `opennrt config check` says: of the shipped file, the examples, and of
files with one mistake each.

usage: config_schema_test.py OPENNRT SCHEMA FILE...
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import yaml

GOOD = [
    "", "version: 1", "exec: {timeout_s: 7}", "exec.timeout_s: 7", "exec: {timeout_s: '0x10'}", "exec: {timeout_s: }",
    "cores: {visible: 0-3}", "cores: {visible: [0, 1]}", "cores: {visible: 0}", "cores: {reset_on_init: Off}",
    "cores: {reset_on_init: 1}", "cores: {lnc_size: 2}", "exec: {runtime_form: 2.25}", "exec: {runtime_form: AUTO}",
    "emulator: {hbm_bytes: 4GiB}", "emulator: {hbm_bytes: 17179869184}", "emulator: {scope: Machine}",
    "emulator: {verify: all}", "emulator: {verify: [poison, order=3]}", "emulator: {verify: {poison: true}}",
    "emulator: {verify: all, verify.order_seed: 4}", "ndl: compat\nndl.record: /tmp/x", "ndl: {record: /tmp/x}",
    "emulator: {faults: [{point: hang, n: 2}]}", "plugins: {disable: [a, b], settings: {mine: {key: [1, 2]}}}",
    "log: {level: info, modules: {TDRV: {level: DEBUG, location: SYSLOG}}}", "log: {location: /var/log/x}",
    "numerics: {error_verbosity: 2}", "load: {iram_block_kb: [1, 2, 4, 8, 16]}", "exec: {implicit_async_depth: 0}",
    "memory: {scratchpad: {page_mb: 1024}}", "nds: {process_tag: 7}", "emulator: {driver_version: 2.19.64.0}",
]
BAD = [
    "exec: {timeout: 7}", "exec: {timeout_s: soon}", "exec: {timeout_s: -1}", "exec: {timeout_s: 3000000000}",
    "exec: {timeout_s: [1, 2]}", "exec: {timeout_s: {a: 1}}", "exec: 7", "exec: [timeout_s]", "version: 2", "foo: 1",
    "cores: {reset_on_init: maybe}", "cores: {reset_on_init: 2}", "cores: {visible: 0..3}", "cores: {visible: -1}",
    "cores: {lnc_size: 3}", "cores: {lnc_size: 128}", "exec: {runtime_form: 2.26}", "emulator: {scope: world}",
    "emulator: {hbm_bytes: 4GB}", "emulator: {hbm_bytes: 5}", "emulator: {devices: 33}", "emulator: {devices: 0}",
    "emulator: {verify: {poisen: true}}", "ndl: {recrd: x}", "log: {modules: {TDRV: {levle: DEBUG}}}",
    "log: {level: LOUD}", "log: {location: NOWHERE}", "load: {iram_block_kb: [1, 2, 4]}",
    "load: {iram_block_kb: [3, 2, 4, 8, 16]}", "memory: {scratchpad: {page_mb: 700}}", "log: {modules: 3}",
    "emulator: {driver_version: 2.27}", "numerics: {error_verbosity: 9}", "- a",
]


class Validator:
    """The keywords the schema uses."""

    KEYWORDS = {"$schema", "title", "description", "default", "$defs", "$ref", "anyOf", "enum", "type", "pattern",
                "minimum", "maximum", "multipleOf", "maxLength", "items", "minItems", "maxItems", "properties",
                "patternProperties", "additionalProperties"}
    TYPES = {"null": type(None), "boolean": bool, "string": str, "object": dict, "array": list}

    def __init__(self, root):
        self.root = root

    def is_type(self, name, value):
        if name == "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        if name == "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        return isinstance(value, self.TYPES[name])

    def accepts(self, schema, value):
        unknown = set(schema) - self.KEYWORDS
        assert not unknown, f"keywords this test does not know: {unknown}"
        if "$ref" in schema:
            return self.accepts(self.root["$defs"][schema["$ref"].removeprefix("#/$defs/")], value)
        if "anyOf" in schema and not any(self.accepts(one, value) for one in schema["anyOf"]):
            return False
        if "enum" in schema and not any(type(one) is type(value) and one == value for one in schema["enum"]):
            return False
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if kinds and not any(self.is_type(kind, value) for kind in kinds):
            return False
        if isinstance(value, str):
            if "pattern" in schema and not re.search(schema["pattern"], value):
                return False
            if len(value) > schema.get("maxLength", len(value)):
                return False
        if self.is_type("number", value):
            if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
                return False
            if "multipleOf" in schema and value % schema["multipleOf"]:
                return False
        if isinstance(value, list):
            if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
                return False
            return all(self.accepts(schema.get("items", {}), item) for item in value)
        if isinstance(value, dict):
            return all(self.accepts_member(schema, name, item) for name, item in value.items())
        return True

    def accepts_member(self, schema, name, item):
        if name in schema.get("properties", {}):
            return self.accepts(schema["properties"][name], item)
        for pattern, below in schema.get("patternProperties", {}).items():
            if re.search(pattern, str(name)):
                return self.accepts(below, item)
        rest = schema.get("additionalProperties", {})
        return rest if isinstance(rest, bool) else self.accepts(rest, item)


def verdicts(tool, schema, text, path):
    value = yaml.safe_load(text)
    ours = Validator(schema).accepts(schema, {} if value is None else value)
    try:
        import jsonschema
        theirs = jsonschema.Draft202012Validator(schema).is_valid({} if value is None else value)
    except ImportError:
        theirs = ours
    check = subprocess.run([tool, "config", "check", path], capture_output=True, text=True, check=False)
    assert check.returncode in (0, 1), check
    return ours, theirs, check.returncode == 0, check.stdout


def main():
    tool, schema_file, *files = sys.argv[1:]
    with open(schema_file, encoding="utf-8") as f:
        schema = json.load(f)
    cases = [(open(path, encoding="utf-8").read(), path, True) for path in files]
    failures = []
    with tempfile.TemporaryDirectory() as directory:
        for expected, texts in ((True, GOOD), (False, BAD)):
            for i, text in enumerate(texts):
                path = os.path.join(directory, f"{expected}{i}.yaml")
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text + "\n")
                cases.append((text, path, expected))
        for text, path, expected in cases:
            ours, theirs, tools, said = verdicts(tool, schema, text, path)
            if (ours, theirs, tools) != (expected,) * 3:
                failures.append(f"{text!r}: expected {expected}; schema {ours}, jsonschema {theirs}, tool {tools}: {said}")
    print("\n".join(failures))
    print(f"{len(cases)} files, {len(failures)} disagreements")
    return 1 if failures else 0


sys.exit(main())
