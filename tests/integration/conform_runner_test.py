# SPDX-License-Identifier: Apache-2.0
"""opennrt-conform over a plugin that does what it likes to its process and to those
around it, and with surroundings that are not as they should be.
Arguments: opennrt-conform, directory of the plugin doubles."""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

CONFORM, DOUBLES = (Path(word).resolve() for word in sys.argv[1:3])
DOUBLE = "double-port-misbehaving.so"
PATIENCE = 300  # s, for what comes sooner or never
TABLE = "PortTable.EveryMandatoryFunctionIsThere"
OPENS = "Load.OpensAndDescribesItself"
BAD = {"failed", "crashed", "hung", "exited"}


class Runner(unittest.TestCase):
    def setUp(self):
        self.place = Path(tempfile.mkdtemp(prefix="opennrt-conform-"))
        self.addCleanup(shutil.rmtree, self.place)
        self.token = f"OPENNRT_TEST_TOKEN={self.place.name}"
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENNRT_")}
        key, value = self.token.split("=")
        self.environment[key] = value

    def command(self, deed, *words, plugin=DOUBLES / DOUBLE, **added):
        environment = self.environment | added
        if deed:
            environment["OPENNRT_DOUBLE_DOES"] = deed
        return [CONFORM, *words, plugin], {
            "env": environment, "cwd": self.place, "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
            "errors": "replace"}

    def conform(self, deed, *words, more=None, **rest):
        command, options = self.command(deed, *words, **rest)
        return subprocess.run(command, timeout=PATIENCE, check=False, **options | (more or {}))

    # Exit code and the report.
    def report(self, deed, cases, *words, **rest):
        done = self.conform(deed, "--json", "r.json", "--filter", cases, *words, **rest)
        self.assertIn(done.returncode, (0, 1), done)
        self.assertTrue((self.place / "r.json").exists(), done)
        return done.returncode, json.loads((self.place / "r.json").read_text())

    def case(self, deed, name, *words, **rest):
        code, report = self.report(deed, name, *words, **rest)
        case, = report["cases"]
        self.assertEqual(code, 1 if case["status"] in BAD else 0)
        return case["status"], case["detail"]

    # Processes that a case has started, and any that descends from it.
    def processes(self):
        out = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and self.token in (entry / "environ").read_text(
                        errors="replace").split("\0"):
                    out.append((entry.name, (entry / "comm").read_text().strip()))
            except OSError:
                pass
        return out

    def wait_for(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, self.processes())
            time.sleep(0.02)

    def manifest(self, text, name="d.plugin.yaml"):
        directory = self.place / "plugins"
        directory.mkdir(exist_ok=True)
        if not (directory / DOUBLE).exists():
            shutil.copy(DOUBLES / DOUBLE, directory)
        if text is not None:
            (directory / name).write_text(text)
        return directory / DOUBLE


class Results(Runner):
    def test_a_double_that_does_nothing_passes(self):
        for place in "load", "query", "attach", "detach":
            code, report = self.report(f"{place}:nothing", "any.*,port.table.*")
            self.assertEqual((code, report["failed"], report["passed"] > 10), (0, 0, True), report)

    def test_only_the_process_of_the_case_is_believed(self):
        for place, name in ("load", OPENS), ("query", OPENS), ("attach", TABLE), ("detach", TABLE):
            for deed in "daemonise", "forge":
                with self.subTest(place=place, deed=deed):
                    status, detail = self.case(f"{place}:{deed}", name)
                    self.assertEqual(status, "exited", detail)
                    self.assertIn("the process exited with code 0", detail)
                    self.assertEqual(self.processes(), [])

    def test_no_file_of_the_plugin_is_taken_for_the_results(self):
        status, detail = self.case("attach:close-all", TABLE)
        self.assertEqual(status, "exited", detail)
        self.assertEqual((self.place / "written-to").read_bytes(), b"")

    def test_killing_the_parent_ends_the_case_alone(self):
        status, detail = self.case("attach:kill-parent", TABLE)
        self.assertEqual((status, detail), (
            "crashed", "the process that watches the case was killed or stopped"))
        self.assertEqual(self.processes(), [])
        code, report = self.report("attach:kill-parent", f"{TABLE},Head.NameIsAWord")
        self.assertEqual((code, report["passed"], report["crashed"]), (1, 1, 1))


