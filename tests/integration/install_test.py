# SPDX-License-Identifier: Apache-2.0
"""Installs the build into a temporary prefix and works from there.
Arguments: cmake, build directory, a model."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main(cmake, build, model):
    with tempfile.TemporaryDirectory() as scratch:
        prefix = Path(scratch).resolve() / "prefix"
        # Nothing but the installation itself tells where things are.
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith(("OPENNRT_", "NEURON_", "LD_"))}
        environment.update(OPENNRT_DEVICE="emulator", OPENNRT_EMULATOR_HBM_BYTES="256M",
                           PATH="/usr/bin:/bin")

        def run(*command):
            done = subprocess.run(command, env=environment, cwd=scratch, text=True,
                                  capture_output=True, check=False)
            print("$", *command, f"-> {done.returncode}\n{done.stdout}{done.stderr}")
            assert done.returncode == 0, command
            return done.stdout

        run(cmake, "--install", build, "--prefix", str(prefix))
        tool = str(prefix / "bin" / "opennrt")
        listed = run(tool, "plugins")
        selected = [line.split() for line in listed.splitlines() if line.startswith("selected")]
        assert {"sunda", "cayman", "mariana", "ndl-kernel", "emulator"} <= {s[2] for s in selected}
        for line in selected:
            assert line[-1].startswith(str(prefix)), line
        libraries = run("ldd", tool)
        ours = [line for line in libraries.splitlines() if "libnrt.so.1" in line]
        assert len(ours) == 1 and str(prefix) in os.path.normpath(ours[0].split()[2]), libraries
        for info in (run(str(prefix / "bin" / "opennrt-neff"), "info", model),
                     run(tool, "neff", "info", model)):
            assert "trn1.2xlarge     Trainium1    fits" in info
        ran = run(tool, "run", model, "--fill", "ones", "--output-dir", "out")
        assert "latency us" in ran and (Path(scratch) / "out" / "out.npy").exists()
    return 0


sys.exit(main(*sys.argv[1:]))
