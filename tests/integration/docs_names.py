# SPDX-License-Identifier: Apache-2.0
"""What pages mention has to exist: subcommands and options, settings, variables,
links, paths of the tree."""
import difflib
import functools
import os
import re
import shlex
import subprocess
from pathlib import Path

import yaml

TOP = ("core", "plugins", "sdk", "config", "tests", "packaging", "cmake")
OPTION = re.compile(r"--[a-z][a-z0-9-]*")
VARIABLE = re.compile(r"\b(?:OPENNRT|NEURON)_[A-Z0-9_]*[A-Z0-9]\b(?!\*)")


@functools.lru_cache
def help_of(bin_directory):
    """{("opennrt",): options, ("opennrt", "run"): ..., ("opennrt", "neff", "info"): ...}"""
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith(("OPENNRT_", "NEURON_", "LD_"))}
    out = {}

    def read(*words, question="--help"):
        done = subprocess.run([str(bin_directory / words[0]), *words[1:], question], text=True,
                              env=environment, capture_output=True, check=False, timeout=60)
        text = done.stdout + done.stderr
        out[words] = set(OPTION.findall(text)) | {"--help"}
        below = " ".join(words)
        usage = re.findall(rf"^(?:usage:)? +{below} \[?([a-z]+)\b", text, re.M)
        listed = re.findall(r"^  ([a-z]+)  ", text, re.M) if "COMMAND" in text.split("\n")[0] else []
        return {*usage, *listed} - {"options"}

    for name in read("opennrt", question="help"):
        for below in read("opennrt", name) if name != "help" else []:
            read("opennrt", name, below)
    out["opennrt", "help"] = set()
    read("opennrt-emud")
    return out


class Names:
    def __init__(self, root, bin_directory):
        self.root = root
        self.help = help_of(bin_directory)
        keys = yaml.safe_load((root / "config/schema/nrt.schema.yaml").read_text())["keys"]
        self.settings = {k["key"] for k in keys}
        # "emulator.faults" is a setting, so "emulator" is a group.
        self.groups = {".".join(k.split(".")[:i]) for k in self.settings
                       for i in range(1, k.count(".") + 1)}
        self.variables = {v for k in keys for v in k.get("environment", [])}
        self.variables |= self._variables_of_sources()
        self.checked = 0

    def _variables_of_sources(self):
        out = set()
        for directory, folders, files in os.walk(self.root):
            folders[:] = [f for f in folders if not f.startswith((".", "build"))]
            for name in files:
                if not name.endswith(".md") and name not in ("pages.yaml", "docs_mistakes_test.py"):
                    text = Path(directory, name).read_text(encoding="utf-8", errors="replace")
                    out.update(VARIABLE.findall(text))
        return out

    def check(self, page, commands):
        """Complaints about a page, as (line, text)."""
        spans = list(page.spans())
        texts = [(c.line, c.text) for c in commands if not c.hidden] + spans
        out = []
        for line, text in texts:
            out += [(line, c) for c in self._commands(text)]
        out += self._lone_options(page, spans, texts)
        for line, text in spans:
            out += [(line, c) for c in self._setting(text)]
            out += [(line, c) for c in self._path(text, page)]
        for number, row in enumerate(page.text.split("\n"), 1):
            for name in VARIABLE.findall(row):
                self.checked += 1
                if name not in self.variables:
                    out.append((number, f"no variable {name}{self._near(name, self.variables)}"))
        return sorted(set(out))

    @staticmethod
    def _near(name, names):
        near = difflib.get_close_matches(name, sorted(names), 1)
        return f"; did you mean {near[0]}?" if near else ""

    def _commands(self, text):
        """`opennrt NAME --option`: the name and the options, wherever it stands."""
        try:
            words = shlex.split(text, posix=False, comments=True)
        except ValueError:
            words = text.split()
        for i, word in enumerate(words):
            program = word.rsplit("/", 1)[-1]
            if program not in ("opennrt", "opennrt-emud") or "=" in word:
                continue
            known, at = (program,), i + 1
            while at < len(words) and re.fullmatch(r"[a-z]+", words[at]):
                if known + (words[at],) in self.help:
                    known += (words[at],)
                    at += 1
                elif known in (("opennrt",), ("opennrt", "neff")):
                    yield f"no subcommand: {' '.join(known)} {words[at]}"
                    break
                else:
                    break
            self.checked += len(known) - 1
            for option in words[at:]:
                if option == "--" or re.match(r"[|;&<>]", option):
                    break
                if found := OPTION.match(option):
                    self.checked += 1
                    if found[0] not in self.help[known]:
                        yield (f"{' '.join(known)} has no option {found[0]}"
                               f"{self._near(found[0], self.help[known])}")

    def _lone_options(self, page, spans, texts):
        """`--option` by itself: of a program of ours, of one named on the page, or of a
        program whose source is in the folder of the page."""
        known = set().union(*self.help.values())
        for file in (self.root / page.name).parent.iterdir():
            if file.is_file() and file.suffix != ".md":
                known.update(OPTION.findall(file.read_text(encoding="utf-8", errors="replace")))
        for _, text in texts:
            if not text.startswith("--"):
                known.update(OPTION.findall(text))
        for line, text in spans:
            if found := OPTION.match(text):
                self.checked += 1
                if found[0] not in known:
                    yield line, f"no program has an option {found[0]}{self._near(found[0], known)}"

    def _setting(self, text):
        name = re.sub(r"[:=].*", "", text)
        if not re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", name) or self._is_file(name):
            return
        group = name.rsplit(".", 1)[0]
        if group not in self.groups:
            tops = {g for g in self.groups if "." not in g}
            if not difflib.get_close_matches(group, tops, 1, 0.85):
                return  # something else: a member, a module
        self.checked += 1
        if name not in self.settings and name not in self.groups:
            yield f"no setting {name}{self._near(name, self.settings)}"

    @staticmethod
    def _is_file(name):
        return name.rsplit(".", 1)[-1] in ("cpp", "c", "h", "py", "sh", "yaml", "json", "so", "md",
                                           "map", "txt", "inc", "cmake", "neff", "npy", "bin")

    def _path(self, text, page):
        if not re.fullmatch(r"[\w.*{},-]+(/[\w.*{},-]+)+/?", text) or text.split("/")[0] not in TOP:
            return
        self.checked += 1
        here = self.root / Path(page.name).parent
        for choice in braces(text.rstrip("/")):
            # A name without its ending is a source and its header.
            if not any(list(d.glob(choice)) or list(d.glob(choice + ".*")) for d in (self.root, here)):
                yield f"no file or folder {choice}"

    def check_links(self, page, pages):
        out, count = [], 0
        for line, target in page.links():
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            path, _, anchor = target.partition("#")
            file = (self.root / Path(page.name).parent / path).resolve() if path else \
                self.root / page.name
            if not file.exists() or not file.is_relative_to(self.root):
                out.append((line, f"dead link {target}"))
            elif anchor:
                name = str(file.relative_to(self.root))
                if name not in pages or anchor not in pages[name].anchors():
                    out.append((line, f"no heading for {target}"))
        return out, count


def braces(text):
    """a{b,c} as ab, ac."""
    found = re.search(r"\{([^{}]*)\}", text)
    if not found:
        return [text]
    return [x for word in found[1].split(",")
            for x in braces(text[:found.start()] + word + text[found.end():])]
