"""The GPU of this machine, through the CUDA driver: PTX is loaded, kernels are started.

The kernel ABI (docs/abi.md): a memref is one 64-bit pointer, a scalar is passed as its bits.
"""

from __future__ import annotations

import ctypes
import importlib
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any, NamedTuple

from tilewright.arguments.device_memory import DeviceMemory
from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import Error
from tilewright.dialects.ptx.control_flow import TENSORMAP, parameter_layout
from tilewright.launch.ptxas import assembled


class LaunchError(Error, RuntimeError):
    """No GPU, no driver bindings, or a driver call that failed; the message says which."""


def code_of(type_: str) -> str:
    """The format in which `struct` writes a parameter: a word of bits, or bytes."""
    is_bytes = type_.startswith(("bytes", TENSORMAP))
    return f"0Q{parameter_layout(type_)[0]}s" if is_bytes else "Q"


_IPC_BYTES = 64
"""The size of the driver's `CUipcMemHandle`."""


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
    try:
        results = getattr(_driver(), function)(*arguments)
    except RuntimeError as error:
        raise LaunchError(f"no CUDA driver: {error}") from None
    if results[0]:  # CUDA_SUCCESS is 0
        raise LaunchError(f"{function} failed: {results[0].name}")
    return results[1] if len(results) == 2 else results[1:]


def device_arch() -> str:
    """The target of this machine's GPU, such as "sm_90a".

    Raises LaunchError where there is none.
    """
    return own_target(*device_capability())


def own_target(major: int, minor: int) -> str:
    """The target of a compute capability with the features that are its own, where it has any."""
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def device_capability() -> tuple[int, int]:
    """The compute capability of this machine's GPU, (9, 0). Raises LaunchError where there is
    none."""
    names = ("COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR")
    major, minor = map(device_attribute, names)
    return major, minor


