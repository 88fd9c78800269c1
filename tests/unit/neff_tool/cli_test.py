#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program opennrt-neff as a user runs it: exit codes, output, bad input.

usage: cli_test.py OPENNRT_NEFF VECADD.yaml
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = SOURCE = ""


def run(*args, code=0, cwd=None, **options):
    options.setdefault("stdout", subprocess.PIPE)
    done = subprocess.run([TOOL, *map(str, args)], stderr=subprocess.PIPE, text=True, cwd=cwd,
                          timeout=60, **options)
    assert done.returncode == code, (args, done.returncode, done.stdout, done.stderr)
    return done


class NeffCommand(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.folder.name)
        self.model = self.dir / "vecadd.neff"
        run("build", SOURCE, self.model)

    def tearDown(self):
        self.folder.cleanup()

    def files(self):
        return sorted(p.name for p in self.dir.iterdir())

    def test_wrong_arguments(self):
        for args in ([], ["nonsense"], ["info"], ["info", "a", "b"], ["info", "--xml", "a"],
                     ["disasm", self.model, "--engine=GPU"], ["disasm", self.model, "--range=0:1"],
                     ["disasm", self.model, "--range=5:2"], ["disasm", self.model, "--range="],
                     ["disasm", self.model, "--range=:"],
                     ["disasm", self.model, "--target=inf1"], ["asm", "x"], ["pack", "d"],
                     ["verify", self.model, "--limit=-1"], ["diff", self.model],
                     ["help", "nonsense"], ["disasm", self.model, "--subgraph=x"]):
            done = run(*args, code=2)
            self.assertEqual(done.stdout, "")
            self.assertIn("usage:", done.stderr)

    def test_help(self):
        self.assertIn("unpack", run("--help").stdout)
        for name in ("info", "tree", "disasm", "asm", "verify", "diff", "unpack", "pack", "build"):
            text = run("help", name).stdout
            self.assertIn(f"usage: opennrt neff {name} ", text)
            self.assertEqual(text, run(name, "--help").stdout)

    def test_info(self):
        text = run("info", self.model).stdout
        for part in ("target     sunda", "hash       matches", '"a"  float32[', "qSPLoad0"):
            self.assertIn(part, text)
        data = json.loads(run("info", "--json", self.model).stdout)
        self.assertEqual(data["target"], "sunda")
        self.assertTrue(data["hash_matches"])
        self.assertEqual(sorted(t["name"] for t in data["inputs"]), ["a", "b"])
        self.assertEqual(data["outputs"][0]["bytes"], 1024000)
        graph = data["subgraphs"][0]
        self.assertEqual(graph["engines"]["DVE"]["instructions"]["TENSOR_TENSOR_ARITH_OP"], 2)
        self.assertEqual(sum(q["blocks"] for q in graph["queues"]), 6)
        self.assertEqual(sum(q["bytes_written"] for q in graph["queues"]), 3 * 1024000)

    def test_info_without_plugins(self):
        # A copy of the tool finds no plugins beside it.
        copy = self.dir / "bin" / "opennrt-neff"
        copy.parent.mkdir()
        copy.write_bytes(pathlib.Path(TOOL).read_bytes())
        copy.chmod(0o755)
        done = subprocess.run([copy, "info", self.model], capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"]})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("target     sunda", done.stdout)

    def test_info_with_plugins_below_a_colon(self):
        copy = self.dir / "a:b" / "bin" / "opennrt-neff"
        copy.parent.mkdir(parents=True)
        copy.write_bytes(pathlib.Path(TOOL).read_bytes())
        copy.chmod(0o755)
        (self.dir / "a:b" / "lib").mkdir()
        plugins = pathlib.Path(TOOL).resolve().parent.parent / "lib" / "plugins"
        (self.dir / "a:b" / "lib" / "plugins").symlink_to(plugins)
        for path in ({}, {"OPENNRT_PLUGIN_PATH": "/gone:/away"}):
            done = subprocess.run([copy, "info", "--json", self.model], capture_output=True, text=True,
                                  env={"PATH": os.environ["PATH"], **path})
            self.assertEqual(done.returncode, 0, done.stderr)
            names = [p["product"] for p in json.loads(done.stdout)["products"]]
            self.assertIn("trn1.2xlarge", names)

    def test_tree(self):
        members = json.loads(run("tree", "--json", self.model).stdout)["members"]
        kinds = {m["name"]: m["kind"] for m in members}
        self.assertEqual(kinds["neff.json"], "model manifest")
        self.assertEqual(kinds["sg00/def.json"], "subgraph definition")
        self.assertIn("instructions", kinds.values())
        self.assertIn("model manifest", run("tree", self.model).stdout)

    def test_disasm_and_asm(self):
        text = run("disasm", self.model).stdout
        listing = self.dir / "all.s"
        listing.write_text(text)
        run("asm", listing, self.dir / "streams")
        run("unpack", self.model, self.dir / "members")
        streams = [p for p in (self.dir / "streams").rglob("*") if p.is_file()]
        self.assertEqual(len(streams), 5)
        for stream in streams:
            twin = self.dir / "members" / stream.relative_to(self.dir / "streams")
            self.assertEqual(stream.read_bytes(), twin.read_bytes(), stream)
        beyond = run("disasm", self.model, "--engine=dve", "--range=6:9", code=1)
        self.assertIn("--range=6:...: the longest stream that is asked for has 5 records", beyond.stderr)
        self.assertEqual(beyond.stdout, "")
        self.assertIn("# 5", run("disasm", self.model, "--engine=dve", "--range=5:9").stdout)
        one = run("disasm", self.model, "--engine=dve", "--range", "3:3").stdout
        self.assertIn("TENSOR_TENSOR_ARITH_OP", one)
        self.assertIn("  # 3\n", one)
        self.assertNotIn("  # 2\n", one)
        run("disasm", self.model, "--engine=DVE", "--output", self.dir / "dve.s")
        run("asm", self.dir / "dve.s", self.dir / "dve.bin")
        bare = run("disasm", self.dir / "dve.bin", "--target=sunda").stdout
        self.assertIn("TENSOR_TENSOR_ARITH_OP", bare)
        run("disasm", self.model, "--subgraph=7", code=1)

    def test_asm_refuses(self):
        for text, part in (("NOP\n", "bad.s:1: no target"),
                           (".target sunda\n\nNOP wait=1\n", "bad.s:3: NOP: wait"),
                           ("", "holds no record"),
                           (".stream ../up\n.stream b\n", "bad.s:1: .stream")):
            (self.dir / "bad.s").write_text(text)
            before = self.files()
            done = run("asm", "bad.s", "out", code=1, cwd=self.dir)
            self.assertIn(part, done.stderr)
            self.assertEqual(self.files(), before)

    def test_verify(self):
        self.assertIn("0 errors, 0 warnings", run("verify", "--strict", self.model).stdout)
        longer = self.dir / "longer.neff"
        longer.write_bytes(self.model.read_bytes() + b"x")
        run("verify", longer)
        run("verify", "--strict", longer, code=1)
        damaged = bytearray(self.model.read_bytes())
        damaged[0xAC] ^= 1
        (self.dir / "damaged.neff").write_bytes(damaged)
        data = json.loads(run("verify", "--json", self.dir / "damaged.neff", code=1).stdout)
        self.assertEqual(data["errors"], 1)
        self.assertIn("MD5", data["findings"][0]["text"])
        (self.dir / "cut.neff").write_bytes(damaged[:1500])
        data = json.loads(run("verify", "--json", self.dir / "cut.neff", code=1).stdout)
        self.assertEqual([f["member"] for f in data["findings"]], ["file"])
        self.assertIn("truncated", data["findings"][0]["text"])

    def test_diff_of_an_edited_model(self):
        self.assertEqual(run("diff", self.model, self.model).stdout, "")
        run("unpack", self.model, self.dir / "m")
        run("disasm", self.model, "--engine=DVE", "--output", self.dir / "dve.s")
        text = (self.dir / "dve.s").read_text()
        stream = text.split(".stream ")[1].split("\n")[0]
        (self.dir / "dve.s").write_text(text.replace("op=ADD", "op=MULT", 1))
        run("asm", self.dir / "dve.s", self.dir / "m" / stream)
        run("pack", self.dir / "m", self.dir / "edited.neff", "--new-uuid")
        run("verify", "--strict", self.dir / "edited.neff")
        text = run("diff", self.model, self.dir / "edited.neff", code=1).stdout
        self.assertIn("uuid: ", text)
        self.assertIn("sg00: DVE: 5 -> 5 records, 1 removed, 1 added", text)
        self.assertEqual([line.count("op=ADD") for line in text.splitlines()
                          if line.startswith("-")], [1])
        self.assertEqual([line.count("op=MULT") for line in text.splitlines()
                          if line.startswith("+")], [1])
        run("diff", self.model, self.dir / "missing.neff", code=2)

    def test_pack_is_reproducible(self):
        run("unpack", self.model, self.dir / "m")
        run("pack", self.dir / "m", self.dir / "1.neff")
        os.utime(self.dir / "m" / "neff.json", (1, 1))
        run("pack", self.dir / "m", self.dir / "2.neff")
        self.assertEqual((self.dir / "1.neff").read_bytes(), (self.dir / "2.neff").read_bytes())
        run("unpack", self.model, self.dir / "m", code=1)

    def test_bad_files(self):
        whole = self.model.read_bytes()
        cases = {"empty": b"", "short": whole[:1000], "cut": whole[:1500], "text": b"x" * 5000,
                 "zeros": bytes(4096), "noise": whole[:1024] + os.urandom(len(whole) - 1024)}
        for name, content in cases.items():
            path = self.dir / name
            path.write_bytes(content)
            for command in ("info", "tree", "disasm", "verify"):
                done = run(command, path, code=1)
                self.assertIn(name, done.stderr + done.stdout)
            before = self.files()
            run("unpack", path, self.dir / "out", code=1)
            self.assertEqual(self.files(), before)
        for path in (self.dir, self.dir / "missing"):
            self.assertIn(str(path), run("info", path, code=1).stderr)

    def test_output_that_fails(self):
        with open("/dev/full", "w") as full:
            for args in (["info", self.model], ["tree", self.model], ["disasm", self.model],
                         ["verify", self.model], ["help"]):
                done = run(*args, code=1, stdout=full)
                self.assertIn("No space left on device", done.stderr)
            run("diff", self.model, self.model)  # nothing to write
        self.assertIn("No space left", run("build", SOURCE, "/dev/full", code=1).stderr)
        self.assertIn("No space left",
                      run("disasm", self.model, "--output=/dev/full", code=1).stderr)
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as closed:
            self.assertIn("Broken pipe", run("disasm", self.model, code=1, stdout=closed).stderr)


if __name__ == "__main__":
    TOOL, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0]])
