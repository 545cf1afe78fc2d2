"""Records what a GPU leaves in memory for the kernels that `prepare_cuda_tile.py` compiled.

    python tests/silicon/record_cuda_tile.py .cubins tests/silicon/fixtures/cuda_tile.tar
    tilewright conformance records tests/silicon/fixtures/cuda_tile.tar

Needs a GPU that runs the cubins, numpy and cuda-bindings. The tar holds a record a kernel: a pickle
of a plain dict, as the replay reads it.
"""

from __future__ import annotations

import ctypes
import io
import pickle
import re
import sys
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cuda.bindings import driver


def call(function: str, *arguments: Any) -> Any:
    """One driver call: its result."""
    status, *results = getattr(driver, function)(*arguments)
    if status != driver.CUresult.CUDA_SUCCESS:
        raise SystemExit(f"{function} failed: {status.name}")
    return results[0] if results else None


def open_device() -> str:
    """Make the first GPU's context current. Returns its target, such as "sm_90a"."""
    call("cuInit", 0)
    device = call("cuDeviceGet", 0)
    call("cuCtxSetCurrent", call("cuDevicePrimaryCtxRetain", device))
    kinds = driver.CUdevice_attribute
    major, minor = (
        call("cuDeviceGetAttribute", kind, device)
        for kind in (
            kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        )
    )
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def on_device(data: bytes) -> int:
    """The address of a copy."""
    address = call("cuMemAlloc", max(len(data), 1))
    call("cuMemcpyHtoD", address, np.frombuffer(data, np.uint8).ctypes.data, len(data))
    return int(address)


def from_device(address: int, size: int) -> bytes:
    """What lies at an address, which is freed."""
    data = np.empty(size, np.uint8)
    call("cuMemcpyDtoH", data.ctypes.data, address, size)
    call("cuMemFree", address)
    return data.tobytes()


def flat(prepared: dict[str, Any], addresses: dict[int, int]) -> tuple[list[Any], list[Any]]:
    """The entry's parameters and their types: an array is its address, its shape, its strides;
    constants are left out."""
    values: list[Any] = []
    types: list[Any] = []
    kinds = re.findall(r"\b(Constant|Array|Scalar)Constraint\(", prepared["sig"])
    for i, (kind, argument) in enumerate(zip(kinds, prepared["before"], strict=True)):
        if kind == "Array":
            extents = [*argument["shape"], *argument["stride"]]
            values += [addresses[i], *extents]
            types += [ctypes.c_void_p] + [ctypes.c_int32] * len(extents)
        elif kind == "Scalar":
            values.append(argument)
            types.append(ctypes.c_float if isinstance(argument, float) else ctypes.c_int32)
    return values, types


def run(prepared: dict[str, Any]) -> list[Any]:
    """Run a kernel. Returns its arguments after it, None where they are numbers."""
    data = {
        i: zlib.decompress(argument["data"])
        for i, argument in enumerate(prepared["before"])
        if isinstance(argument, dict)
    }
    addresses = {i: on_device(content) for i, content in data.items()}
    module = call("cuModuleLoadData", prepared["cubin"])
    kernel = call("cuModuleGetFunction", module, b"k")
    x, y, z = (*prepared["grid"], 1, 1)[:3]
    values, types = flat(prepared, addresses)
    # A cubin of tileiras knows how many threads its tile block takes.
    call("cuLaunchKernel", kernel, x, y, z, 1, 1, 1, 0, 0, (tuple(values), tuple(types)), 0)
    call("cuCtxSynchronize")
    after: list[Any] = [None] * len(prepared["before"])
    for i, address in addresses.items():
        content = from_device(address, len(data[i]))
        after[i] = prepared["before"][i] | {"data": zlib.compress(content, 0)}
    call("cuModuleUnload", module)
    return after


def main(arguments: Sequence[str]) -> None:
    """Write the records of a folder's kernels into one tar."""
    folder, fixture = map(Path, arguments)
    arch = open_device()
    with tarfile.open(fixture, "w:xz") as tar:
        for file in sorted(folder.glob("*.pkl")):
            prepared = pickle.loads(file.read_bytes())
            after = run(prepared)
            del prepared["cubin"]
            content = pickle.dumps(prepared | {"arch": arch, "after": after})
            member = tarfile.TarInfo(file.name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
            print(f"{file.stem}: {sum(each is not None for each in after)} arrays on {arch}")
    print(f"{fixture}: {fixture.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
