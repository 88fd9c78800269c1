# SPDX-License-Identifier: Apache-2.0
"""Runs every command that the pages show, in a copy of the tree, compares the output
where one is shown, and checks links and names. README.md of this folder has the
conventions. Arguments: cmake, source tree, build directory, pages (default: all).
The last line of the output is the figure for the acceptance script."""
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import docs_names
import docs_pages

COMMAND_LIMIT_S = 120
MANUAL = "packaging/man/pages.yaml"


def pattern_of(shown):
    """What the shown lines match: a line "..." any lines, "..." in a line any text,
    <name> some text, the same each time."""
    names, out = set(), ""

    def in_line(row):
        made = ""
        for part in re.split(r"(\.\.\.|<[a-z_]+>)", row.rstrip()):
            if part == "...":
                made += r"[^\n]*"
            elif re.fullmatch(r"<[a-z_]+>", part):
                name = part[1:-1]
                made += f"(?P={name})" if name in names else f"(?P<{name}>[^\\n]+?)"
                names.add(name)
            else:
                made += re.escape(part)
        return made

    for row in shown:
        out += r"(?:[^\n]*\n)*?" if row.strip() == "..." else in_line(row) + r"\n"
    return re.compile(out)


def differs(shown, output):
    """Why the output is not what is shown; empty: it is."""
    text = "".join(row.rstrip() + "\n" for row in output.rstrip("\n").split("\n"))
    if not shown or pattern_of(shown).fullmatch(text):
        return ""
    return "shown:\n    " + "\n    ".join(shown) + "\n  printed:\n    " + \
        "\n    ".join(text.rstrip("\n").split("\n")[:60])


def fast_directory():
    """Memory, if programs can be run there, for trees are copied; None: where others are."""
    directory = "/dev/shm"
    if not os.access(directory, os.W_OK):
        return None
    system = os.statvfs(directory)
    roomy = system.f_bavail * system.f_frsize > 1 << 30
    return directory if roomy and not system.f_flag & os.ST_NOEXEC else None


class Shell:
    """One terminal in a copy of the tree: the directory and the variables stay from
    command to command. What it has started is ended with it."""

    def __init__(self, root, build, cmake, with_programs):
        self.scratch = Path(tempfile.mkdtemp(prefix="nrtdocs-", dir=fast_directory())).resolve()
        self.tree = self.scratch / "opennrt"
        shutil.copytree(root, self.tree, symlinks=True, ignore=lambda directory, names: [
            n for n in names if n == ".git" or (Path(directory) == root and n.startswith("build"))])
        self.scratch.chmod(0o711)  # a page may run something as another user
        (self.tree / "build").mkdir()
        (self.tree / "build/release").symlink_to(build)
        self.directory = str(self.tree)
        for name in ("home", "run", "tmp"):
            (self.scratch / name).mkdir(mode=0o700)
        path = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin", str(Path(cmake).parent)]
        if with_programs:
            path.insert(0, str(self.tree / "build/release/bin"))
        self.environment = {
            "HOME": str(self.scratch / "home"), "XDG_RUNTIME_DIR": str(self.scratch / "run"),
            "TMPDIR": str(self.scratch / "tmp"), "LANG": "C.UTF-8", "PATH": ":".join(path),
            "CMAKE_BUILD_PARALLEL_LEVEL": "2"}

    def run(self, text):
        """Exit code and output, both streams as a terminal shows them."""
        state, log = self.scratch / "state", self.scratch / "output"
        script = f"{text}\n__code=$?\nenv -0 >'{state}'\npwd >'{state}.pwd'\nexit $__code\n"
        for file in (state, Path(f"{state}.pwd")):
            file.unlink(missing_ok=True)
        with log.open("wb") as out:
            child = subprocess.Popen(["bash", "-c", script], cwd=self.directory,
                                     env=self.environment, stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.STDOUT, start_new_session=True)
            try:
                code = child.wait(COMMAND_LIMIT_S)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                code = f"none after {COMMAND_LIMIT_S} s"
        if state.exists():
            pairs = [p.split("=", 1) for p in state.read_text(errors="surrogateescape").split("\0")
                     if "=" in p]
            self.environment = {k: v for k, v in pairs if k not in ("_", "SHLVL", "OLDPWD", "PWD")}
            self.directory = Path(f"{state}.pwd").read_text().rstrip("\n")
        return code, log.read_text(errors="replace")

    def close(self):
        mark = f"HOME={self.scratch}/home".encode()
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:
                pass  # ended, or another user's
        shutil.rmtree(self.scratch, ignore_errors=True)


