# SPDX-License-Identifier: Apache-2.0
"""Reads the pages of the tree: their blocks, links and names. README.md of this
folder says what the marks mean."""
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml

# Why a block is not run. `ci`: the commands have to be lines of .ci/run.
REASONS = {
    "ci": "continuous integration runs it",
    "long": "takes minutes",
    "root": "changes the system",
    "device": "needs a real device",
    "interactive": "needs a terminal",
}
LANGUAGES_RUN = ("sh", "console")
LANGUAGES_SHOWN = ("text", "c", "cpp", "python")
EXIT_CODE = re.compile(r"\(exit code (\d+)\)")
# What a package installs, in the tree.
PLACES = {"/usr/share/opennrt/": "sdk/", "/etc/opennrt/": "config/"}
INSTALLED = re.compile("|".join(PLACES))
FENCE = re.compile(r"^( *)```\s*(.*?)\s*$")


class Mistake(Exception):
    """A page that breaks the conventions."""


@dataclass
class Command:
    line: int
    text: str
    shown: list = field(default_factory=list)  # lines of output; empty: not compared
    exit_code: int = 0
    hidden: bool = False  # a setup
    reason: str = ""      # why it is not run

    def where(self, page):
        return f"{page}:{self.line}"


@dataclass
class Block:
    line: int
    language: str
    lines: list
    reason: str = ""

    def commands(self):
        return {"console": self._console, "sh": self._script}[self.language]()

    def _console(self):
        out = []
        rows = iter(enumerate(self.lines, self.line + 1))
        for number, row in rows:
            if row.startswith("$ "):
                text = row[2:]
                while text.endswith("\\"):
                    text += "\n" + next(rows, (0, ""))[1]
                out.append(Command(number, text, reason=self.reason))
            elif not out:
                raise Mistake(f"{number}: output before the first command (\"$ \")")
            else:
                out[-1].shown.append(row)
        for command in out:
            if command.shown and (code := EXIT_CODE.fullmatch(command.shown[-1].strip())):
                command.exit_code = int(code[1])
                command.shown.pop()
        return out

    def _script(self):
        out = []
        rows = iter(enumerate(self.lines, self.line + 1))
        for number, row in rows:
            if not row.strip() or row.lstrip().startswith("#"):
                continue
            text = row
            if end := re.search(r"<<-?\s*'?(\w+)'?", row):
                for _, more in rows:
                    text += "\n" + more
                    if more.strip() == end[1]:
                        break
            while text.endswith("\\"):
                text += "\n" + next(rows, (0, ""))[1]
            out.append(Command(number, text, reason=self.reason))
        return out


class Page:
    """One page: its text without the blocks, and the blocks in their order. A hidden
    setup is a block of language "setup"."""

    def __init__(self, name, text):
        self.name = name
        self.text = text
        self.blocks = []
        self.prose = []  # (line, text)
        self._read(text.split("\n"))

    def _read(self, rows):
        reason, i = "", 0
        while i < len(rows):
            fence = FENCE.match(rows[i])
            if fence:
                end = i + 1
                while end < len(rows) and not re.fullmatch(r" *```\s*", rows[end]):
                    end += 1
                if end == len(rows):
                    raise Mistake(f"{i + 1}: this block does not end")
                indent = len(fence[1])
                lines = [r[indent:] if not r[:indent].strip() else r for r in rows[i + 1:end]]
                self.blocks.append(Block(i + 1, fence[2], lines, reason))
                reason, i = "", end + 1
                continue
            if rows[i].lstrip().startswith("<!--"):
                end = i
                while "-->" not in rows[end]:
                    end += 1
                    if end == len(rows):
                        raise Mistake(f"{i + 1}: this comment does not end")
                comment = "\n".join(rows[i:end + 1]).strip().removeprefix("<!--").removesuffix("-->")
                kind, _, rest = comment.strip().partition(":")
                if kind == "setup":
                    self.blocks.append(Block(i + 1, "setup", [rest.strip()]))
                elif kind == "not run":
                    reason = rest.strip()
                    word = re.split(r"[,\s]", reason, maxsplit=1)[0]
                    if word not in REASONS:
                        raise Mistake(f"{i + 1}: no reason '{word}'; {', '.join(REASONS)}")
                i = end + 1
                continue
            if reason and rows[i].strip():
                raise Mistake(f"{i + 1}: the mark above is not in front of a block")
            self.prose.append((i + 1, rows[i]))
            i += 1

    def commands(self):
        """The commands of the page and its setups, in order."""
        out = []
        for block in self.blocks:
            if block.language == "setup":
                out.append(Command(block.line, block.lines[0], hidden=True))
            elif block.language in LANGUAGES_RUN:
                out += block.commands()
            elif block.language == "yaml":
                # A settings file is what `config check` takes.
                text = "\n".join(block.lines)
                file = '"$TMPDIR/settings.yaml"'
                out.append(Command(block.line, f"cat >{file} <<'END'\n{text}\nEND\n"
                                   f"opennrt config check {file}", reason=block.reason))
            elif block.language not in LANGUAGES_SHOWN:
                raise Mistake(f"{block.line}: a block says what it is: " + ", ".join(
                    (*LANGUAGES_RUN, "yaml", *LANGUAGES_SHOWN)))
            elif bad := [r for r in block.lines if re.match(r"\s*(\$ |(\S*/)?opennrt[ -])", r)]:
                raise Mistake(f"{block.line}: holds a command, so it is sh or console: {bad[0]}")
        return out

    def spans(self):
        """Inline code as (line, text); a span may go over the end of a line."""
        text = "\n".join(t for _, t in self.prose)
        numbers = [n for n, _ in self.prose]
        for found in re.finditer(r"(?<!`)`([^`]+)`(?!`)", text):
            yield (numbers[text.count("\n", 0, found.start())], " ".join(found[1].split()))

    def links(self):
        for line, text in self.prose:
            for found in re.finditer(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "``", text)):
                yield line, found[1]

    def anchors(self):
        out = set()
        for _, text in self.prose:
            if heading := re.match(r"#+\s+(.*)", text):
                words = re.sub(r"[^\w\- ]", "", heading[1].lower())
                out.add(words.strip().replace(" ", "-"))
        return out


def manual_page(file):
    """The examples of the manual pages as one page: (Page, commands)."""
    text = file.read_text(encoding="utf-8")
    lines = text.split("\n")
    everything = yaml.safe_load(text)
    page = Page("packaging/man/pages.yaml", "")
    page.text = text
    commands = [Command(1, c, hidden=True) for c in everything.get("setup", [])]
    for one in everything["pages"]:
        for example in one.get("examples", []):
            number = next((n for n, row in enumerate(lines, 1) if example[0] in row), 1)
            reason = example[2] if len(example) > 2 else ""
            if reason and reason not in REASONS:
                raise Mistake(f"{number}: no reason '{reason}'; {', '.join(REASONS)}")
            commands.append(Command(number, INSTALLED.sub(lambda m: PLACES[m[0]], example[0]),
                                    reason=reason))
    return page, commands


def find_pages(root):
    """Markdown files of the tree, builds and hidden folders left out."""
    out = []
    for directory, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")))
        out += [Path(directory, f).relative_to(root) for f in sorted(files) if f.endswith(".md")]
    return out
