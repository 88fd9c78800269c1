#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client in plain Python: the library through ctypes, no packages.

    ctypes_client.py LIBNRT MODEL.neff add|matmul

add: two float32 vectors, compared bit by bit with sums made here.
matmul: float16 x[m][k] and y[k][n], compared with products made here in double.
"""
import array
import ctypes
import random
import struct
import sys

SUCCESS, INVALID, INVALID_HANDLE, UNINITIALIZED, BAD_INPUT = 0, 2, 3, 13, 1002
DEVICE, INPUT = 0, 0


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 256), ("usage", ctypes.c_uint32),
                ("size", ctypes.c_size_t), ("dtype", ctypes.c_uint32),
                ("shape", ctypes.POINTER(ctypes.c_uint32)), ("ndim", ctypes.c_uint32)]


class TensorInfoArray(ctypes.Structure):
    _fields_ = [("tensor_count", ctypes.c_uint64), ("tensor_array", TensorInfo * 0)]


class Failed(Exception):
    def __init__(self, function, status):
        super().__init__(f"{function}: status {status}")
        self.status = status


class Library:
    """nrt.execute(...) calls nrt_execute and raises Failed for anything but success."""

    def __init__(self, path):
        self._library = ctypes.CDLL(path)

    def __getattr__(self, name):
        function = getattr(self._library, f"nrt_{name}")

        def call(*args):
            status = function(*args)
            if status != SUCCESS:
                raise Failed(f"nrt_{name}", status)
        return call

    def close(self):
        self._library.nrt_close.restype = None
        self._library.nrt_close()

    def tensor_free(self, tensor):
        self._library.nrt_tensor_free.restype = None
        self._library.nrt_tensor_free(ctypes.byref(tensor))


def status_of(function, *args):
    try:
        function(*args)
    except Failed as failed:
        return failed.status
    return SUCCESS


class Model:
    def __init__(self, nrt, path):
        self.nrt, self.handle = nrt, ctypes.c_void_p()
        neff = open(path, "rb").read()
        nrt.load(neff, ctypes.c_size_t(len(neff)), 0, -1, ctypes.byref(self.handle))
        found = ctypes.POINTER(TensorInfoArray)()
        nrt.get_model_tensor_info(self.handle, ctypes.byref(found))
        count = found.contents.tensor_count
        start = ctypes.addressof(found.contents) + TensorInfoArray.tensor_array.offset
        infos = (TensorInfo * count).from_address(start)
        self.tensors = [(t.name, t.usage, t.size, t.shape[:t.ndim]) for t in infos]
        nrt.free_model_tensor_info(found)

    def run(self, *inputs):
        """Bytes in, in the order of the model's inputs; bytes of the first output back."""
        nrt, sets, made, waiting = self.nrt, [], [], list(inputs)
        for _ in range(2):
            sets.append(ctypes.c_void_p())
            nrt.allocate_tensor_set(ctypes.byref(sets[-1]))
        result = None
        for name, usage, size, _ in self.tensors:
            tensor = ctypes.c_void_p()
            nrt.tensor_allocate(DEVICE, 0, ctypes.c_size_t(size), name, ctypes.byref(tensor))
            made.append(tensor)
            nrt.add_tensor_to_tensor_set(sets[usage], name, tensor)
            if usage == INPUT:
                data = waiting.pop(0)
                nrt.tensor_write(tensor, data, ctypes.c_size_t(0), ctypes.c_size_t(len(data)))
            elif result is None:
                result = (tensor, size)
        assert not waiting
        nrt.execute(self.handle, *sets)
        out = ctypes.create_string_buffer(result[1])
        nrt.tensor_read(result[0], out, ctypes.c_size_t(0), ctypes.c_size_t(result[1]))
        # The outputs hold no inputs: the model refuses them.
        assert status_of(nrt.execute, self.handle, sets[1], sets[1]) in (INVALID, BAD_INPUT)
        for tensor in made:
            nrt.tensor_free(tensor)
        for one in sets:
            nrt._library.nrt_destroy_tensor_set(ctypes.byref(one))
        return out.raw

    def unload(self):
        self.nrt.unload(self.handle)
        assert status_of(self.nrt.unload, self.handle) == INVALID_HANDLE


def check_add(model):
    numbers = random.Random(2)
    count = model.tensors[0][2] // 4
    a, b = (array.array("f", [numbers.uniform(-1, 1) * 2.0 ** numbers.randrange(-20, 20)
                              for _ in range(count)]) for _ in range(2))
    got = array.array("f", model.run(a.tobytes(), b.tobytes()))
    want = array.array("f", (x + y for x, y in zip(a, b)))  # in double, rounded once
    wrong = sum(g != w for g, w in zip(got, want))
    print(f"{count} sums, {wrong} wrong")
    return len(got) == count and wrong == 0


def check_matmul(model):
    numbers = random.Random(3)
    (m, k), (_, n) = (t[3] for t in model.tensors[:2])

    def matrix(rows, columns):
        raw = struct.pack(f"{rows * columns}e", *(numbers.random() for _ in range(rows * columns)))
        flat = struct.unpack(f"{rows * columns}e", raw)
        return raw, [flat[i * columns:(i + 1) * columns] for i in range(rows)]

    (raw_x, x), (raw_y, y) = matrix(m, k), matrix(k, n)
    got = struct.unpack(f"{m * n}e", model.run(raw_x, raw_y))
    columns = list(zip(*y))
    want = [sum(p * q for p, q in zip(row, column)) for row in x for column in columns]
    # Half a unit of the last place of float16 is 2^-11; sums in float32 add almost nothing.
    worst = max(abs(g - w) / w for g, w in zip(got, want))
    print(f"{len(want)} products of rows and columns, largest relative error {worst:.2g}")
    return worst < 1.5 * 4.9e-4


def main():
    if len(sys.argv) != 4 or sys.argv[3] not in ("add", "matmul"):
        print("usage: ctypes_client.py libnrt.so.1 MODEL.neff add|matmul", file=sys.stderr)
        return 2
    library, path, kind = sys.argv[1:]
    nrt = Library(library)
    handle = ctypes.c_void_p()
    assert status_of(nrt.load, b"x", ctypes.c_size_t(1), 0, -1,
                     ctypes.byref(handle)) == UNINITIALIZED
    nrt.init(1, b"", b"")
    model = Model(nrt, path)
    ok = {"add": check_add, "matmul": check_matmul}[kind](model)
    model.unload()
    nrt.close()
    return 0 if ok else 1


sys.exit(main())
