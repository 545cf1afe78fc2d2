"""The GPU of this machine, through the CUDA driver: PTX is loaded, kernels are started.

The kernel ABI (docs/abi.md): a memref is one 64-bit pointer, a scalar is passed as its bits.
"""

from __future__ import annotations

import ctypes
import importlib
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from tilewright.arguments.device_memory import DeviceMemory
from tilewright.dialects.illegal import Error
from tilewright.dialects.ptx.control_flow import TENSORMAP
from tilewright.launch.ptxas import assembled


class LaunchError(Error, RuntimeError):
    """No GPU, no driver bindings, or a driver call that failed; the message says which."""


CODES: Mapping[str, str] = {
    "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "f32": "I", "f64": "Q", TENSORMAP: "",
}  # fmt: skip
"""The formats in which `struct` writes parameters, which are their bits; a tensor map, of 128
bytes, lies where its driver has it."""


@cache
def _driver() -> Any:
    """The `cuda.bindings.driver` module. Raises LaunchError where it is not installed."""
    try:
        return importlib.import_module("cuda.bindings.driver")
    except ImportError:
        raise LaunchError(
            "launching needs the CUDA driver bindings: pip install 'tilewright[gpu]'"
        ) from None


def call(function: str, *arguments: Any) -> Any:
    """One driver call: its results without the status. Raises LaunchError where it fails."""
    driver = _driver()
    try:
        status, *results = getattr(driver, function)(*arguments)
    except RuntimeError as error:
        raise LaunchError(f"no CUDA driver: {error}") from None
    if status != driver.CUresult.CUDA_SUCCESS:
        raise LaunchError(f"{function} failed: {status.name}")
    return results[0] if len(results) == 1 else tuple(results)


def device_arch() -> str:
    """The target of this machine's GPU, such as "sm_90a".

    Raises LaunchError where there is none.
    """
    major, minor = device_capability()
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def device_capability() -> tuple[int, int]:
    """The compute capability of this machine's GPU, (9, 0). Raises LaunchError where there is
    none."""
    device = _context()
    attribute = _driver().CUdevice_attribute
    major, minor = (
        call("cuDeviceGetAttribute", getattr(attribute, f"CU_DEVICE_ATTRIBUTE_{name}"), device)
        for name in ("COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR")
    )
    return major, minor


def multiprocessors() -> int:
    """The multiprocessors of this machine's GPU. Raises LaunchError where there is none."""
    name = _driver().CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
    return call("cuDeviceGetAttribute", name, _context())


def l2_bytes() -> int:
    """The size of the L2 cache of this machine's GPU. Raises LaunchError where there is none."""
    name = _driver().CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
    return call("cuDeviceGetAttribute", name, _context())


def current_context() -> int:
    """The driver's number of the context that is current, to which modules belong; where none is,
    that of the first GPU is made so. Raises LaunchError."""
    _context()
    return int(call("cuCtxGetCurrent"))


def is_capturing(stream: int) -> bool:
    """True where what is launched on a stream becomes part of a CUDA graph. Raises LaunchError."""
    none = _driver().CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    return call("cuStreamIsCapturing", stream) != none


def device_name() -> str:
    """The name of this machine's GPU. Raises LaunchError where there is none."""
    return call("cuDeviceGetName", 256, _context()).decode().strip("\0 ")


def _context() -> Any:
    """The GPU whose context is current; where none is, the first GPU, its primary context made
    current."""
    call("cuInit", 0)
    if int(call("cuCtxGetCurrent")):
        return call("cuCtxGetDevice")
    if call("cuDeviceGetCount") == 0:
        raise LaunchError("no CUDA device")
    device = call("cuDeviceGet", 0)
    call("cuCtxSetCurrent", call("cuDevicePrimaryCtxRetain", device))
    return device


def stream_handle(stream: Any) -> int:
    """The driver's number of a stream of torch (`cuda_stream`), CuPy (`ptr`) or any library
    (`__cuda_stream__`), or that number itself; None is the default stream."""
    protocol: Any = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        pair: Any = protocol() if callable(protocol) else protocol
        return int(pair[1])
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    return 0 if stream is None else int(stream)


def load(ptx: str) -> Any:
    """The driver's module of a PTX text, assembled by ptxas where there is one, newer as it may be,
    else by the driver. Raises LaunchError where the driver rejects it."""
    cubin = assembled(ptx, device_arch())
    if cubin is not None:
        # A driver of a release before that of ptxas may refuse what it made.
        with suppress(LaunchError):
            return call("cuModuleLoadData", cubin)
    driver = _driver()
    size = 8192
    log = bytearray(size)
    option = driver.CUjit_option
    status, module = driver.cuModuleLoadDataEx(
        ptx.encode() + b"\0",
        2,
        [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES],
        [log, size],
    )
    if status != driver.CUresult.CUDA_SUCCESS:
        text = bytes(log).split(b"\0")[0].decode(errors="replace").strip()
        raise LaunchError(f"the driver rejects the PTX: {status.name}: {text}")
    return module


