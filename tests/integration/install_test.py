# SPDX-License-Identifier: Apache-2.0
"""Installs the build into a temporary prefix and works from there.
Arguments: cmake, build directory, a model."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


CLIENT = """#include <nrt/nrt.h>
#include <stdio.h>
int main(void) {
  const NRT_STATUS status = nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
  printf("%d\\n", (int)status);
  nrt_close();
  return status != NRT_SUCCESS;
}
"""
PROJECT = """cmake_minimum_required(VERSION 3.22)
project(client C)
find_package(OpenNRT 0.1 REQUIRED COMPONENTS runtime tools)
add_executable(client client.c)
target_link_libraries(client PRIVATE OpenNRT::nrt)
"""


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
        libraries = run("ldd", str(prefix / "bin" / "opennrt-run"))
        ours = [line for line in libraries.splitlines() if "libnrt.so.1" in line]
        assert len(ours) == 1 and str(prefix) in os.path.normpath(ours[0].split()[2]), libraries
        for info in (run(str(prefix / "bin" / "opennrt-neff"), "info", model),
                     run(tool, "neff", "info", model)):
            assert "trn1.2xlarge     Trainium1    fits" in info
        ran = run(tool, "run", model, "--fill", "ones", "--output-dir", "out")
        assert "latency us" in ran and (Path(scratch) / "out" / "out.npy").exists()

        # The development files alone, then with the rest, at a place they were not
        # installed to.
        dev = Path(scratch).resolve() / "dev"
        run(cmake, "--install", build, "--prefix", str(dev), "--component", "dev")
        files = {str(f.relative_to(dev)) for f in dev.rglob("*") if f.is_file()}
        for wanted in ("include/opennrt/opennrt/arch.h", "include/opennrt/opennrt/plugin.h",
                       "include/opennrt/nrt/nrt.h", "share/opennrt/template/src/plugin.c",
                       "share/opennrt/README.md"):
            assert wanted in files, (wanted, files)
        programs = {f for f in files if ".so" in f or f.startswith("bin/")}
        assert programs == {"bin/opennrt-conform", "bin/opennrt-conform-checks"}, programs
        moved = prefix.rename(prefix.with_name("moved"))
        (Path(scratch) / "client.c").write_text(CLIENT)
        if shutil.which("pkg-config"):
            environment["PKG_CONFIG_PATH"] = str(next(moved.rglob("pkgconfig")))
            run("sh", "-c", "cc -std=c11 -Wall -Werror client.c $(pkg-config --cflags --libs opennrt)"
                " -o client && ./client")
        (Path(scratch) / "CMakeLists.txt").write_text(PROJECT)
        run(cmake, "-S", scratch, "-B", f"{scratch}/b", f"-DCMAKE_PREFIX_PATH={moved}")
        run(cmake, "--build", f"{scratch}/b")
        assert run(f"{scratch}/b/client").strip() == "0"
        absent = subprocess.run([cmake, "-S", scratch, "-B", f"{scratch}/c",
                                 f"-DCMAKE_PREFIX_PATH={dev}"], env=environment, text=True,
                                capture_output=True, check=False)
        said = " ".join(absent.stderr.split())
        assert absent.returncode != 0 and "component runtime is not installed" in said, absent
    return 0


sys.exit(main(*sys.argv[1:]))