class Report:
    def __init__(self):
        self.failures, self.marked, self.ran, self.seconds = [], [], 0, 0.0
        self.slowest = (0.0, "")

    def fail(self, where, text):
        self.failures.append(f"{where}: {text}")


def marked_rightly(command, ci_lines):
    """A command marked `ci` is one of continuous integration."""
    return not command.reason.startswith("ci") or \
        any(command.text.split("#")[0].strip() in row for row in ci_lines)


def run_page(page, commands, make_shell, ci_lines):
    report = Report()
    if all(c.reason or c.hidden for c in commands):
        commands = [c for c in commands if c.reason]
    shell = None
    start = time.monotonic()
    try:
        for command in commands:
            if command.reason:
                report.marked.append((command.where(page), command.text, command.reason))
                if not marked_rightly(command, ci_lines):
                    report.fail(command.where(page), f".ci/run does not run it: {command.text}")
                continue
            shell = shell or make_shell()
            begin = time.monotonic()
            code, output = shell.run(command.text)
            report.slowest = max(report.slowest, (time.monotonic() - begin, command.text))
            report.ran += not command.hidden
            if code != command.exit_code:
                report.fail(command.where(page), f"exit code {code}, not {command.exit_code}: "
                            f"{command.text}\n{output}")
            elif text := differs(command.shown, output):
                report.fail(command.where(page), f"{command.text}\n  {text}")
    finally:
        if shell:
            shell.close()
    report.seconds = time.monotonic() - start
    return report


def examine(cmake, root, build, only=()):
    """(failures, runs, marked, links, names, {page: (seconds, of its slowest command, that)})"""
    pages, commands, failures = {}, {}, []
    for name in map(str, docs_pages.find_pages(root)):
        try:
            page = docs_pages.Page(name, (root / name).read_text(encoding="utf-8"))
            pages[name], commands[name] = page, page.commands()
        except docs_pages.Mistake as mistake:
            failures.append(f"{name}:{mistake}")
    if (root / MANUAL).exists():
        try:
            pages[MANUAL], commands[MANUAL] = docs_pages.manual_page(root / MANUAL)
        except docs_pages.Mistake as mistake:
            failures.append(f"{MANUAL}:{mistake}")
    chosen = {n: p for n, p in pages.items() if not only or n in only}

    names = docs_names.Names(root, build / "bin")
    links = 0
    for name, page in chosen.items():
        for line, text in names.check(page, commands[name]):
            failures.append(f"{name}:{line}: {text}")
        dead, count = names.check_links(page, pages)
        links += count
        failures += [f"{name}:{line}: {text}" for line, text in dead]

    ci_file = root / ".ci/run"
    ci_lines = ci_file.read_text().split("\n") if ci_file.exists() else []
    ran, marked, seconds = 0, [], {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = {n: pool.submit(run_page, n, commands[n],
                               # Who reads the first page has no programs on PATH yet.
                               lambda n=n: Shell(root, build, cmake, n != "README.md"), ci_lines)
                for n in sorted(chosen, key=lambda n: -len(commands[n])) if commands[n]}
        for name, job in jobs.items():
            report = job.result()
            failures += report.failures
            marked += report.marked
            ran += report.ran
            seconds[name] = (report.seconds, *report.slowest)
    return failures, ran, marked, links, names.checked, seconds


def main(cmake, root, build, *only):
    root, build = Path(root).resolve(), Path(build).resolve()
    if any(Path("/dev").glob("neuron[0-9]*")):
        print("skipped: a real device is present, and the shown outputs are of the software device")
        return 77
    failures, ran, marked, links, names, seconds = examine(cmake, root, build, only)
    for name, (spent, longest, text) in seconds.items():
        print(f"{spent:6.1f} s  {name} (at most {longest:.1f} s: {text.strip().partition(chr(10))[0]})")
    for where, text, reason in marked:
        word = re.split(r"[,\s]", reason, maxsplit=1)[0]
        more = reason[len(word):].lstrip(", ")
        print(f"not run ({word}: {more or docs_pages.REASONS[word]}): {where}: {text}")
    for failure in failures:
        print("FAILED", failure)
    print(f"{names} names looked up, {len(failures)} mistakes")
    print(f"{ran} commands run, {len(marked)} marked, {links} links")
    return 1 if failures or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
