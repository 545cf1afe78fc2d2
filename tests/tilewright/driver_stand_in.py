"""A stand-in for the CUDA driver: device memory is this process's, and a launch runs the kernel's
PTX-level IR on it, with the values that the launch was given and no others."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tilewright as tw
from tilewright.launch import launcher

ARCH = "sm_90a"


class OnGpu:
    """An array that says that it is on the GPU, by `__cuda_array_interface__` or by DLPack."""

    def __init__(self, array: NDArray[Any], *, dlpack: bool = False) -> None:
        self.array = array
        if dlpack:
            self.__dlpack__ = array.__dlpack__
            self.__dlpack_device__ = lambda: (2, 0)
        else:
            self.__cuda_array_interface__ = array.__array_interface__


def passed(arguments: int, types: Sequence[str]) -> tuple[Any, ...]:
    """What a launch was given for parameters of these types: bits, and the bytes of tensor maps."""
    places = (ctypes.c_uint64 * len(types)).from_address(arguments)
    codes = [launcher.code_of(type_) for type_ in types]
    return tuple(
        struct.unpack(code, ctypes.string_at(place, struct.calcsize(code)))[0]
        for place, code in zip(places, codes, strict=True)
    )


def telling(told: Callable[[Sequence[str]], None]) -> Callable[..., Any]:
    """`launcher.function`, and what tells of the types that each function has."""
    own = launcher.function

    def function(module: Any, name: str, types: Sequence[str], shared: int) -> Any:
        told(types)
        return own(module, name, types, shared)

    return function


_LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)


class Launching:
    """What has the driver's `cuLaunchKernelEx`, which calls `cuLaunchKernel`."""

    cuLaunchKernel: Callable[..., Any]

    @cached_property
    def launch_kernel(self) -> Any:
        """It, as C calls it."""

        def launch(config: int, function: int, arguments: int, _: int) -> int:
            *extents, stream = struct.unpack("7I4xQ", ctypes.string_at(config, 40))
            status = self.cuLaunchKernel(function, *extents, stream or 0, arguments, 0)
            return status[0] if status else 0

        return _LAUNCH(launch)

    def cuGetProcAddress(self, name: bytes, *_: int) -> tuple[int, ...]:
        """The status, the address, and whether there is one."""
        assert name == b"cuLaunchKernelEx"
        return 0, ctypes.cast(self.launch_kernel, ctypes.c_void_p).value or 0, 0


class Driver(Launching):
    """`cuda.bindings.driver`, as far as launches need it. `memory` are the arrays that addresses
    may point to; `launches` are (grid, block, stream, values) of each launch."""

    CUresult = SimpleNamespace(CUDA_SUCCESS=0)
    CUjit_option = SimpleNamespace(CU_JIT_ERROR_LOG_BUFFER=0, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES=1)
    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR=9,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR=0,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT=132,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=232448,
        CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK=65536,
        CU_DEVICE_ATTRIBUTE_WARP_SIZE=32,
        CU_DEVICE_ATTRIBUTE_CLOCK_RATE=1980000,
        CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE=3201000,
        CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH=6144,
    )
    CUfunction_attribute = SimpleNamespace(
        CU_FUNC_ATTRIBUTE_NUM_REGS=40,
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES=8,
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=9,
    )
    CUpointer_attribute = SimpleNamespace(CU_POINTER_ATTRIBUTE_DEVICE_POINTER=3)

    CUstreamCaptureStatus = SimpleNamespace(CU_STREAM_CAPTURE_STATUS_NONE=0)

    def __init__(self, bytecode: bytes, memory: list[NDArray[Any]], name: str = "k") -> None:
        self.bytecode, self.memory, self.name = bytecode, memory, name
        self.texts: list[str] = []
        self.cubins: list[bytes] = []
        self.refuses_cubins = False
        self.launches: list[tuple[Any, ...]] = []
        self.synchronized: list[int] = []
        self.captured: set[int] = set()
        self.context = 1
        self.types: Sequence[str] = ()

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            raise AttributeError(name)
        return lambda *_: (0, 1)

    def cuDeviceGetAttribute(self, attribute: int, device: int) -> tuple[int, int]:
        return 0, attribute

    def cuFuncGetAttribute(self, attribute: int, function: int) -> tuple[int, int]:
        return 0, attribute

    def cuModuleLoadData(self, cubin: bytes) -> tuple[Any, int]:
        self.cubins.append(cubin)
        return SimpleNamespace(name="NO_BINARY_FOR_GPU") if self.refuses_cubins else 0, 1

    def cuModuleLoadDataEx(self, text: bytes, *_: Any) -> tuple[int, int]:
        self.texts.append(text.rstrip(b"\0").decode())
        return 0, 1

    def cuMemAlloc(self, size: int) -> tuple[int, int]:
        self.memory.append(np.zeros(size, np.uint8))
        return 0, self.memory[-1].ctypes.data

    def cuMemcpyHtoD(self, there: int, here: int, size: int) -> tuple[int]:
        ctypes.memmove(there, here, size)
        return (0,)

    def cuMemcpyDtoH(self, here: int, there: int, size: int) -> tuple[int]:
        ctypes.memmove(here, there, size)
        return (0,)

    def cuCtxGetCurrent(self) -> tuple[int, int]:
        return 0, self.context

    def cuStreamIsCapturing(self, stream: int) -> tuple[int, int]:
        return 0, int(stream in self.captured)

    def cuStreamSynchronize(self, stream: int) -> tuple[int]:
        self.synchronized.append(stream)
        return (0,)

    def cuLaunchKernel(self, function: int, *given: Any) -> tuple[int]:
        grid, block, stream = given[:3], given[3:6], given[7]
        values = passed(given[8], self.types)
        self.launches.append((grid, block, stream, values))
        args = [self._argument(*pair) for pair in zip(values, self.types, strict=True)]
        how: dict[str, Any] = {"grid": grid, "level": "ptx", "arch": ARCH}
        after = iter(tw.interpret(self.bytecode, self.name, args=args, **how))
        for arg in args:
            if isinstance(arg, np.ndarray):
                np.copyto(arg, next(after))
        return (0,)

    def _argument(self, value: int, type_: str) -> Any:
        """An array for an address, a number for bits; those of f32 are no small integer."""
        if type_ == "u64":
            array, first = next(
                (array, value - array.ctypes.data)
                for array in self.memory
                if 0 <= value - array.ctypes.data < max(array.nbytes, 1)
            )
            return array.view(np.float32)[first // 4 :] if first else array.view(np.float32)
        number = np.uint32(value)
        return float(number.view(np.float32)) if value >= 1 << 24 else value
