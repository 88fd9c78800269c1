# SPDX-License-Identifier: Apache-2.0
"""The docs test on a tree of one page with one mistake each: it has to be told, and
told where. Arguments: cmake, source tree, build directory."""
import shutil
import sys
import tempfile
from pathlib import Path

import docs_test

GOOD = """# Page

<!-- setup: echo kept >file -->
```console
$ opennrt neff tree --help
usage: opennrt neff tree ...
...
$ cat file; no-such-program; (exit 2)
kept
bash: ...
(exit code 2)
$ export WORD=there && cd sub
$ echo "$WORD"; basename "$PWD"; echo seen there
<one>
sub
seen <one>
$ false
(exit code 1)
```

<!-- not run: ci -->
```sh
the command of continuous integration   # a remark
```

See [the other page](sub/other.md#what-is-here), `emulator.faults`, `OPENNRT_DEVICE`, `opennrt run --verify`, `--verify`,
`config/schema/nrt.schema.yaml`.

```yaml
exec: {timeout_s: 5}
```
"""

# What is put for what in the good page, and what has to be complained of.
MISTAKES = [
    ("neff tree --help", "neff tree --hlep", "page.md:5: opennrt neff tree has no option --hlep; did"),
    ("opennrt run --verify", "opennrt run --verfy", "opennrt run has no option --verfy; did you mean"),
    ("`--verify`", "`--verfy`", "no program has an option --verfy"),
    ("`opennrt run", "`opennrt rnu", "no subcommand: opennrt rnu"),
    ("neff tree", "neff tere", "no subcommand: opennrt neff tere"),
    ("sub/other.md#", "sub/nothing.md#", "page.md:26: dead link sub/nothing.md#what-is-here"),
    ("#what-is-here", "#what-is-there", "no heading for sub/other.md#what-is-there"),
    ("neff tree ...", "neff three ...", "page.md:5: opennrt neff tree --help\n  shown:"),
    ("sub\nseen", "sub\n\nseen", "page.md:13: echo"),
    ("seen <one>", "<one> seen", "page.md:13: echo"),
    ("$ false\n", "$ true\n", "exit code 0, not 1: true"),
    ("$ cat file", "$ exit 3", "exit code 3, not 2"),
    ("emulator.faults", "emulator.fualts", "no setting emulator.fualts; did you mean emulator.faults?"),
    ("emulator.faults", "emulater.faults", "no setting emulater.faults"),
    ("OPENNRT_DEVICE", "OPENNRT_DEVCE", "no variable OPENNRT_DEVCE; did you mean OPENNRT_DEVICE?"),
    ("`config/schema/", "`config/shema/", "no file or folder config/shema/nrt.schema.yaml"),
    ("timeout_s: 5", "timeout: 5", "unknown key exec.timeout"),
    ("```console", "```", "page.md:4: a block says what it is"),
    ("```console", "```text", "holds a command, so it is sh or console: $ opennrt"),
    ("not run: ci", "not run: because", "page.md:21: no reason 'because'; ci, "),
    ("-->\n```sh", "-->\nText.\n```sh", "page.md:22: the mark above is not in front of a block"),
    ("the command of", "another command of", ".ci/run does not run it: another command"),
    ("echo kept >file", "false", "page.md:3: exit code 1, not 0: false"),
    ("5}\n```", "5}\n", "this block does not end"),
]


def tree(root, source, text):
    root.mkdir()
    for name in ("config/schema", ".ci", "sub"):
        (root / name).mkdir(parents=True)
    shutil.copy(source / "config/schema/nrt.schema.yaml", root / "config/schema")
    (root / ".ci/run").write_text("stage 'x' the command of continuous integration\n")
    (root / "sub/other.md").write_text("# What is here?\n")
    (root / "page.md").write_text(text)


def main(cmake, source, build):
    source, build = Path(source).resolve(), Path(build).resolve()
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for number, (old, new, complaint) in enumerate([("", "", "")] + MISTAKES):
            assert old in GOOD, old
            root = Path(directory, str(number)).resolve()
            tree(root, source, GOOD.replace(old, new, 1))
            failures, ran, marked, links, _, _ = docs_test.examine(cmake, root, build)
            if number == 0:
                held = not failures and (ran, len(marked), links) == (6, 1, 1)
            else:
                held = any(complaint in failure for failure in failures)
            wrong += not held
            if not held:
                print(f"FAILED {old!r} -> {new!r}: wanted {complaint!r}", (ran, marked, links))
                print("\n".join(failures))
    print(f"{len(MISTAKES)} mistakes, {wrong} untold")
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