def device_attribute(name: str, device: int | None = None) -> int:
    """The attribute of a GPU that the driver calls `CU_DEVICE_ATTRIBUTE_` and a name; without a
    number that of this machine. Raises LaunchError where there is none."""
    attribute = getattr(_driver().CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    own = _context() if device is None else call("cuDeviceGet", device)
    return call("cuDeviceGetAttribute", attribute, own)


def multiprocessors() -> int:
    """The multiprocessors of this machine's GPU. Raises LaunchError where there is none."""
    return device_attribute("MULTIPROCESSOR_COUNT")


def l2_bytes() -> int:
    """The size of the L2 cache of this machine's GPU. Raises LaunchError where there is none."""
    return device_attribute("L2_CACHE_SIZE")


def current_context() -> int:
    """The driver's number of the context that is current, to which modules belong; where none is,
    that of the first GPU is made so. Raises LaunchError."""
    _context()
    return context_number()


def context_number() -> int:
    """The driver's number of the context that is current, of which each launch asks; 0: none."""
    _, context = _driver().cuCtxGetCurrent()
    return int(context or 0)


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
    if context_number():
        return call("cuCtxGetDevice")
    if call("cuDeviceGetCount") == 0:
        raise LaunchError("no CUDA device")
    device = call("cuDeviceGet", 0)
    call("cuCtxSetCurrent", call("cuDevicePrimaryCtxRetain", device))
    return device


def reaches(address: int) -> bool:
    """True where an address is one of the GPU too."""
    kind = _driver().CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER
    try:
        call("cuPointerGetAttribute", kind, address)
    except LaunchError:
        return False
    return True


def stream_handle(stream: Any) -> int:
    """The driver's number of a stream of torch (`cuda_stream`), CuPy (`ptr`) or any library
    (`__cuda_stream__`), or that number itself; None is the default stream."""
    for name in ("cuda_stream", "ptr"):
        if (handle := getattr(stream, name, None)) is not None:
            return int(handle)
    protocol: Any = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        pair: Any = protocol() if callable(protocol) else protocol
        return int(pair[1])
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
    """A launch but for its stream, as often as one likes, by one thread at a time: what starts it,
    and the `words` of its memory."""

    begin: Callable[[], int]
    words: memoryview

    def start(self, stream: int) -> None:
        """Launch without waiting. Raises LaunchError."""
        self.words[_STREAM] = stream
        if status := self.begin():
            raise LaunchError(f"cuLaunchKernel failed: {_driver().CUresult(status).name}")


@frozen
class DeviceFunction:
    """A kernel on the GPU: the PTX types of its parameters, the shared memory that each launch
    reserves, and the driver's function that launches."""

    handle: Any
    types: tuple[str, ...]
    dynamic_shared_bytes: int
    launch: Callable[..., int]

    def start(
        self,
        values: Sequence[Any],
        grid: Sequence[int],
        block: Sequence[int],
        stream: int = 0,
        *,
        programmatic: bool = False,
    ) -> None:
        """Launch without waiting; `values` are bits, addresses, bytes, the driver's tensor maps.
        `programmatic`: it may start before the kernel in front of it has ended, and waits for that
        itself."""
        own = [
            DeviceMemory.map_bytes(value) if type_ == TENSORMAP else value
            for value, type_ in zip(values, self.types, strict=True)
        ]
        self.ready(own, self.extents(grid, block), programmatic).start(stream)

    def registers(self) -> tuple[int, int]:
        """The registers of a thread, and those that it keeps in memory."""
        kinds = _driver().CUfunction_attribute
        registers, octets = (
            call("cuFuncGetAttribute", kind, self.handle)
            for kind in (kinds.CU_FUNC_ATTRIBUTE_NUM_REGS, kinds.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
        )
        return registers, octets // 4

    def extents(self, grid: Sequence[int], block: Sequence[int]) -> tuple[int, ...]:
        """The driver's numbers of a launch: three of the grid, three of the block, the bytes."""
        return (*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3], self.dynamic_shared_bytes)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where the arguments lie in the memory of a launch."""
        return _Layout.of(self.types).offsets

    def ready(
        self, values: Sequence[Any], extents: tuple[int, ...], programmatic: bool,
        cooperative: bool = False,
    ) -> ReadyLaunch:  # fmt: skip
        """A launch on these values: bits, addresses, and the bytes of tensor maps; of CTAs that
        are there at once where it is `cooperative`."""
        layout = _Layout.of(self.types)
        own = layout.room()
        first = ctypes.addressof(own)
        arguments = [first + offset for offset in layout.offsets]
        asked = [_PROGRAMMATIC] * programmatic + [_COOPERATIVE] * cooperative
        attributes = [word for kind in [*asked, 0, 0][:2] for word in (kind, 1)]
        config = *extents, 0, first + _CONFIG, len(asked), *attributes
        layout.write(own, 0, *config, *arguments, *values)
        places = first, int(self.handle), first + _HEAD, 0
        words = memoryview(own).cast("B").cast("Q")
        return ReadyLaunch(partial(self.launch, *map(ctypes.c_void_p, places)), words)


_FORMATS = "7I4x2QQ", "I4xI60x"
"""The driver's CUlaunchConfig, and its CUlaunchAttribute, of which a launch has two at most."""
_CONFIG = struct.calcsize(_FORMATS[0])
_HEAD = _CONFIG + 2 * struct.calcsize(_FORMATS[1])
_STREAM = struct.calcsize("7I4x") // 8
"""The word of the stream in a CUlaunchConfig."""
_COOPERATIVE, _PROGRAMMATIC = 2, 6
"""The driver's CUlaunchAttributeID of a launch whose CTAs are there at once, and of one that need
not wait for the end of the kernel in front of it."""


@frozen
class _Layout:
    """Memory of a launch: the driver's configuration and its attributes, the addresses of all
    arguments, then these, with their `offsets`."""

    room: type[ctypes.Array[ctypes.c_char]]
    write: Callable[..., None]
    offsets: tuple[int, ...]

    @staticmethod
    @cache
    def of(types: tuple[str, ...]) -> _Layout:
        """That of parameters of these types."""
        codes, head = list(map(code_of, types)), _FORMATS[0] + 2 * _FORMATS[1]
        before = [f"{head}{len(types)}Q{''.join(codes[:i])}" for i in range(len(types) + 1)]
        offsets = tuple(
            struct.calcsize(text) - struct.calcsize(code)
            for text, code in zip(before[1:], codes, strict=True)
        )
        whole = struct.Struct(before[-1] + "0Q")
        return _Layout(ctypes.c_char * whole.size, whole.pack_into, offsets)


_LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)


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
    place, _ = call("cuGetProcAddress", b"cuLaunchKernelEx", 11080, 0)
    return DeviceFunction(handle, tuple(types), dynamic_shared_bytes, _LAUNCH(place))


def device_memory() -> DeviceMemory:
    """Memory of the GPU for the arguments of a run."""
    return DeviceMemory(_driver(), call)


def shared_handle(address: int) -> tuple[bytes, int]:
    """The bytes by which another process of this machine opens the memory at an address, and how
    many bytes of it are in front of that. Raises LaunchError for memory that cannot be shared."""
    base, _ = call("cuMemGetAddressRange", address)
    handle = call("cuIpcGetMemHandle", base)
    return ctypes.string_at(handle.getPtr(), _IPC_BYTES), address - int(base)


def opened(shared: bytes) -> int:
    """The address here of memory that another process shares. Raises LaunchError."""
    _context()
    driver = _driver()
    handle = driver.CUipcMemHandle()
    ctypes.memmove(handle.getPtr(), shared, _IPC_BYTES)
    peers = driver.CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
    return int(call("cuIpcOpenMemHandle", handle, peers))


def synchronize() -> None:
    """Wait for what was started. Raises LaunchError where it failed."""
    call("cuCtxSynchronize")
