#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The runtime as a guest in a Python process.

Usage: guest_test.py LIBNRT PROBE CLASH MODEL.neff

Each case runs in a process of its own, so that a crash or a hang is one failure
and nothing leaks from case to case.
"""
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

LIB, PROBE, CLASH, MODEL = (os.path.abspath(p) for p in sys.argv[1:5])


# --- a client through ctypes -------------------------------------------------

class TensorInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 256), ("usage", ctypes.c_int), ("size", ctypes.c_size_t),
                ("dtype", ctypes.c_int), ("shape", ctypes.POINTER(ctypes.c_uint32)),
                ("ndim", ctypes.c_uint32)]


class Client:
    """Loads the model and runs it; `after` is called after every API call."""

    def __init__(self, after=lambda name: None):
        self.lib = ctypes.CDLL(LIB)
        self.after = after

    def call(self, name, *args, expect=0):
        function = getattr(self.lib, name)
        if name in ("nrt_close", "nrt_tensor_free", "nrt_destroy_tensor_set"):
            function.restype = None
        status = function(*args)
        self.after(name)
        if function.restype is not None and status != expect:
            raise AssertionError(f"{name} returned {status}, expected {expect}")
        return status

    def setup(self):
        import numpy
        self.call("nrt_init", 1, b"", b"")
        blob = pathlib.Path(MODEL).read_bytes()
        self.model = ctypes.c_void_p()
        self.call("nrt_load", blob, ctypes.c_size_t(len(blob)), -1, -1, ctypes.byref(self.model))
        info = ctypes.c_void_p()
        self.call("nrt_get_model_tensor_info", self.model, ctypes.byref(info))
        count = ctypes.cast(info, ctypes.POINTER(ctypes.c_uint64))[0]
        entries = ctypes.cast(info.value + 8, ctypes.POINTER(TensorInfo))
        self.inputs, self.outputs = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("nrt_allocate_tensor_set", ctypes.byref(self.inputs))
        self.call("nrt_allocate_tensor_set", ctypes.byref(self.outputs))
        self.arrays, self.tensors = [], []
        generator = numpy.random.default_rng(7)
        for i in range(count):
            t = entries[i]
            data = generator.random(t.size // 4, dtype=numpy.float32)
            tensor = ctypes.c_void_p()
            self.call("nrt_tensor_allocate", 0, 0, ctypes.c_size_t(t.size), t.name,
                      ctypes.byref(tensor))
            self.call("nrt_tensor_write", tensor, data.ctypes.data_as(ctypes.c_void_p),
                      ctypes.c_size_t(0), ctypes.c_size_t(t.size))
            self.call("nrt_add_tensor_to_tensor_set", self.outputs if t.usage else self.inputs,
                      t.name, tensor)
            self.arrays.append(data)
            self.tensors.append((tensor, t.size))
        self.call("nrt_free_model_tensor_info", info)

    def execute(self, times=1):
        self.call("nrt_execute_repeat", self.model, self.inputs, self.outputs, times)

    def check(self):
        import numpy
        tensor, size = self.tensors[-1]
        out = numpy.empty(size // 4, dtype=numpy.float32)
        self.call("nrt_tensor_read", tensor, out.ctypes.data_as(ctypes.c_void_p),
                  ctypes.c_size_t(0), ctypes.c_size_t(size))
        assert (out == self.arrays[0] + self.arrays[1]).all(), "wrong sums"

    def teardown(self):
        for tensor, _ in self.tensors:
            self.call("nrt_tensor_free", ctypes.byref(tensor))
        self.call("nrt_destroy_tensor_set", ctypes.byref(self.inputs))
        self.call("nrt_destroy_tensor_set", ctypes.byref(self.outputs))
        self.call("nrt_unload", self.model)
        self.call("nrt_close")


# --- cases ---------------------------------------------------------------------

def fds():
    return sorted(os.listdir("/proc/self/fd"))


def handlers():
    with open("/proc/self/status") as status:
        return [line for line in status if line.startswith(("SigCgt", "SigIgn", "SigBlk"))]


def threads():
    return len(os.listdir("/proc/self/task"))


def case_dlopen_is_silent():
    import numpy  # noqa: F401  (its threads exist before the measurement)
    before = fds(), handlers(), threads()
    ctypes.CDLL(LIB)
    assert (fds(), handlers(), threads()) == before, "dlopen left something behind"


def case_full_run():
    client = Client()
    client.setup()
    client.execute()
    client.check()
    client.teardown()


def case_thread_state_unchanged():
    probe = ctypes.CDLL(PROBE)
    probe.probe_mxcsr.restype = ctypes.c_uint32
    import locale
    import numpy  # noqa: F401  (a threaded BLAS below it makes the C library take a signal)
    libc = ctypes.CDLL(None)
    libc.setlocale.restype = ctypes.c_char_p

    def state():
        mask = os.umask(0o22)
        os.umask(mask)
        environment = pathlib.Path("/proc/self/environ").read_bytes()
        return (probe.probe_mxcsr(), probe.probe_rounding(), locale.setlocale(locale.LC_ALL),
                libc.setlocale(6, None), environment, os.getcwd(), mask, handlers())

    before = state()
    changed = []

    def after(name):
        if state() != before:
            changed.append(name)

    client = Client(after)
    client.setup()
    client.execute()
    client.check()
    client.teardown()
    assert not changed, f"changed by {changed}"


def case_german_locale():
    import locale
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    assert locale.localeconv()["decimal_point"] == ","
    case_full_run()


def case_interrupt_reaches_python():
    client = Client()
    client.setup()
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        for _ in range(100000):
            client.execute(10)
    except KeyboardInterrupt:
        client.teardown()
        return
    raise AssertionError("the interrupt never arrived")


def case_exit_without_close():
    client = Client()
    client.setup()
    client.execute()


def case_exit_during_execute():
    client = Client()
    client.setup()
    threading.Thread(target=lambda: client.execute(1 << 30), daemon=True).start()
    time.sleep(0.2)


def case_sys_exit_in_thread():
    client = Client()
    client.setup()
    threading.Thread(target=lambda: (client.execute(5), sys.exit(0))).start()


def case_threads_block_signals():
    client = Client()
    client.setup()
    client.execute(5)
    main = threading.main_thread().native_id
    for task in os.listdir("/proc/self/task"):
        if int(task) == main:
            continue
        text = pathlib.Path(f"/proc/self/task/{task}/status").read_text()
        comm = pathlib.Path(f"/proc/self/task/{task}/comm").read_text().strip()
        blocked = int(next(l for l in text.splitlines() if l.startswith("SigBlk")).split()[1], 16)
        if comm.startswith("opennrt"):
            assert blocked & (1 << (signal.SIGINT - 1)), f"thread {comm} takes signals"
    client.teardown()


def case_name_clash():
    ctypes.CDLL(CLASH, mode=ctypes.RTLD_GLOBAL)
    case_full_run()


def case_close_and_again():
    client = Client()
    for _ in range(3):
        client.setup()
        client.execute()
        client.check()
        client.teardown()


# Cases whose process must end within a second after its work.
QUICK_EXIT = {"exit_without_close", "exit_during_execute", "sys_exit_in_thread"}


def german_locale(environment):
    """Builds the locale below the temporary directory when the system lacks it."""
    folder = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"opennrt-locale-{os.getuid()}"
    target = folder / "de_DE.UTF-8"
    if not target.exists():
        folder.mkdir(exist_ok=True)
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(target)],
                              capture_output=True)
        if not target.exists():
            return made.stderr.decode().strip() or "localedef failed"
    environment["LOCPATH"] = str(folder)
    return None


def main():
    if len(sys.argv) > 5:
        start = time.monotonic()
        globals()["case_" + sys.argv[5]]()
        print(f"work {time.monotonic() - start:.3f}", file=sys.stderr)
        return 0
    failed = passed = 0
    cases = [name[5:] for name in globals() if name.startswith("case_")]
    for name in cases:
        environment = dict(os.environ, OPENNRT_DEVICE="emulator")
        problem = None
        if name == "german_locale":
            problem = german_locale(environment)
        if problem is None:
            start = time.monotonic()
            try:
                done = subprocess.run([sys.executable] + sys.argv[:5] + [name], env=environment,
                                      capture_output=True, timeout=60)
                total = time.monotonic() - start
                error = done.stderr.decode(errors="replace")
                if done.returncode != 0:
                    problem = f"exit code {done.returncode}: {error[-600:]}"
                elif done.stdout:
                    problem = f"wrote to stdout: {done.stdout[:200]!r}"
                elif name in QUICK_EXIT:
                    work = float(error.split("work ")[-1].split()[0])
                    # interpreter start-up is part of `total`; it is far below 0.5 s
                    if total - work > 1.5:
                        problem = f"took {total - work:.2f} s to end"
            except subprocess.TimeoutExpired:
                problem = "did not end within 60 s"
        print(f"{'ok  ' if problem is None else 'FAIL'} {name}" + (f": {problem}" if problem else ""))
        passed += problem is None
        failed += problem is not None
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
