# SPDX-License-Identifier: Apache-2.0
"""The conformance kit over plugin doubles: each double fails exactly the rules that it
breaks, and each case of driver layers and ports fails when one call goes wrong.
Arguments: opennrt-conform, opennrt-conform-checks, plugin directory, directory of the
doubles."""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BEHIND = {"arch": "opennrt-sunda.so", "ndl": "opennrt-ndl-kernel.so", "port": "opennrt-emulator.so"}
BAD = {"failed", "crashed", "hung", "exited"}

# Without a table nothing else is looked at.
NO_TABLE = {"any.load.opens"}
DAMAGES = {  # OPENNRT_DOUBLE_TABLE: rules of any kind that it breaks
    "newer-minor": set(),
    "newer-major": {"any.head.identity", "any.head.accepted", "any.manifest.agrees"},
    "truncated": {"any.head.size", "any.head.accepted", "any.head.name", "any.manifest.agrees"},
    "wrong-magic": {"any.head.identity", "any.head.accepted"},
    "other-sanitizer": {"any.head.build", "any.head.accepted"},
    "needs-newer-host": {"any.head.needs", "any.head.accepted"},
    "needs-feature": {"any.head.needs", "any.head.accepted"},
    "returns-null": NO_TABLE,
}
WRONG_KIND = {"any.head.identity", "any.head.accepted", "any.manifest.agrees"}
# Kind, settings, filter, rules that fail.
PROXIES = [
    *((kind, {"TABLE": damage}, "any.*", rules) for kind in BEHIND
      for damage, rules in DAMAGES.items()),
    ("arch", {"TABLE": "wrong-kind"}, "any.*", WRONG_KIND),
    *((kind, {"TABLE": "wrong-kind"}, "any.*", WRONG_KIND | {"any.head.size"})
      for kind in ("ndl", "port")),  # tables of the kind that they claim are not that long
    # A later version of everything breaks nothing, whatever it is asked.
    *((kind, {"TABLE": "newer-minor"}, "", set()) for kind in BEHIND),
    # Nor does the version before this one.
    *((kind, {"TABLE": "previous-minor"}, "", set()) for kind in ("arch", "port")),
    ("ndl", {"HIDE": "mem.dump,pod,misc.printk"}, "", set()),
    ("ndl", {"HIDE": "sync.sem_inc"}, "any.*", {"any.head.accepted"}),
    ("ndl", {"CALLS": "sync.sem_inc:1=-5"}, "ndl.sync.*", {"ndl.sync.counts", "ndl.sync.threads"}),
    ("ndl", {"CALLS": "copy.in:2=throw"}, "ndl.copy.pieces,ndl.memory.places", {"ndl.copy.pieces"}),
    ("ndl", {"CALLS": "misc.now_us=abort"}, "ndl.time.*,ndl.share.*", {"ndl.time.monotonic"}),
    ("port", {"HIDE": "exists"}, "any.*,port.table.*", {"any.head.accepted", "port.table.members"}),
    ("port", {"HIDE": "control"}, "", set()),
    ("port", {"CALLS": "now_us:2+=0"}, "port.time.*,port.text.*", {"port.time.monotonic"}),
    ("arch", {"HIDE": "address.coretype"}, "any.*,arch.table.functions",
     {"any.head.accepted", "arch.table.functions"}),
    ("arch", {"CALLS": "address.classify:1=2"}, "arch.address.inverse,arch.table.*",
     {"arch.address.inverse"}),
    # Not taken for a port whose device is absent.
    ("port", {"CALLS": "attach:1=-5"}, "port.attach.*", {"port.attach.balanced"}),
    ("arch", {"CALLS": "attach:2=1"}, "arch.attach.balanced,arch.table.*", {"arch.attach.balanced"}),
    ("arch", {"CALLS": "ib.step=hang"}, "arch.ib.room,arch.ib.forms", {"arch.ib.room"}),
]
# Libraries that are damaged as they are.
FILES = [
    ("other-machine", NO_TABLE),
    ("ndl-no-symbol", NO_TABLE),
    ("ndl-unbound", NO_TABLE),
    ("ndl-throwing", NO_TABLE),
    ("ndl-null", NO_TABLE),
    ("ndl-newer-minor", set()),
    ("ndl-other-major", {"any.head.identity", "any.head.accepted"}),
    ("ndl-other-sanitizer", {"any.head.build", "any.head.accepted"}),
    ("ndl-missing-member", {"any.head.accepted"}),
]
# OPENNRT_DOUBLE_DOES: what a plugin does to its process breaks one rule, wherever it does so.
DEEDS = {
    "nothing": set(),
    **{deed: {"any.process.untouched"} for deed in (
        "umask", "directory", "environment", "new-variable", "no-environment", "handler",
        "ignored-signal", "signal-mask", "limit", "alarm", "standard-input", "output-mode",
        "locale", "group")},
}
PLACES = ("load", "query", "attach", "detach")
# What makes a case fail: OPENNRT_DOUBLE_CALLS, or HIDE where there is no "=".
BREAKS = {
    "NdlArguments.BoardAgreesWithTheOpenDevice": "device.board_info=0",
    "NdlArguments.MissingInputsAreRefused": "reg.write=0",
    "NdlArguments.MissingOutputsAreRefused": "device.board_info=0",
    "NdlArguments.NoMoreIsWrittenThanFits": "probe.product_name=0",
    "NdlArguments.OptionalOutputMayBeMissing": "device.open:2=-22",
    "NdlCopies.AsyncChainsArrive": "copy.copy_async=0",
    "NdlCopies.BadWaitsAreRefused": "copy.copy_wait=0",
    "NdlCopies.CopyMovesTheRangeAlone": "copy.copy=0",
    "NdlCopies.OffsetsThatWrapAreRefused": "copy.out=0",
    "NdlCopies.PiecesLandWhereTheyBelong": "copy.in:3=0",
    "NdlCopies.SetFillsTheRangeAlone": "copy.set=0",
    "NdlCopies.TheCopyBufferOfACoreStages": "mem.copy_buf=0",
    "NdlDevice.AvailableOnesOpenAndOthersDoNot": "device.open=0",
    "NdlEvents.EachIsSetAndClearedAlone": "sync.event_set=0",
    "NdlEvents.OthersAreRefused": "sync.event_get=0",
    "NdlFork.EveryMemberIsRefusedInTheChild": "probe.get_version=0",
    "NdlHandles.AClosedDeviceIsRefused": "sync.sem_inc=0",
    "NdlHandles.ASecondContextIsApart": "mem.get_pa=0",
    "NdlHandles.AStaleDeviceIsNotTheNextOne": "sync.sem_read=0",
    "NdlHandles.FreedMemoryIsRefused": "mem.get_pa=0",
    "NdlHandles.HandlesDiffer": "mem.alloc=0",
    "NdlHandles.MadeUpDevicesAreRefused": "nq.init=0",
    "NdlHandles.MadeUpMemoryIsRefused": "mem.map=0",
    "NdlHandles.MemoryEndsWithItsDevice": "device.close:1=0",
    "NdlHandles.OneDeviceOpensSeveralTimes": "sync.sem_inc:2=0",
    "NdlHandles.OpeningAndClosingLeavesNothing": "device.close=0",
    "NdlHandles.StaleMemoryIsNotTheNextOne": "mem.unmap=0",
    "NdlLife.CoresBecomeReadyOnce": "life.ready=0",
    "NdlLife.UnknownRequestsAreNeverReady": "life.ready=0",
    "NdlMaps.AMappingShowsTheMemory": "copy.in=0",
    "NdlMaps.FreeUnmaps": "mem.free=0",
    "NdlMaps.UnmappingKeepsTheBytes": "mem.unmap=0",
    "NdlMemory.CopiesBeyondTheEndAreRefused": "copy.in=0",
    "NdlMemory.KeepsWhatIsWritten": "copy.in=0",
    "NdlNotifications.AQueueIsMemoryThatCanBeMapped": "nq.map=0",
    "NdlNotifications.OthersAreRefused": "nq.init=0",
    "NdlPlaces.AddressesAreOfTheMemoryThatIsAsked": "mem.get_pa=0",
    "NdlPlaces.AlignmentIsKept": "mem.get_pa=0",
    "NdlPlaces.AllocationsAreApart": "mem.get_pa=0",
    "NdlPlaces.MemoryEndsWithAnErrorAndComesBack": "mem.free=0",
    "NdlPlaces.WhatCannotBeIsRefused": "mem.alloc=0",
    "NdlProbe.FeaturesAgreeWithTheCapabilityWord": "probe.feature_supported=0",
    "NdlProbe.VersionLiesInTheDriversWindow": "probe.get_version=0",
    "NdlQueues.ATransferMovesTheBytes": "dma.queue_start=0",
    "NdlQueues.MoreThanTheRingHoldsIsRefused": "dma.queue_start=0",
    "NdlQueues.OthersAreRefused": "dma.queue_init=0",
    "NdlQueues.TheRingsAreWhereTheyWerePut": "dma.queue_state=0",
    "NdlRegisters.ManyAreReadAtOnce": "reg.read=0",
    "NdlRegisters.PlacesOutsideAreRefused": "reg.read=0",
    "NdlRegisters.WritesAndReadsReachTheHardware": "reg.write=0",
    "NdlReservation.EachCoreOnce": "share.range_mark=0",
    "NdlReservation.OthersAreRefused": "share.range_mark=0",
    "NdlSemaphores.EachIsItsOwn": "sync.sem_write=0",
    "NdlSemaphores.OthersAreRefused": "sync.sem_dec=0",
    "NdlSemaphores.ThreadsLoseNoIncrement": "sync.sem_inc:500=0",
    "NdlStress.ContextsComeAndGo": "sync.sem_inc:10=0",
    "NdlStress.ThreadsOpenAndCloseTheirOwn": "sync.sem_inc:10=0",
    "NdlStress.ThreadsShareADevice": "copy.in:100=0",
    "NdlSync.SemaphoresCountUpAndDown": "sync.sem_dec=0",
    "NdlThreads.CopiesAndSemaphoresOfThreadsDoNotMix": "sync.sem_inc:50=0",
    "NdlTime.NeverGoesBackAndSleepsEnd": "misc.now_us:9=0",
    "PortControl.UnknownCommandsAreRefusedAndRepliesAreCut": "control=0",
    "PortControlReplies.MissingArgumentsAreRefused": "control=0",
    "PortFiles.BadDescriptorsAreErrors": "close=0",
    "PortFiles.MissingNodesAreErrors": "exists=1",
    "PortMaps.AMappingIsTheMemory": "mmap=0",
    "PortMaps.BadOnesAreErrorsAndGiveNothing": "mmap=0",
    "PortMaps.ManyLeaveNothing": "munmap:10=-22",
    "PortMaps.UnmappingWhatIsNotMappedIsAnError": "munmap=0",
    "PortOpen.AClosedDescriptorIsGone": "close=0",
    "PortOpen.BadPathsAreErrors": "open:2+=5",
    "PortOpen.DescriptorsDiffer": "open=7",
    "PortOpen.ManyOpensLeaveNothing": "open:100=-24",
    "PortOpen.MissingPathsAreErrors": "read_text=0",
    "PortRequests.ABadPointerIsAnError": "ioctl=0",
    "PortRequests.RefusalsAreNegative": "ioctl=0",
    "PortRequests.TheDriverAnswers": "ioctl=0",
    "PortRequests.UnknownOnesAreErrors": "ioctl=0",
    "PortStress.CallsDoNotDisturbEachOther": "munmap:50=-22",
    "PortStress.SleepersAndCallersGoOn": "ioctl:100=0",
    "PortTable.AttachesAgainAfterDetach": "attach:3=-5",
    "PortTable.EveryMandatoryFunctionIsThere": "exists",
    "PortTexts.AreCutToTheBuffer": "read_text=64",
    "PortThreads.EveryMemberAnswersOnEveryThread": "close=0",
    "PortTime.NeverGoesBack": "now_us:100=0",
    "PortTime.SleepsEnd": "sleep_us=abort",
}
# No call can break them: they look at data of the table.
DATA_CASES = {"NdlProbe.WindowIsARange"}