class LeftBehind(Runner):
    def test_processes_left_behind_fail_the_case(self):
        for deed in "leave", "leave-session", "leave-twice", "leave-printing":
            for place, name in ("load", OPENS), ("attach", TABLE), ("detach", TABLE):
                with self.subTest(place=place, deed=deed):
                    self.assertEqual(self.case(f"{place}:{deed}", name, "--time-limit", "200"),
                                     ("failed", "left 1 process behind"))
                    self.assertEqual(self.processes(), [])

    def test_many_are_counted(self):
        self.assertEqual(self.case("attach:leave-many", TABLE),
                         ("failed", "left 20 processes behind"))
        self.assertEqual(self.processes(), [])

    def test_one_that_forks_without_end_is_caught(self):
        status, detail = self.case("attach:leave-relay", TABLE)
        self.assertEqual(status, "failed")
        self.assertRegex(detail, "^left [0-9]+ process(es)? behind$")
        self.assertEqual(self.processes(), [])

    def test_one_that_ends_with_its_parent_is_none(self):
        self.assertEqual(self.case("attach:short-lived", TABLE)[0], "passed")

    def test_none_survives_the_time_limit(self):
        self.assertEqual(self.case("attach:leave-hanging", TABLE, "--time-limit", "0.3"),
                         ("hung", "did not end in 0.3 s"))
        self.assertEqual(self.processes(), [])


class Interrupted(Runner):
    # handler: of that signal in the runner; a shell ignores some for what it starts aside.
    def interrupt(self, number, handler=signal.SIG_DFL):
        command, options = self.command("attach:leave-hanging", "--filter", TABLE, "--json",
                                        "r.json", "--junit", "r.xml", "--time-limit", "3")
        def prepare():
            if number != signal.SIGKILL:
                signal.signal(number, handler)
        with subprocess.Popen(command, preexec_fn=prepare, **options) as process:
            self.wait_for(lambda: [name for _, name in self.processes()].count("left-behind") == 2)
            process.send_signal(number)
            process.communicate(timeout=PATIENCE)
        return process.returncode

    def test_the_signal_ends_all(self):
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT:
            with self.subTest(signal=number.name):
                self.assertEqual(self.interrupt(number), -number)
                self.assertEqual(self.processes(), [])
                self.assertEqual(list(self.place.iterdir()), [])

    def test_a_runner_that_is_killed_leaves_nothing(self):
        self.assertEqual(self.interrupt(signal.SIGKILL), -signal.SIGKILL)
        self.wait_for(lambda: not self.processes())
        self.assertEqual(list(self.place.iterdir()), [])

    def test_a_signal_that_is_ignored_stays_so(self):
        self.assertEqual(self.interrupt(signal.SIGHUP, signal.SIG_IGN), 1)
        self.assertEqual(json.loads((self.place / "r.json").read_text())["hung"], 1)

    def test_a_parent_that_ignores_its_children_changes_nothing(self):
        done = self.conform("attach:nothing", "--filter", TABLE, more={
            "preexec_fn": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)})
        self.assertEqual(done.returncode, 0, done)


class Manifests(Runner):
    CASE = "Manifest.HasTheNameOfTheTable"
    GOOD = f"kind: port\nname: misbehaving\nlibrary: {DOUBLE}\nabi: 1.0\n"

    def test_the_one_that_names_the_plugin_is_looked_at(self):
        plugin = self.manifest(self.GOOD)
        self.manifest("kind: [", "broken.plugin.yaml")  # that of another
        self.assertEqual(self.case("", self.CASE, plugin=plugin)[0], "passed")
        self.manifest(self.GOOD.replace("name: misbehaving", "name: other"), "a.plugin.yaml")
        self.assertEqual(self.case("", self.CASE, plugin=plugin)[0], "failed")

    def test_without_any_there_is_nothing_to_look_at(self):
        status, detail = self.case("", self.CASE, plugin=self.manifest(None))
        self.assertEqual((status, detail.split(" in ")[0]), ("skipped", "there is no manifest"))

    def test_one_that_cannot_be_read_fails(self):
        for text, reason in (
                ("kind: [", "d.plugin.yaml:"), ("", "not a map"), ("[]", "not a map"),
                ("\0\xff", "d.plugin.yaml"),
                (self.GOOD.replace("kind: port", "kind: driver"), "kind is"),
                (self.GOOD.replace("library:", "lib:"), "key library is missing"),
                (self.GOOD.replace(DOUBLE, "absent.so"), "absent.so, which is not there"),
                (self.GOOD.replace("kind: port", "kind: arch\narch_type: 1"), "arch_type is '1'"),
                (self.GOOD + "#" * (30 << 20), "larger than")):
            with self.subTest(reason=reason, text=text[:60]):
                status, detail = self.case("", self.CASE, plugin=self.manifest(text))
                self.assertEqual(status, "failed", detail)
                self.assertIn("names it:", detail)
                self.assertIn(reason, detail)

    def test_one_that_is_no_file_fails(self):
        plugin = self.manifest(None)
        manifest = plugin.parent / "d.plugin.yaml"
        for make, unmake in (manifest.mkdir, manifest.rmdir), \
                (lambda: os.mkfifo(manifest), manifest.unlink):
            make()
            status, detail = self.case("", self.CASE, plugin=plugin)
            unmake()
            self.assertEqual(status, "failed")
            self.assertIn("not a regular file", detail)

    def test_one_of_another_library_is_none_of_it(self):
        plugin = self.manifest(self.GOOD.replace(DOUBLE, "other.so"))
        (plugin.parent / "other.so").write_text("")
        status, detail = self.case("", self.CASE, plugin=plugin)
        self.assertEqual(status, "failed")
        self.assertIn("other.so", detail)


