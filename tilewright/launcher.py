"""Launching compiled kernels on the GPU of this machine, through the CUDA driver.

The kernel ABI (docs/abi.md): a memref is one 64-bit pointer, a scalar is passed as itself.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.ptx.control_flow import TENSORMAP
from tilewright.tensor_argument import TensorArgument
from tilewright.tensor_launch import ArgumentError, parameter_values
from tilewright.tensor_map import TensorMap, TensorMapError
from tilewright.tensor_map_encoding import encode

if TYPE_CHECKING:
    from tilewright.compiler import Entry, Kernel


class LaunchError(RuntimeError):
    """No GPU, no driver bindings, or a driver call that failed; the message says which."""


_CTYPES: dict[str, Any] = {
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
    # Passed by its address, 128 bytes.
    TENSORMAP: None,
}


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
    device = _context()
    attribute = _driver().CUdevice_attribute
    major, minor = (
        call("cuDeviceGetAttribute", getattr(attribute, f"CU_DEVICE_ATTRIBUTE_{name}"), device)
        for name in ("COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR")
    )
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def device_name() -> str:
    """The name of this machine's GPU. Raises LaunchError where there is none."""
    return call("cuDeviceGetName", 256, _context()).decode().strip("\0 ")


def _context() -> Any:
    """The first GPU, its primary context made current."""
    call("cuInit", 0)
    if call("cuDeviceGetCount") == 0:
        raise LaunchError("no CUDA device")
    device = call("cuDeviceGet", 0)
    call("cuCtxSetCurrent", call("cuDevicePrimaryCtxRetain", device))
    return device


def load(kernel: Kernel, entry: Entry) -> Any:
    """The driver's function of a kernel, ready to launch; PTX is assembled on first use."""
    _context()
    if "module" not in kernel._loaded:  # pyright: ignore[reportPrivateUsage]
        kernel._loaded["module"] = _load_module(kernel.ptx)  # pyright: ignore[reportPrivateUsage]
    module = kernel._loaded["module"]  # pyright: ignore[reportPrivateUsage]
    function = call("cuModuleGetFunction", module, entry.name.encode())
    if entry.dynamic_shared_bytes:
        attribute = _driver().CUfunction_attribute
        limit = attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        call("cuFuncSetAttribute", function, limit, entry.dynamic_shared_bytes)
    return function


def _load_module(ptx: str) -> Any:
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


def launch(
    kernel: Kernel, entry: Entry, args: Sequence[Any], grid: Sequence[int], block: Sequence[int]
) -> list[NDArray[np.generic]]:
    """Run a kernel and return its NumPy arguments as they are after the run.

    NumPy arrays are copied to the GPU and back; an object with `__cuda_array_interface__` (a CuPy
    array, a torch tensor on the GPU) is passed by its pointer and changed in place.
    """
    function = load(kernel, entry)
    buffers: list[tuple[Any, NDArray[Any]]] = []
    tensors: list[TensorArgument] = []
    try:
        if entry.sources:
            values = tensor_values(entry, args, buffers, tensors)
        else:
            values = [_value(arg, type_, buffers) for arg, (_, type_) in
                      zip(args, _checked(entry, args), strict=True)]  # fmt: skip
        start(function, entry, values, grid, block)
        call("cuCtxSynchronize")
        results = [_copied_back(pointer, array) for pointer, array in buffers]
        if not entry.sources:
            return results
        return [
            tensor.seen(result.view(np.uint8))
            for tensor, result in zip(tensors, results, strict=True)
        ]
    finally:
        for pointer, _ in buffers:
            _driver().cuMemFree(pointer)


def _copied_back(pointer: Any, array: NDArray[Any]) -> NDArray[Any]:
    result = np.empty_like(array)
    call("cuMemcpyDtoH", result.ctypes.data, pointer, result.nbytes)
    return result


def tensor_values(
    entry: Entry,
    args: Sequence[Any],
    buffers: list[tuple[Any, NDArray[Any]]],
    tensors: list[TensorArgument],
) -> list[Any]:
    """What `start` takes of a kernel lowered from the tile level: the parts of its arguments.

    NumPy arrays go to the GPU, into `buffers`. Raises LaunchError for what does not fit.
    """

    def copy(tensor: TensorArgument) -> int:
        assert tensor.flat is not None
        tensors.append(tensor)
        return _value(np.ascontiguousarray(tensor.flat), "u64", buffers)

    def encoded(tensor_map: TensorMap, address: int) -> Any:
        return encode(_driver(), call, tensor_map, address)

    try:
        return parameter_values(entry, args, copy, encoded)
    except (ArgumentError, TensorMapError) as error:
        raise LaunchError(str(error)) from None


def start(
    function: Any,
    entry: Entry,
    values: Sequence[Any],
    grid: Sequence[int],
    block: Sequence[int],
    stream: int = 0,
) -> None:
    """Launch without waiting; `values` are numbers, pointers as integers, and what
    `tensor_map_value` gives."""
    kinds = tuple(_CTYPES[type_] for _, type_ in entry.parameters)
    extents = [*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3]]
    shared = entry.dynamic_shared_bytes
    call("cuLaunchKernel", function, *extents, shared, stream, (tuple(values), kinds), 0)


def _checked(entry: Entry, args: Sequence[Any]) -> tuple[tuple[str, str], ...]:
    if len(args) != len(entry.parameters):
        names = ", ".join(f"{name}: {type_}" for name, type_ in entry.parameters)
        raise LaunchError(f"expected {len(entry.parameters)} arguments ({names}), got {len(args)}")
    return entry.parameters


def tensor_map_value(arg: Any, buffers: list[tuple[Any, NDArray[Any]]]) -> Any:
    """A `TensorMap` as `cuLaunchKernel` takes it; a NumPy array behind it goes to the GPU.

    Raises LaunchError for anything else.
    """
    if not isinstance(arg, TensorMap):
        raise LaunchError(f"expected a TensorMap for a tensormap, got {type(arg).__name__}")
    address = arg.tensor if isinstance(arg.tensor, int) else _value(arg.tensor, "u64", buffers)
    return encode(_driver(), call, arg, address)


def _value(arg: Any, type_: str, buffers: list[tuple[Any, NDArray[Any]]]) -> Any:
    """An argument as `cuLaunchKernel` takes it; arrays go to the GPU."""
    if type_ == TENSORMAP:
        return tensor_map_value(arg, buffers)
    if isinstance(arg, np.ndarray):
        array: NDArray[Any] = np.ascontiguousarray(cast("NDArray[Any]", arg))
        pointer = call("cuMemAlloc", max(array.nbytes, 1))
        buffers.append((pointer, array))
        call("cuMemcpyHtoD", pointer, array.ctypes.data, array.nbytes)
        return int(pointer)
    if (interface := getattr(arg, "__cuda_array_interface__", None)) is not None:
        return int(interface["data"][0])
    if type_[0] == "f":
        return float(arg)
    return int(arg) % (1 << int(type_[1:]))