class Doubles:
    def __init__(self, conform, checks, plugins, doubles, scratch):
        self.conform, self.checks = Path(conform).resolve(), Path(checks).resolve()
        self.plugins, self.doubles = Path(plugins).resolve(), Path(doubles).resolve()
        self.scratch = scratch
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENNRT_")}

    def proxy_environment(self, kind, settings):
        added = {f"OPENNRT_DOUBLE_{key}": value for key, value in settings.items()}
        return self.environment | added | {
            "OPENNRT_DOUBLE_TARGET": str(self.plugins / BEHIND[kind])}

    # The double with a manifest of what it stands for.
    def placed(self, name, kind):
        directory = self.scratch / name
        directory.mkdir(exist_ok=True)
        library = directory / f"double-{name}.so"
        if not library.exists():
            library.symlink_to(self.doubles / library.name)
            original = self.plugins / BEHIND[kind].replace("opennrt-", "").replace(
                ".so", ".plugin.yaml")
            lines = [line for line in original.read_text().splitlines()
                     if not line.startswith("library:")]
            (directory / "d.plugin.yaml").write_text(
                "\n".join([*lines, f"library: {library.name}", ""]))
        return library

    def failed_rules(self, plugin, pattern, environment, place):
        report = self.scratch / f"report-{place}.json"
        words = [str(self.conform), "--json", str(report)]
        words += ["--time-limit", "10", "--filter", pattern] if pattern else ["--time-limit", "120"]
        done = subprocess.run([*words, str(plugin)], env=environment, capture_output=True,
                              text=True, errors="replace", check=False)
        assert done.returncode in (0, 1) and report.exists(), done
        cases = json.loads(report.read_text())["cases"]
        assert cases, "no case ran"
        rules = {case["rule"] for case in cases if case["status"] in BAD}
        assert done.returncode == (1 if rules else 0), done
        return rules, done.stdout

    def judge(self, item):
        place, (what, plugin, pattern, environment, expected) = item
        rules, text = self.failed_rules(plugin, pattern, environment, place)
        if rules == expected:
            return None
        return (f"{what}: not noticed {sorted(expected - rules)}, "
                f"noticed too {sorted(rules - expected)}\n{text[-3000:]}")

    def run_case(self, kind, case, settings):
        words = [str(self.checks), f"--plugin={self.doubles / f'double-proxy-{kind}.so'}",
                 f"--case={case}"]
        return subprocess.run(words, env=self.proxy_environment(kind, settings), text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=120, check=False)

    def can_fail(self, item):
        case, order = item
        kind = "ndl" if case.startswith("Ndl") else "port"
        done = self.run_case(kind, case, {"CALLS" if "=" in order else "HIDE": order})
        if done.returncode == 0 or "no such slot" in done.stdout:
            return f"{case} does not notice {order}:\n{done.stdout[-1500:]}"
        return None