class Surroundings(Runner):
    def test_settings_of_googletest_do_not_reach_the_cases(self):
        settings = {"GTEST_SHARD_INDEX": "1", "GTEST_TOTAL_SHARDS": "2",
                    "GTEST_BREAK_ON_FAILURE": "1", "GTEST_THROW_ON_FAILURE": "1",
                    "GTEST_STREAM_RESULT_TO": "localhost:1", "GTEST_FILTER": "Nothing*",
                    "GTEST_FAIL_IF_NO_TEST_SELECTED": "1", "GTEST_REPEAT": "2",
                    "GTEST_CATCH_EXCEPTIONS": "0", "GTEST_SHARD_STATUS_FILE": "gtest-wrote",
                    "GTEST_OUTPUT": "json:gtest-wrote", "TESTBRIDGE_TEST_ONLY": "Nothing*",
                    "TESTBRIDGE_TEST_RUNNER_FAIL_FAST": "1", "XML_OUTPUT_FILE": "gtest-wrote",
                    "TEST_PREMATURE_EXIT_FILE": "gtest-wrote"}
        cases = "any.*,PortFiles.BadDescriptorsAreErrors,port.control.*"

        def outcomes(**added):
            report = self.report("", cases, **added)[1]
            return {c["name"]: (c["status"], len(c["failures"])) for c in report["cases"]}
        expected = outcomes()
        self.assertGreater(len(expected), 10)
        for name, value in settings.items():
            with self.subTest(name=name):
                self.assertEqual(outcomes(**{name: value, "GTEST_TOTAL_SHARDS": "2"}), expected)
                self.assertFalse((self.place / "gtest-wrote").exists())

    def test_the_plugin_comes_before_the_filter(self):
        done = self.conform("", "--filter", "Arch*", plugin="/etc/passwd")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("not a shared library", done.stdout)
        self.assertEqual(self.conform("", "--filter", "Arch*").returncode, 2)

    def test_time_limits_are_told_as_they_are(self):
        status, detail = self.case("load:leave-hanging", OPENS, "--time-limit", "0.3")
        self.assertEqual((status, detail), ("hung", "did not end in 0.3 s"))

    def test_two_reports_need_two_files(self):
        (self.place / "sub").mkdir()
        (self.place / "link").symlink_to("sub")
        os.mkfifo(self.place / "pipe")
        for json_file, junit_file in (("r", "r"), ("r", "./r"), ("sub/r", "link/r"),
                                      ("r", self.place / "r"), ("pipe", "pipe")):
            done = self.conform("", "--json", json_file, "--junit", junit_file, "--filter", OPENS)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("--json and --junit both to", done.stderr)
        self.assertFalse((self.place / "r").exists())
        done = self.conform("", "--json", "/dev/null", "--junit", "/dev/null", "--filter", OPENS)
        self.assertEqual(done.returncode, 0, done)
        done = self.conform("", "--json", "r", "--junit", "link/r", "--filter", OPENS)
        self.assertEqual(done.returncode, 0, done)
        self.assertTrue((self.place / "r").exists() and (self.place / "sub/r").exists())

    def test_a_working_directory_that_is_gone_is_not_the_plugins_fault(self):
        gone = self.place / "gone"
        gone.mkdir()
        for words in ["--filter", OPENS], ["--list"]:
            command, options = self.command("", *words)
            line = f"cd '{gone}' && rmdir '{gone}' && exec \"$@\"; "
            done = subprocess.run(["/bin/sh", "-c", line, "sh", *command], timeout=PATIENCE,
                                  check=False, **options)
            gone.mkdir()
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("opennrt conform: the working directory cannot be used: No such file",
                          done.stderr)
            self.assertNotIn("crashed", done.stdout)

    def test_a_limit_of_file_sizes_is_an_error(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        done = self.conform("", "--json", "r.json", "--junit", "r.xml", "--filter", OPENS,
                            more={"preexec_fn": limited})
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("r.json: File too large", done.stderr)
        self.assertEqual(list(self.place.iterdir()), [])
        with open(self.place / "out", "w", encoding="utf-8") as out:
            done = self.conform("", "--rules", more={"preexec_fn": limited, "stdout": out})
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("standard output", done.stderr)

    def test_noncharacters_are_replaced(self):
        done = self.conform("attach:noncharacters", "--junit", "r.xml", "--filter", TABLE)
        self.assertEqual(done.returncode, 1, done)
        error = ElementTree.parse(self.place / "r.xml").getroot().find(".//error")
        self.assertIn("? and ?, \ufffd is one", error.text)


unittest.main(argv=sys.argv[:1] + sys.argv[3:])
