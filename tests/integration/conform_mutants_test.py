# SPDX-License-Identifier: Apache-2.0
"""The conformance kit notices faults: the template's plugin passes, and each copy of it
with one fault fails a case of the rule that forbids it. Arguments: opennrt-conform, the
template's folder, the folder of the SDK's headers."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Rule, file, what is there, what takes its place.
FAULTS = [
    ("any.query.major", "plugin.c", "host_major == NRTP_ARCH_ABI_MAJOR ? &kPlugin : NULL",
     "(void)host_major, &kPlugin"),
    ("any.query.pure", "plugin.c", "host_major == NRTP_ARCH_ABI_MAJOR ?",
     "host_major == NRTP_ARCH_ABI_MAJOR && host_minor < 5 ?"),
    ("any.load.own_query", "plugin.c", "NRTP_EXPORT const", "NRTP_EXPORT int extra;\nNRTP_EXPORT const"),
    ("any.process.untouched", "plugin.c", "  if (self == NULL) return NRTP_RESOURCE;\n",
     "  if (self == NULL) return NRTP_RESOURCE;\n  extern unsigned umask(unsigned);\n"
     "  umask(077);\n"),
    ("any.head.identity", "plugin.c", "NRTP_HEAD_INIT(nrtp_arch_plugin, ARCH, AURORA_VERSION)",
     '{sizeof(nrtp_arch_plugin), NRTP_MAGIC, NRTP_KIND_NDL, 1, 1, 0, "san=none;version=1", 0}'),
    ("any.head.needs", "plugin.c", "NRTP_HEAD_INIT(nrtp_arch_plugin, ARCH, AURORA_VERSION)",
     '{sizeof(nrtp_arch_plugin), NRTP_MAGIC, NRTP_KIND_ARCH, 1, 1, 9, "san=none;version=1", 0}'),
    ("any.head.accepted", "plugin.c", "    .detach = detach,\n", ""),
    ("arch.table.groups", "plugin.c", "    .detach = detach,\n", ""),
    ("arch.table.counts", "plugin.c", ".status_queue_first = 2", ".status_queue_first = 7"),
    ("arch.address.partitions", "plugin.c", ".psum_bank_bytes = 0x800", ".psum_bank_bytes = 0x400"),
    ("arch.ib.layouts", "instructions.c", ".isa = NRTP_ISA_CAYMAN", ".isa = 9"),
    ("arch.dma.broadcast", "dma.c", "AURORA_BROADCAST + core * AURORA_UDMA_STRIDE",
     "AURORA_BROADCAST"),
    ("arch.device.comes_up", "instructions.c", "    {OP_LOAD, ANY},\n", ""),
    ("any.head.build", "plugin.c", "NRTP_HEAD_INIT(nrtp_arch_plugin, ARCH, AURORA_VERSION)",
     '{sizeof(nrtp_arch_plugin), NRTP_MAGIC, NRTP_KIND_ARCH, 1, 1, 0, "aurora 1.0", 0}'),
    ("any.head.size", "plugin.c", "NRTP_HEAD_INIT(nrtp_arch_plugin, ARCH, AURORA_VERSION)",
     '{64, NRTP_MAGIC, NRTP_KIND_ARCH, 1, 1, 0, "san=none;version=1", 0}'),
    ("any.head.name", "plugin.c", '.name = "aurora"', '.name = "Aurora Borealis"'),
    ("arch.table.functions", "address.c", "    .nx_bar0 = nx_bar0,\n", ""),
    ("arch.table.names", "plugin.c", '"aurora.small", "Aurora1"', '"aurora.large", "Aurora1"'),
    ("arch.table.sync", "plugin.c", "[NRTP_SYNC_REQUEST_LOAD] = 6", "[NRTP_SYNC_REQUEST_LOAD] = 5"),
    ("arch.table.products", "plugin.c", "1, AURORA_CORES - 1,", "1, AURORA_CORES + 1,"),
    ("arch.attach.balanced", "plugin.c", "host->release(host->self, ctx);", "(void)host;"),
    ("arch.attach.arguments", "plugin.c", "  if (self == NULL) return NRTP_RESOURCE;\n", ""),
    ("arch.address.inverse", "address.c", "{0x400, 0x800, 0xC00, 0x1000}",
     "{0x400, 0x400, 0xC00, 0x1000}"),
    ("arch.address.hbm", "address.c", "return pa;", "return pa + 4096;"),
    ("arch.address.regions", "address.c", "{AURORA_MISC_RAM, AURORA_REGISTERS + AURORA_MISC_RAM,",
     "{AURORA_CORE_BLOCK + 0x10000, AURORA_REGISTERS + AURORA_MISC_RAM,"),
    ("arch.address.refuses", "address.c", "  if (event >= AURORA_EVENTS) return AURORA_NONE;\n", ""),
    ("arch.address.whole", "address.c", "AURORA_CSR_BYTES - at);", "AURORA_CSR_BYTES);"),
    ("arch.dma.registers", "dma.c", "0x3C, 0x38, AURORA_NONE", "0x38, 0x38, AURORA_NONE"),
    ("arch.dma.rings", "dma.c", "out->queue = AURORA_RUNTIME_QUEUE;", "out->queue = 3;"),
    ("arch.dma.refuses", "dma.c", "queue >= AURORA_QUEUES || ", ""),
    ("arch.dma.engines", "dma.c", "return aurora_has_core(product, core) ? core : UINT32_MAX;",
     "return aurora_has_core(product, core) ? 0 : UINT32_MAX;"),
    ("arch.ib.forms", "instructions.c", ".block_align = {0x8000,", ".block_align = {0x7000,"),
    ("arch.ib.step", "instructions.c", "return append_write(out, nx + AURORA_NX_QUEUES, 0);",
     "return append_write(out, 0x600000000000, 0);"),
    ("arch.ib.room", "instructions.c",
     "  if (out->cap < out->len || out->cap - out->len < kRecord) return NULL;\n", ""),
    ("arch.ib.refuses", "instructions.c", "env->engine >= AURORA_ENGINES || ", ""),
    ("arch.validator.takes", "instructions.c", "    {OP_NOP, ANY},\n", ""),
    ("arch.validator.executable", "instructions.c", 'reason = "no instruction of aurora";',
     "reason = NULL;"),
    ("arch.validator.explains", "instructions.c",
     'snprintf(out->msg, sizeof out->msg, "%s", reason);', "(void)reason;"),
    ("arch.validator.refuses", "instructions.c", " || bytes % kRecord != 0)\n", ")\n"),
    ("arch.validator.branches", "instructions.c", "target < 0 || ", ""),
    ("arch.validator.robust", "instructions.c", "static int check_record(uint32_t engine, const "
     "uint8_t* in, uint32_t slot, nrtp_diag* out) {\n", "static int check_record(uint32_t engine, "
     "const uint8_t* in, uint32_t slot, nrtp_diag* out) {\n  if (((const volatile uint8_t*)in)[64] "
     "== 77) return NRTP_INVALID;\n"),
    ("arch.semantics.refuses", "semantics.c", "    view->explain(view->self, wrong);\n", ""),
    ("arch.validator.runtime", "instructions.c", "    {OP_DRAIN, ANY},\n", ""),
    ("arch.semantics.record", "semantics.c", "i < 64; ++i)", "i <= 64; ++i)"),
    ("arch.step.targets", "instructions.c", "nx_device(env->product, env->core, env->engine)",
     "nx_device(env->product, 0, env->engine)"),
    ("arch.timing.figures", "plugin.c", '{"hbm_gb_per_s", 400}', '{"hbm_gb_per_s", 0}'),
    ("arch.dma.limits", "dma.c", "    .max_tx_per_packet = 64,\n", ""),
    ("arch.calls.buffers", "dma.c",
     "  if (capacity < AURORA_MODEL_QUEUES) return NRTP_RESOURCE;\n", ""),
    ("arch.calls.lasting", "address.c", "return product != NULL ? kRegions : NULL;",
     "nrtp_csr_region own[kRegionCount];\n  const nrtp_csr_region* volatile first = own;\n"
     "  memcpy(own, kRegions, sizeof own);\n  return product != NULL ? first : NULL;"),
    ("arch.calls.threads", "instructions.c",
     'snprintf(out->msg, sizeof out->msg, "%s", reason);',
     'extern int sched_yield(void);\n    static char text[128];\n'
     '    snprintf(text, sizeof text, "aurora: %s", reason);\n    sched_yield();\n'
     '    memcpy(out->msg, text, sizeof text);'),
    ("arch.threads.pure", "address.c",
     "  return AURORA_TILE + core * AURORA_TILE_STRIDE + local;\n",
     "  extern int sched_yield(void);\n  static volatile uint64_t kept;\n"
     "  kept = AURORA_TILE + core * AURORA_TILE_STRIDE + local;\n  sched_yield();\n"
     "  return kept;\n"),
]

# It has none of their groups or no manifest, or nothing of it can break them without not
# loading.
UNTRIED = {"any.load.opens", "any.manifest.agrees", "arch.manifest.type", "arch.hal.start",
           "arch.hal.silicon", "arch.hal.refuses", "arch.driver.facts", "arch.driver.board"}


class Scene:
    def __init__(self, conform, template, include, scratch):
        self.conform, self.include, self.scratch = conform, include, scratch
        self.template = template

    def build(self, file=None, old=None, new=None):
        source = self.scratch / "src"
        shutil.rmtree(source, ignore_errors=True)
        shutil.copytree(self.template / "src", source)
        if file:
            text = (source / file).read_text()
            assert text.count(old) == 1, f"{file} holds {old!r} {text.count(old)} times"
            (source / file).write_text(text.replace(old, new))
        library = self.scratch / "aurora.so"
        subprocess.run(["cc", "-std=c11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-w",
                        '-DAURORA_VERSION="1.0"', f"-I{self.include}", *sorted(source.glob("*.c")),
                        "-o", library], check=True)
        return library

    def run(self, library, *options):
        report = self.scratch / "report.json"
        report.unlink(missing_ok=True)
        done = subprocess.run([self.conform, "--full", "--time-limit", "60", "--json", report,
                               *options, library], text=True, capture_output=True, check=False,
                              env={k: v for k, v in os.environ.items() if k != "OPENNRT_CONFIG"})
        cases = json.loads(report.read_text())["cases"]
        bad = [c for c in cases if c["status"] not in ("passed", "skipped")]
        assert bool(bad) == (done.returncode == 1), (done.returncode, done.stderr)
        return cases, bad


def main(conform, template, include):
    with tempfile.TemporaryDirectory() as directory:
        scene = Scene(conform, Path(template), include, Path(directory))
        cases, bad = scene.run(scene.build())
        assert not bad and len(cases) > 60, bad
        tried = {c["rule"] for c in cases}
        missed = []
        for rule, *fault in FAULTS:
            assert rule in tried, rule
            _, bad = scene.run(scene.build(*fault), "--filter", rule)
            said = ", ".join(f"{c['name']} {c['status']}" for c in bad)
            print(f"{rule}: {said or 'NOT NOTICED'}", flush=True)
            if not bad or any(c["rule"] != rule for c in bad):
                missed.append(rule)
        assert not missed, missed
        untried = tried - {rule for rule, *_ in FAULTS} - UNTRIED
        assert not untried, f"no fault breaks {untried}"
        print(f"{len(FAULTS)} faults noticed")


main(*sys.argv[1:])