def listed_cases(checks):
    out, suite = set(), ""
    listing = subprocess.run([checks, "--gtest_list_tests"], capture_output=True, text=True,
                             check=True).stdout
    for line in listing.splitlines():
        if line.startswith(" "):
            out.add(suite + line.split()[0])
        else:
            suite = line.strip()
    return {case for case in out if case.startswith(("Ndl", "Port"))}


def main(conform, checks, plugins, doubles):
    with tempfile.TemporaryDirectory() as directory:
        d = Doubles(conform, checks, plugins, doubles, Path(directory).resolve())
        work = [(f"{kind} {settings}", d.placed(f"proxy-{kind}", kind), pattern,
                 d.proxy_environment(kind, settings), expected)
                for kind, settings, pattern, expected in PROXIES]
        work += [(name, d.doubles / f"double-{name}.so", "any.*", d.environment,
                  expected - {"any.manifest.agrees"}) for name, expected in FILES]
        work += [(f"{place}:{deed}", d.doubles / "double-port-misbehaving.so",
                  "any.*,port.table.*", d.environment | {"OPENNRT_DOUBLE_DOES": f"{place}:{deed}"},
                  expected) for deed, expected in DEEDS.items() for place in PLACES]
        problems = []
        cases = listed_cases(checks)
        for case in sorted(cases - BREAKS.keys() - DATA_CASES):
            problems.append(f"{case} has no way to fail here")
        for case in sorted((BREAKS.keys() | DATA_CASES) - cases):
            problems.append(f"{case} does not exist")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            problems += filter(None, pool.map(d.judge, enumerate(work)))
            problems += filter(None, pool.map(d.can_fail, sorted(BREAKS.items())))
    print("\n".join(problems))
    print(f"{len(work)} doubles, {len(BREAKS)} cases, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main(*sys.argv[1:]))