class ReadyLaunch(NamedTuple):
    """A launch but for its stream, as often as one likes, by several threads at once. `arguments`
    is where the addresses of its arguments lie, which are `kept`."""

    function: Any
    extents: tuple[int, ...]
    arguments: int
    kept: tuple[Any, ...]
    programmatic: bool

    def start(self, stream: int) -> None:
        """Launch without waiting. Raises LaunchError."""
        if self.programmatic:
            config = _programmatic(self.extents, stream)
            call("cuLaunchKernelEx", config, self.function, self.arguments, 0)
        else:
            call("cuLaunchKernel", self.function, *self.extents, stream, self.arguments, 0)


@dataclass(frozen=True, slots=True)
class DeviceFunction:
    """A kernel on the GPU: the PTX types of its parameters, and the shared memory that each launch
    reserves."""

    handle: Any
    types: tuple[str, ...]
    dynamic_shared_bytes: int

    def start(
        self,
        values: Sequence[Any],
        grid: Sequence[int],
        block: Sequence[int],
        stream: int = 0,
        *,
        programmatic: bool = False,
    ) -> None:
        """Launch without waiting; `values` are bits, addresses, and tensor maps. `programmatic`:
        it may start before the kernel in front of it has ended, and waits for that itself."""
        self.ready(values, self.extents(grid, block), programmatic).start(stream)

    def extents(self, grid: Sequence[int], block: Sequence[int]) -> tuple[int, ...]:
        """The driver's numbers of a launch: three of the grid, three of the block, the bytes."""
        return (*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3], self.dynamic_shared_bytes)

    def ready(
        self, values: Sequence[Any], extents: tuple[int, ...], programmatic: bool
    ) -> ReadyLaunch:
        """A launch on these values, which `start` describes."""
        layout = _Layout.of(self.types)
        own = layout.room()
        first = ctypes.addressof(own)
        places = [first + offset for offset in layout.offsets]
        maps = [values[i] for i in layout.maps]
        if maps:
            for i, map_ in zip(layout.maps, maps, strict=True):
                places[i] = map_.getPtr()
            values = [
                value for value, type_ in zip(values, self.types, strict=True) if CODES[type_]
            ]
        layout.write(own, 0, *places, *values)
        return ReadyLaunch(self.handle, extents, first, (own, *maps), programmatic)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Memory of a launch's arguments: the addresses of all, then those that are numbers, with their
    `offsets`; `maps` are the places of tensor maps."""

    room: type[ctypes.Array[ctypes.c_char]]
    write: Callable[..., None]
    offsets: tuple[int, ...]
    maps: tuple[int, ...]

    @staticmethod
    @cache
    def of(types: tuple[str, ...]) -> _Layout:
        """That of parameters of these types."""
        codes = [CODES[type_] for type_ in types]
        before = [f"{len(types)}Q{''.join(codes[:i])}" for i in range(len(types) + 1)]
        offsets = tuple(
            struct.calcsize(text) - (struct.calcsize(code) if code else 0)
            for text, code in zip(before[1:], codes, strict=True)
        )
        whole = struct.Struct(before[-1])
        maps = tuple(i for i, code in enumerate(codes) if not code)
        return _Layout(ctypes.c_char * whole.size, whole.pack_into, offsets, maps)


_EXTENTS = ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ",
            "sharedMemBytes")  # fmt: skip


def _programmatic(numbers: Sequence[int], stream: int) -> Any:
    """A launch that need not wait for the end of the kernel in front of it."""
    driver = _driver()
    config, attribute = driver.CUlaunchConfig(), driver.CUlaunchAttribute()
    kinds = driver.CUlaunchAttributeID
    attribute.id = kinds.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    attribute.value.programmaticStreamSerializationAllowed = 1
    for name, number in zip(_EXTENTS, numbers, strict=True):
        setattr(config, name, number)
    config.hStream, config.attrs, config.numAttrs = stream, [attribute], 1
    return config


def function(
    module: Any, name: str, types: Sequence[str], dynamic_shared_bytes: int
) -> DeviceFunction:
    """A kernel of a module that `load` gave."""
    _context()
    handle = call("cuModuleGetFunction", module, name.encode())
    if dynamic_shared_bytes:
        attribute = _driver().CUfunction_attribute
        limit = attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        call("cuFuncSetAttribute", handle, limit, dynamic_shared_bytes)
    return DeviceFunction(handle, tuple(types), dynamic_shared_bytes)


def device_memory() -> DeviceMemory:
    """Memory of the GPU for the arguments of a run."""
    return DeviceMemory(_driver(), call)


def synchronize() -> None:
    """Wait for what was started. Raises LaunchError where it failed."""
    call("cuCtxSynchronize")
