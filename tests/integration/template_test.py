# SPDX-License-Identifier: Apache-2.0
"""A backend from the installed files alone: installs the build into a temporary
prefix, hides the source tree and the build, and there builds, tests, installs,
packs and runs the template. Arguments: cmake, source tree, build directory.
The last line of the output is the figure for the acceptance script."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT_S = 300


def hidden(source, build):
    """A command prefix under which neither tree is visible, or None."""
    trees = [source] if build.is_relative_to(source) else [source, build]
    mounts = " && ".join(f"mount -t tmpfs none '{tree}'" for tree in trees)
    for options in (["-m"], ["-U", "-r", "-m"]):
        command = ["unshare", *options, "sh", "-c", f'{mounts} && exec "$@"', "sh"]
        seen = subprocess.run([*command, "test", "-e", str(source / "CMakeLists.txt")],
                              capture_output=True, check=False)
        if seen.returncode == 1 and not seen.stderr:
            return command
    return None


class Scene:
    def __init__(self, scratch, prefix_command):
        self.scratch = scratch
        self.prefix_command = prefix_command
        # Nothing but the installation itself tells where things are.
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(("OPENNRT_", "NEURON_", "LD_", "CMAKE_"))}
        self.environment.update(OPENNRT_DEVICE="emulator", OPENNRT_EMULATOR_HBM_BYTES="256M",
                                PATH="/usr/bin:/bin")

    def run(self, *command, outside=False, **environment):
        command = [str(word) for word in command]
        done = subprocess.run([] + ([] if outside else self.prefix_command) + command,
                              env=self.environment | environment, cwd=self.scratch, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        print("$", *command, f"-> {done.returncode}\n{done.stdout}", flush=True)
        assert done.returncode == 0, command
        return done.stdout


def main(cmake, source, build):
    source, build = Path(source).resolve(), Path(build).resolve()
    ctest, cpack = Path(cmake).with_name("ctest"), Path(cmake).with_name("cpack")
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory).resolve()
        prefix = scratch / "prefix"
        way = hidden(source, build)
        scene = Scene(scratch, way or [])
        scene.run(cmake, "--install", build, "--prefix", prefix, outside=True)
        shutil.copy(build / "examples" / "vecadd.neff", scratch / "sunda.neff")
        template = scratch / "aurora"
        shutil.copytree(prefix / "share" / "opennrt" / "template", template)

        # What the development files say about the trees they were made from.
        for file in (prefix / "share" / "opennrt").rglob("*"):
            assert not file.is_file() or str(source).encode() not in file.read_bytes(), file
        for file in [*prefix.rglob("*.cmake"), *prefix.rglob("*.pc")]:
            assert str(source) not in file.read_text() and str(build) not in file.read_text(), file

        start = time.monotonic()
        out = template / "build"
        scene.run(cmake, "-S", template, "-B", out, f"-DCMAKE_PREFIX_PATH={prefix}",
                  "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_C_FLAGS=-Werror")
        scene.run(cmake, "--build", out)
        elapsed = time.monotonic() - start
        assert elapsed < LIMIT_S, f"{elapsed:.0f} s"
        for entry in json.loads((out / "compile_commands.json").read_text()):
            assert str(source) not in entry["command"] and str(build) not in entry["command"]
        tests = scene.run(ctest, "--test-dir", out, "--output-on-failure")
        assert "100% tests passed" in tests and "No tests were found" not in tests

        # pkg-config alone is enough to compile a plugin.
        if shutil.which("pkg-config"):
            scene.run("sh", "-c", "cc -std=c11 -fsyntax-only -DAURORA_VERSION='\"1\"' "
                      "$(pkg-config --cflags opennrt-plugin) aurora/src/*.c",
                      PKG_CONFIG_PATH=next(prefix.rglob("pkgconfig")))

        # Installed beside the others it needs no setting but the product.
        scene.run(cmake, "--install", out, "--prefix", prefix)
        tool = prefix / "bin" / "opennrt"
        rows = [line.split() for line in scene.run(tool, "plugins").splitlines()]
        aurora = [row for row in rows if row[:1] == ["selected"] and "aurora" in row]
        assert len(aurora) == 1 and aurora[0][-1].startswith(str(prefix)), rows
        chosen = {"OPENNRT_EMULATOR_PRODUCT": "aurora.large"}
        model = out / "vecadd.neff"
        ran = scene.run(tool, "run", model, "--fill", "ones", "--output-dir", "out", **chosen)
        assert "latency us" in ran
        values = (scratch / "out" / "out.npy").read_bytes()[-4 * 128000:]
        assert values == b"\x00\x00\x00\x40" * 128000  # 1 + 1
        sums = scene.run(out / "run_vecadd", model, **chosen).splitlines()
        assert [s for s in sums if s.endswith("128000 sums, 0 wrong")] == sums[-3:], sums
        info = scene.run(tool, "neff", "info", model)
        assert "aurora.large" in info and "fits" in info
        scene.run(tool, "neff", "verify", model)
        assert "\n.record hex:f310" in scene.run(tool, "neff", "disasm", model)

        # The conformance kit knows nothing of it but the file.
        scene.run(tool, "conform", "--full", "--json", "conform.json", "--junit", "conform.xml",
                  out / "plugins" / "opennrt-aurora.so")
        report = json.loads((scratch / "conform.json").read_text())
        assert report["plugin"]["name"] == "aurora" and report["list"] == "full", report["plugin"]
        ended = {case["name"]: case["status"] for case in report["cases"]}
        assert report["passed"] > 60 and report["passed"] + report["skipped"] == len(ended), ended
        assert ended["ArchDevice.ComesUpAndEveryCoreAnswers"] == "passed", ended
        offered = {case["detail"] for case in report["cases"] if case["status"] == "skipped"}
        assert offered == {"not offered: driver", "not offered: fetch_start"}, offered

        # The others are as they were, and refuse what is not theirs.
        scene.run(tool, "run", "sunda.neff", "--fill", "ones",
                  OPENNRT_EMULATOR_PRODUCT="trn1.2xlarge")
        foreign = subprocess.run([*scene.prefix_command, tool, "run", str(model)], text=True,
                                 env=scene.environment | {"OPENNRT_EMULATOR_PRODUCT": "trn1.2xlarge"},
                                 capture_output=True, check=False, cwd=scratch)
        assert foreign.returncode != 0 and "built for aurora" in foreign.stdout + foreign.stderr, \
            foreign
        if shutil.which("dpkg-deb"):
            scene.run(cpack, "--config", out / "CPackConfig.cmake", "-B", scratch / "deb")
            (package,) = (scratch / "deb").glob("*.deb")
            listed = scene.run("dpkg-deb", "-c", package)
            assert "opennrt/plugins/opennrt-aurora.so" in listed and "aurora.plugin.yaml" in listed
        print(f"template built in {elapsed:.0f} s of {LIMIT_S}, tested, installed and run, "
              f"trees {'hidden' if way else 'not named in any command'}")
    return 0


sys.exit(main(*sys.argv[1:]))
