#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every subcommand as a user or a program calls it: help, wrong words, output that
fails, and JSON by a strict parser, against the text output or known facts.

usage: tool_command_line_test.py OPENNRT VECADD.yaml LIBRARY [test ...]
"""
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

TOOL = SOURCE = LIBRARY = ""

# Words that are right, (words that are wrong, a part of what is said).
COMMANDS = {
    "": ([], [([], "SUBCOMMAND is missing")]),
    "run": (["MODEL"], [([], "MODEL.neff is missing"), (["MODEL", "b"], "unexpected argument b"),
                        (["MODEL", "--fill=fives"], "--fill=fives: expected zeros"),
                        (["MODEL", "-n0"], "--executions=0: expected a number from 1"),
                        (["MODEL", "--seed", "x"], "--seed=x: expected a number"),
                        (["MODEL", "--input", "a"], "--input=a: expected NAME=WHAT"),
                        (["MODEL", "--input", "none=ones"], "no input named 'none'"),
                        (["MODEL", "--compare", "none=f"], "no output and the command no dump"),
                        (["MODEL", "--verify=nonsense"], "--verify")]),
    "config": (["exec"], []),
    "config check": (["SETTINGS"], [([], "FILE is missing")]),
    "plugins": ([], [(["word"], "unexpected argument word")]),
    "isa": ([], [(["word"], "unexpected argument word"),
                 (["--json", "--summary"], "one option at most")]),
    "link": (["--undo", "/nonexistent/lib"], [(["a", "b"], "unexpected argument b"),
                                              ([""], "DIRECTORY is empty")]),
    "ls": ([], [(["word"], "unexpected argument word")]),
    "top": (["--once", "--interval", "0.05"],
            [(["word"], "unexpected argument word"),
             (["--interval", "0"], "--interval=0: expected 0.05 to 86400 seconds"),
             (["--batch=-1"], "--batch=-1: expected a number from 1"),
             (["-scolour"], "--sort=colour: expected executions")]),
    "monitor": (["--count", "1", "--period=0.05"],
                [(["word"], "unexpected argument word"), (["--quiet"], "--quiet without"),
                 (["--period", "x"], "--period=x: expected 0.05 to 86400 seconds"),
                 (["-n", "0"], "--count=0: expected a number from 1"),
                 (["--prometheus=x"], "--prometheus=x: expected ADDR:PORT")]),
    "doctor": ([], [(["word"], "a program stands behind --")]),
    "exec": (["--dry-run", "TRUE"], [([], "no program to run"), (["--json", "ls"], "--dry-run"),
                                     (["--how=magic", "ls"], "--how=magic: expected nothing")]),
    "trace": (["TRACE"], [([], "FILE is missing"), (["TRACE", "b"], "unexpected argument b"),
                          (["TRACE", "--from=x"], "--from=x: expected a number"),
                          (["TRACE", "--thread", "-1"], "--thread=-1: expected a number")]),
    "neff": (None, [([], "COMMAND is missing"), (["nonsense"], "no command 'nonsense'")]),
    "neff info": (["MODEL"], [([], "MODEL.neff is missing")]),
    "neff tree": (["MODEL"], [([], "MODEL.neff is missing")]),
    "neff disasm": (["MODEL"], [([], "MODEL.neff is missing"),
                                (["MODEL", "--engine=GPU"], "--engine=GPU: expected PE"),
                                (["MODEL", "-r0:1"], "--range=0:1: expected FIRST:LAST"),
                                (["MODEL", "-tinf1"], "--target=inf1: expected sunda"),
                                (["MODEL", "-tsunda", "-ePE"], "--target reads one bare stream"),
                                (["MODEL", "--subgraph", "x"], "--subgraph=x: expected a number")]),
    "neff asm": (None, [(["a"], "an argument is missing"),
                        (["a", "b", "--target=x"], "--target=x: expected sunda")]),
    "neff verify": (["MODEL"], [([], "MODEL.neff is missing"),
                                (["MODEL", "--limit=-1"], "--limit=-1: expected a number")]),
    "neff diff": (["MODEL", "OTHER"], [(["a"], "an argument is missing"),
                                       (["a", "b", "-cx"], "--context=x: expected a number")]),
    "neff unpack": (None, [(["a"], "an argument is missing")]),
    "neff pack": (None, [(["a"], "an argument is missing")]),
    "neff build": (None, [(["a", "b", "c"], "unexpected argument c")]),
    "conform": (["--list"], [([], "PLUGIN.so is missing"), (["a", "b"], "unexpected argument b"),
                             (["a", "--json=-", "--junit=-"], "both to standard output"),
                             (["a", "--time-limit", "0"], "--time-limit=0: expected 0.1 to")]),
}
# Their output may be nothing.
SILENT = {"link", "config check"}


def strict(text):
    """As a strict parser reads it: no NaN, no Infinity, no member twice."""
    def refuse(name):
        raise ValueError(name)

    def members(pairs):
        assert len({k for k, _ in pairs}) == len(pairs), pairs
        return dict(pairs)
    return json.loads(text, parse_constant=refuse, object_pairs_hook=members)


def npy(path, values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    head += " " * (117 - len(head)) + "\n"
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() +
                     struct.pack(f"<{len(values)}f", *values))


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.scratch.name).resolve()
        cls.environment = {k: v for k, v in os.environ.items()
                           if not k.startswith(("OPENNRT_", "NEURON_", "LD_"))}
        cls.environment.update(OPENNRT_DEVICE="emulator", OPENNRT_EMULATOR_HBM_BYTES="256M",
                               LC_ALL="C.UTF-8")
        cls.model, cls.other = cls.dir / "m.neff", cls.dir / 'o "ther" é.neff'
        cls.ran("neff", "build", SOURCE, cls.model)
        text = pathlib.Path(SOURCE).read_text().replace("op=ADD", "op=MULT", 1)
        (cls.dir / "other.yaml").write_text(text)
        cls.ran("neff", "build", cls.dir / "other.yaml", cls.other)
        (cls.dir / "nrt.yaml").write_text("cc: {nop: 1}\n")
        cls.trace = cls.dir / "run.trace"
        cls.ran("run", cls.model, more={"OPENNRT_NDL_RECORD": str(cls.trace)})
        cls.names = {"MODEL": cls.model, "OTHER": cls.other, "SETTINGS": cls.dir / "nrt.yaml",
                     "TRACE": cls.trace, "TRUE": "/bin/true"}

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def run_(cls, *words, code=None, more=None, **options):
        options.setdefault("stdout", subprocess.PIPE)
        words = [w if isinstance(w, bytes) else str(w) for w in words]
        done = subprocess.run([TOOL, *words], stderr=subprocess.PIPE, text=True, errors="replace",
                              cwd=cls.dir, env={**cls.environment, **(more or {})}, timeout=120,
                              stdin=subprocess.DEVNULL, **options)
        if code is not None:
            assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done

    @classmethod
    def ran(cls, *words, code=0, more=None):
        return cls.run_(*words, code=code, more=more).stdout

    def words(self, command, words):
        return [*command.split(), *(self.names.get(w, w) for w in words)]

    def wrong(self, command, words):
        done = self.run_(*self.words(command, words), code=2)
        with self.subTest(command=command, words=words):
            name = f"opennrt {command}".strip()
            self.assertEqual(done.stdout, "")
            lines = done.stderr.splitlines()
            self.assertTrue(any(x.startswith(f"{name}: ") for x in lines), done.stderr)
            self.assertTrue(any(x.startswith(f"usage: {name}") for x in lines), done.stderr)
        return done.stderr

    # --- words

    def test_subcommands_are_all_here(self):
        listed = re.findall(r"^  ([a-z]+)  ", self.ran("help"), re.M)
        self.assertEqual({c.split()[0] for c in COMMANDS if c} | {"emu"}, set(listed))
        below = re.findall(r"^  ([a-z]+)  ", self.ran("neff", "--help"), re.M)
        self.assertEqual({c.split()[1] for c in COMMANDS if c.startswith("neff ")}, set(below))

    def test_a_misspelt_subcommand(self):
        self.assertIn("did you mean run?", self.run_("rnu", code=2).stderr)
        self.assertNotIn("did you mean", self.run_("nosuch", code=2).stderr)

    def test_the_command_itself_is_no_client(self):
        """It has to start whatever libnrt is in the way."""
        needed = subprocess.run(["ldd", TOOL], capture_output=True, text=True, check=True)
        self.assertIn("libc.so", needed.stdout)
        self.assertNotIn("libnrt", needed.stdout)

    def test_help(self):
        for command in COMMANDS:
            text = self.ran(*command.split(), "--help")
            with self.subTest(command=command):
                self.assertEqual(text, self.ran(*command.split(), "-h"))
                self.assertEqual(text, self.ran("help", *command.split()))
                self.assertTrue(text.startswith(f"usage: opennrt {command}".strip()), text)
                self.assertIn("\n-h, --help", text)
                for line in text.splitlines():
                    self.assertEqual(line, line.rstrip())
                    self.assertLessEqual(len(line), 101)
                self.assertEqual(self.run_(*command.split(), "--help").stderr, "")

    def test_what_informs_has_json(self):
        for command in COMMANDS:
            if command not in ("", "neff", "neff asm", "neff unpack", "neff pack", "neff build"):
                self.assertIn("--json", self.ran(*command.split(), "--help"), command)

    def test_wrong_words(self):
        for command, (_, cases) in COMMANDS.items():
            self.assertIn("unknown option --no-such", self.wrong(command, ["--no-such"]))
            for words, part in cases:
                self.assertIn(part, self.wrong(command, words), (command, words))

    def test_options_without_and_with_too_much_value(self):
        tried = 0
        for command in COMMANDS:
            text = self.ran(*command.split(), "--help").split("\n-h, --help", 1)[1]
            for short, name, value in re.findall(
                    r"^(?:-(.)\S*, )?--([a-z-]+)(?:(=[A-Z]\S*))?(?=\s)", text, re.M):
                if name == "help":
                    continue
                tried += 1
                option = f"--{name}"
                if value:
                    self.assertIn(f"{option} needs a value", self.wrong(command, [option]))
                    self.assertIn(f"{option} needs a value", self.wrong(command, [option + "="]))
                    if short:
                        self.assertIn(f"-{short} needs a value", self.wrong(command, [f"-{short}"]))
                elif f"{option}[=" not in text:
                    self.assertIn(f"{option} takes no value", self.wrong(command, [option + "=1"]))
        self.assertGreater(tried, 50)

    def test_spellings_of_values(self):
        five = self.ran("neff", "disasm", self.model, "--engine=DVE", "--range=3:3")
        for words in (["--engine", "DVE", "--range", "3:3"], ["-eDVE", "-r3:3"],
                      ["-e", "dve", "-r", "3"], ["-e=DVE", "-r=3"]):
            self.assertEqual(self.ran("neff", "disasm", *words, self.model), five)
            self.assertEqual(self.ran("neff", "disasm", *words, "--", self.model), five)
        calls = self.ran("trace", self.trace, "--request=MEM_COPY64", "--request", "open")
        self.assertEqual(calls, self.ran("trace", "-rmem_copy64", "-r", "OPEN", self.trace))
        self.assertIn("MEM_", calls + self.ran("trace", self.trace))

    def test_completion(self):
        completion = pathlib.Path(SOURCE).parents[2] / "packaging/completion/opennrt"
        script = f""". '{completion}'
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _opennrt 2>/dev/null
            printf '%s\\n' "${{COMPREPLY[@]}}" """
        path = f"{os.path.dirname(TOOL)}:{os.environ['PATH']}"

        def offered(*words):
            done = subprocess.run(["bash", "-c", script, "bash", "opennrt", *words], text=True,
                                  capture_output=True, timeout=60, check=False,
                                  env={**self.environment, "PATH": path})
            return set(done.stdout.split())

        for command in COMMANDS:
            if command and command != "neff":
                self.assertIn(command.split()[-1],
                              offered(*command.split()[:-1], command.split()[-1][:2]), command)
            text = self.ran(*command.split(), "--help").split("\n-h, --help", 1)[1]
            options = set(re.findall(r"^(?:-\S+ )?(--[a-z-]+)", text, re.M)) | {"--help"}
            if command:
                self.assertLessEqual(options, offered(*command.split(), "--"), command)
        self.assertNotIn("--changed", offered("config", "check", "--"))
        self.assertIn("exec.timeout_s", offered("config", "exec.t"))

    # --- output that fails

    def test_output_that_fails(self):
        for command, (words, _) in COMMANDS.items():
            calls = [[*command.split(), "--help"]]
            if words is not None and command not in SILENT and command:
                calls.append(self.words(command, words))
            for call in calls:
                with self.subTest(call=call), open("/dev/full", "w", encoding="utf-8") as full:
                    done = self.run_(*call, stdout=full)
                    self.assertEqual(done.returncode, 2 if command == "neff diff" else 1)
                    self.assertEqual(done.stderr.count("standard output: cannot write"), 1,
                                     done.stderr)
                reader, writer = os.pipe()
                os.close(reader)
                with self.subTest(call=call, pipe="closed"), os.fdopen(writer, "w") as closed:
                    done = self.run_(*call, stdout=closed)
                    if command in ("top", "monitor") and call[-1] != "--help":
                        self.assertEqual((done.returncode, done.stderr.count("cannot write")),
                                         (0, 0))
                    else:
                        self.assertEqual(done.returncode, 2 if command == "neff diff" else 1)
                        self.assertIn("standard output: cannot write", done.stderr)

    def test_exec_leaves_the_programs_pipes_alone(self):
        words = ["sh", "-c", "kill -PIPE $$; echo alive"]
        self.assertEqual(self.run_("exec", "--", *words).returncode, -13)
        # This process ignores it, which children of it inherit.
        done = self.run_("exec", "--", *words, restore_signals=False)
        self.assertEqual((done.returncode, done.stdout), (0, "alive\n"))

    # --- JSON

    def test_json_of_run(self):
        npy(self.dir / "two.npy", [2.0] * 256000)
        done = self.run_("run", self.model, "--fill=ones", "-n", "7", "--output-dir", "out", "--json",
                         "-i", "b=ones", "--compare", "out=two.npy,rtol=0,atol=0", "--verify",
                         "--break=DVE:3", "--dump=t=sbuf:0:16000+8:float32", "--dump-dir=d", code=0)
        data = strict(done.stdout)
        self.assertIs(data["good"], True)
        self.assertIsNone(data["error"])
        self.assertEqual(data["device"], "sunda")
        self.assertRegex(data["product"], r"^trn1\.")
        self.assertIn(f"OPENNRT_EMULATOR_PRODUCT={data['product']} ", done.stderr)
        set_ = self.run_("run", self.model, "--json", more={"OPENNRT_EMULATOR_PRODUCT":
                                                            "trn1.2xlarge"})
        self.assertEqual(strict(set_.stdout)["product"], "trn1.2xlarge")
        self.assertEqual(data["model"], str(self.model))
        tensor = {"dtype": "float32", "shape": [256000], "bytes": 1024000}
        self.assertEqual(sorted(data["tensors"], key=lambda t: t["name"]),
                         [{"usage": "input", "name": "a", **tensor, "source": "ones"},
                          {"usage": "input", "name": "b", **tensor, "source": "ones"},
                          {"usage": "output", "name": "out", **tensor, "source": None}])
        times = data["latency_us"]
        self.assertEqual(times.pop("count"), 7)
        self.assertEqual(list(times), ["min", "p50", "p90", "p99", "max"])
        self.assertEqual(list(times.values()), sorted(times.values()))
        self.assertGreater(times["min"], 0)
        self.assertEqual(data["outputs"], [{"name": "out", "file": "out/out.npy"}])
        self.assertTrue((self.dir / "out/out.npy").exists())
        self.assertEqual(data["dumps"], [{"name": "t", "break": "DVE:3",
                                          "dump": "sbuf:0:16000+8:float32", "file": "d/t.npy",
                                          "reason": None}])
        self.assertEqual(data["comparisons"],
                         [{"name": "out", "file": "two.npy", "match": True, "elements": 256000,
                           "mismatches": 0, "non_finite_mismatches": 0, "rtol": 0, "atol": 0,
                           "max_abs_error": 0, "max_rel_error": 0, "first": None, "worst": None}])
        self.assertEqual(data["verify"], {"checks": "all", "findings": 0})

    def test_json_of_a_run_that_differs(self):
        values = [2.0] * 256000
        values[5], values[9], values[17] = 3.0, math.nan, math.inf
        npy(self.dir / 'x"y\\é.npy', values)
        data = strict(self.ran("run", self.model, "--fill=ones", "-j",
                               "--compare", 'out=x"y\\é.npy', code=1))
        self.assertIs(data["good"], False)
        result = data["comparisons"][0]
        self.assertEqual(result["file"], 'x"y\\é.npy')
        self.assertEqual((result["match"], result["mismatches"], result["non_finite_mismatches"]),
                         (False, 3, 2))
        self.assertEqual(result["first"], {"index": 5, "value": 2, "reference": 3})
        self.assertEqual(result["max_abs_error"], 1)
        self.assertEqual(result["worst"]["value"], 2)

    def test_json_of_a_run_with_nan(self):
        npy(self.dir / "nan.npy", [math.nan] * 256000)
        data = strict(self.ran("run", self.model, "--fill=ones", "-j",
                               "--compare", "out=nan.npy", code=1))
        self.assertEqual(data["comparisons"][0]["first"], {"index": 0, "value": 2,
                                                           "reference": None})

    def test_json_of_a_run_that_fails(self):
        (self.dir / "cut.neff").write_bytes(self.model.read_bytes()[:5000])
        for words, part in ((["cut.neff"], "nrt_load failed"), (["none.neff"], "none.neff"),
                            ([self.model, "--output-dir=/proc/no"], "--output-dir=/proc/no"),
                            ([self.model, "-i", "a=/no/file"], "/no/file")):
            done = self.run_("run", "--json", *words, code=1)
            data = strict(done.stdout)
            self.assertIs(data["good"], False)
            self.assertIn(part, data["error"])
            self.assertIn(data["error"], done.stderr)
            self.assertIsNone(data["latency_us"])
        data = strict(self.ran("run", "--json", self.model, "--break=DVE:3@9", "--dump=a=var:a",
                               code=1))
        self.assertIsNone(data["dumps"][0]["file"])
        self.assertIn("never reached", data["dumps"][0]["reason"])
        self.assertIsNotNone(data["latency_us"])

    def test_json_of_findings(self):
        text = pathlib.Path(SOURCE).read_text()
        wait = "TENSOR_TENSOR_ARITH_OP wait=SEM_GE_IMM(9) update=SEM_INC_COMPLETE(6) value=16"
        self.assertIn(wait, text)
        (self.dir / "race.yaml").write_text(
            text.replace(wait, "TENSOR_TENSOR_ARITH_OP update=SEM_INC_COMPLETE(6)", 1))
        self.ran("neff", "build", "race.yaml", "race.neff")
        data = strict(self.ran("run", "race.neff", "--json", "--verify=races", code=1))
        self.assertEqual(data["verify"]["checks"], "races")
        self.assertGreater(data["verify"]["findings"], 0)
        said = self.ran("run", "race.neff", "--verify=races", code=1)
        self.assertIn(f"verify: {data['verify']['findings']} finding", said)

    def test_json_of_plugins(self):
        text = self.ran("plugins")
        data = strict(self.ran("plugins", "--json"))
        self.assertEqual(data["problems"], [])
        rows = [line.split() for line in text.splitlines() if not line.startswith(" ")]
        self.assertEqual([[p["verdict"], p["kind"], p["name"], p["version"], p["manifest"]]
                          for p in data["plugins"]], rows)
        by_name = {p["name"]: p for p in data["plugins"]}
        self.assertEqual([by_name[n]["arch_type"] for n in ("sunda", "cayman", "mariana")],
                         [2, 3, 4])
        self.assertIsNone(by_name["emulator"]["arch_type"])
        self.assertTrue(os.path.exists(by_name["sunda"]["library"]))
        self.assertIn(os.path.dirname(by_name["sunda"]["manifest"]), data["directories"])
        (self.dir / "plugins").mkdir()
        (self.dir / 'plugins/b"ad.plugin.yaml').write_text("kind: [\n")
        done = self.run_("plugins", "--json", code=1, more={
            "OPENNRT_PLUGIN_PATH": f"{self.dir}/plugins:/no/such"})
        data = strict(done.stdout)
        bad = [p for p in data["plugins"] if p["verdict"] == "refused"]
        self.assertEqual([p["manifest"] for p in bad], [f'{self.dir}/plugins/b"ad.plugin.yaml'])
        self.assertIsNone(bad[0]["name"])
        self.assertTrue(bad[0]["reason"])
        self.assertEqual(len(data["problems"]), 1)
        self.assertIn("/no/such", data["problems"][0])
        self.assertIn(data["problems"][0], done.stderr)

    def test_json_of_link(self):
        place = self.dir / 'v "é"' / "lib"
        data = strict(self.ran("link", "--json", place))
        self.assertEqual(data["directory"], str(place))
        self.assertEqual(os.path.realpath(data["library"]), os.path.realpath(LIBRARY))
        made = [str(place.parent), str(place), f"{place}/libnrt.so.1", f"{place}/libnrt.so"]
        self.assertEqual(data["made"], made)
        self.assertEqual(strict(self.ran("link", "-j", place))["made"], [])
        data = strict(self.ran("link", "--undo", "--json", place))
        self.assertEqual(sorted(data["removed"]), sorted(made))
        self.assertFalse(place.parent.exists())
        done = self.run_("link", "--undo", "--json", place, code=1)
        self.assertEqual(done.stdout, "")

    def test_json_of_tree(self):
        data = strict(self.ran("neff", "tree", "--json", self.model))
        self.ran("neff", "unpack", self.model, "unpacked")
        files = {str(p.relative_to(self.dir / "unpacked")): p.stat().st_size
                 for p in (self.dir / "unpacked").rglob("*")
                 if p.is_file() and p.name != "neff-header.bin"}
        self.assertEqual({m["name"]: m["bytes"] for m in data["members"]}, files)

    def test_json_of_disasm(self):
        lines = [strict(x) for x in self.ran("neff", "disasm", "-j", self.model).splitlines()]
        text = self.ran("neff", "disasm", self.model)
        records = [line for line in text.splitlines() if "  # " in line]
        self.assertEqual([f"{x['text']}  # {x['record']}" for x in lines], records)
        self.assertEqual({x["target"] for x in lines}, {"sunda"})
        self.assertEqual({x["subgraph"] for x in lines}, {"sg00"})
        if not (self.dir / "unpacked2").exists():
            self.ran("neff", "unpack", self.model, "unpacked2")
        streams = {}
        for x in lines:
            self.assertEqual(x["instruction"], x["text"].split(" ")[0])
            streams.setdefault(x["member"], bytearray()).extend(bytes.fromhex(x["bytes"]))
        self.assertEqual(len(streams), 5)
        for member, content in streams.items():
            self.assertEqual((self.dir / "unpacked2" / member).read_bytes(), content)
        one = [strict(x) for x in self.ran("neff", "disasm", "-j", "-eDVE", "-r2:3",
                                           self.model).splitlines()]
        self.assertEqual([(x["engine"], x["record"]) for x in one], [("DVE", 2), ("DVE", 3)])
        (self.dir / "cut.bin").write_bytes((self.dir / "unpacked2/sg00/DVE.bin").read_bytes()[:70])
        self.ran("neff", "disasm", "--json", "--target=sunda", "cut.bin", "--output=cut.jsonl")
        bare = [strict(x) for x in (self.dir / "cut.jsonl").read_text().splitlines()]
        self.assertEqual(len(bare), 2)
        self.assertNotIn("engine", bare[0])
        self.assertEqual((bare[1]["rest"], len(bare[1]["bytes"])), (True, 12))

    def test_json_of_diff(self):
        same = strict(self.ran("neff", "diff", "--json", self.model, self.model))
        self.assertEqual(same, {"first": str(self.model), "second": str(self.model),
                                "differences": []})
        data = strict(self.ran("neff", "diff", "-j", self.model, self.other, code=1))
        self.assertEqual(data["second"], str(self.other))
        text = self.ran("neff", "diff", self.model, self.other, "--context=0", code=1)
        found = {d["what"]: d for d in data["differences"]}
        stream = found["stream"]
        self.assertEqual((stream["subgraph"], stream["engine"], stream["first_records"],
                          stream["second_records"], stream["removed"], stream["added"]),
                         ("sg00", "DVE", 5, 5, 1, 1))
        change, = stream["changes"]
        self.assertEqual(change["first_record"], change["second_record"])
        self.assertIn(f"@@ record {change['first_record']} -> ", text)
        self.assertIn("op=ADD", change["removed"][0])
        self.assertEqual(change["added"], [change["removed"][0].replace("op=ADD", "op=MULT")])
        for d in data["differences"]:
            if d["what"] == "uuid":
                self.assertIn(f"uuid: {d['first']} -> {d['second']}\n", text)
        self.assertEqual(len([x for x in text.splitlines() if x[0] not in "-+@"]),
                         len(data["differences"]))
        # A tensor of one side only.
        text = pathlib.Path(SOURCE).read_text()
        renamed = re.sub(r"\b(name|variable): out\b", r"\1: other", text)
        self.assertNotEqual(renamed, text)
        (self.dir / "third.yaml").write_text(renamed)
        self.ran("neff", "build", "third.yaml", "third.neff")
        data = strict(self.ran("neff", "diff", "--json", self.model, "third.neff", code=1))
        outputs = {d["name"]: d for d in data["differences"] if d["what"] == "output"}
        tensor = "float32[256000] 1024000 bytes"
        self.assertEqual(outputs, {
            "out": {"what": "output", "name": "out", "first": tensor, "second": None},
            "other": {"what": "output", "name": "other", "first": None, "second": tensor}})

    def test_json_of_names_that_need_care(self):
        name = 'q"u\\o\tté'
        self.ran("neff", "unpack", self.model, "named")
        self.ran("neff", "pack", "named", name + ".neff", "--name", name)
        data = strict(self.ran("neff", "diff", "--json", self.model, name + ".neff", code=1))
        self.assertEqual(data["differences"],
                         [{"what": "name", "first": "vecadd.neff", "second": name}])
        self.assertEqual(strict(self.ran("neff", "tree", "-j", name + ".neff"))["file"],
                         name + ".neff")
        self.assertEqual(strict(self.ran("neff", "info", "-j", name + ".neff"))["name"], name)
        data = strict(self.ran("run", "-j", name + ".neff", "-o", name))
        self.assertEqual((data["model"], data["outputs"][0]["file"]),
                         (name + ".neff", name + "/out.npy"))
        # Bytes that are no text.
        odd = os.fsencode(self.dir) + b"/n\xff"
        data = strict(self.run_("run", "-j", odd, code=1).stdout)
        self.assertTrue(data["model"].endswith("/n\ufffd"), data["model"])

    def test_json_of_trace(self):
        lines = [strict(x) for x in self.ran("trace", "--json", self.trace).splitlines()]
        text = self.ran("trace", self.trace)
        attaches = [x for x in lines if "call" not in x]
        calls = [x for x in lines if "call" in x]
        self.assertEqual(len(attaches), text.count("attach "))
        self.assertTrue(all(a["ended"] for a in attaches))
        rows = [r.split() for r in text.splitlines() if not r.startswith("attach ")]
        self.assertEqual([(str(c["sequence"]), f"t{c['thread']}", str(c["at_us"]),
                           str(c["took_us"])) for c in calls], [tuple(r[:4]) for r in rows])
        opened = [c for c in calls if c["call"] == "open"]
        self.assertTrue(any(c["given"]["path"] == "/dev/neuron0" for c in opened))
        summary = strict(self.ran("trace", "--json", "--summary", self.trace))
        counted = {}
        for c in calls:
            if c["call"] != "mem":
                row = counted.setdefault(c["call"], [0, 0, 0, 0])
                row[0] += 1
                row[1] += (c["result"] or 0) < 0
                row[2] += c["took_us"]
                row[3] = max(row[3], c["took_us"])
        self.assertEqual({c["call"]: [c["count"], c["errors"], c["total_us"], c["max_us"]]
                          for c in summary["calls"]}, counted)
        self.assertEqual(summary["all"]["count"], sum(r[0] for r in counted.values()))
        self.assertAlmostEqual(summary["all"]["mean_us"],
                               summary["all"]["total_us"] / summary["all"]["count"])

    def test_json_of_the_others(self):
        for words in (["config"], ["isa"], ["ls"], ["top", "--once", "--interval=0.05"],
                      ["monitor", "--count=1", "--period=0.05"], ["exec", "--dry-run", "/bin/true"],
                      ["neff", "info", self.model], ["neff", "verify", self.model]):
            at = 2 if words[0] == "neff" else 1
            done = self.run_(*words[:at], "--json", *words[at:])
            self.assertIn(done.returncode, (0, 1), done.stderr)
            strict(done.stdout)
        strict(self.run_("doctor", "--json").stdout)
        self.assertEqual(strict(self.ran("config", "check", "--json", "nrt.yaml"))[0]["severity"],
                         "note")
        isa = strict(self.ran("isa", "--json"))
        self.assertEqual(sum(i["executes"] for i in isa["instructions"]), isa["executes"])


if __name__ == "__main__":
    TOOL, SOURCE, LIBRARY = (os.path.abspath(p) for p in sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
