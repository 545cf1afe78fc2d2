"""`tilewright.interpret`: run a kernel on the CPU, at the level it is written or as PTX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, get_args

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, MemRefType, ModuleOp
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Operation

from tilewright.compiler import run_pipeline, verified
from tilewright.diagnostic import CompileError, Diagnostic, OpError
from tilewright.dialects.cute.dialect import is_memref
from tilewright.dialects.cute.int_tuple import is_tuple
from tilewright.dialects.cute.types import CuteType
from tilewright.dialects.cute.values import read_typed
from tilewright.dialects.cute_nvgpu.lattice.cluster import MAX_CLUSTER
from tilewright.dialects.cute_nvgpu.targets import lowest, target
from tilewright.dialects.cute_nvgpu.tensor_box import TensorBox
from tilewright.dialects.cute_nvgpu.tma_types import TmaDescriptorType
from tilewright.dialects.ptx.control_flow import PARAMETER_TYPES, TENSORMAP, EntryOp
from tilewright.lowering.convert_cute_nvgpu_to_ptx import is_kernel
from tilewright.lowering.interpreter import run_kernel
from tilewright.lowering.interpreter.cute_values import LaneValue, bound
from tilewright.lowering.interpreter.errors import ExecutionError
from tilewright.lowering.interpreter.global_memory import GlobalMemory
from tilewright.lowering.interpreter.llvm import Struct
from tilewright.lowering.interpreter.machine import Launch
from tilewright.lowering.interpreter.memref import argument_view
from tilewright.lowering.interpreter.mma import NUMERICS
from tilewright.lowering.interpreter.values import is_array, uniform
from tilewright.lowering.scalar_types import ScalarType, scalar_type
from tilewright.parsing import op_diagnostic
from tilewright.passes.check_target import required_targets
from tilewright.tensor_map import TensorMap
from tilewright.tensor_map_argument import bind_tensor_map

__all__ = ["ExecutionError", "KernelParameter", "interpret", "kernel_signature"]

Level = Literal["atom", "ptx"]
LEVELS: tuple[Level, ...] = get_args(Level)
Dim = Sequence[int]


@dataclass(frozen=True, slots=True)
class Run:
    """What a run left: its memref arguments, and how many operations of single threads it took."""

    arrays: list[NDArray[Any]]
    lane_operations: int


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """A parameter of a kernel: its name and type as text; `element` is the element type of a memref
    or tensor map, `box` the box of a tensor map."""

    name: str
    type_text: str
    element: str | None
    box: TensorBox | None = None


def interpret(
    module_or_text: ModuleOp | str,
    kernel: str | None = None,
    *,
    grid: Dim,
    block: Dim,
    args: Sequence[Any],
    numerics: Literal["hardware", "exact"] = "hardware",
    arch: str | None = None,
    level: Level = "atom",
    name: str = "<string>",
    progress: Callable[[int, int], None] | None = None,
) -> list[NDArray[Any]]:
    """Run a kernel on the CPU and return its arrays, in order, as they are after the run.

    `args`: a C-contiguous NumPy array for each memref, a `TensorMap` of one for each
    `tma_descriptor`, a number for each scalar and a tuple for each struct, in order; inputs are
    not modified. An array of unsigned integers stands for raw bits of any element type of its
    width. `grid` and `block` are (x, y, z). `kernel` may be left out where there is one.
    `level="ptx"` lowers first and runs the instructions. `numerics="hardware"` computes MMAs as
    the chip `arch` does (by default the lowest target that the kernel needs), "exact" rounds the
    mathematical result once. `progress(done, total)` is called as CTAs finish.

    Raises CompileError for wrong IR, TargetError for an unknown arch, and ExecutionError for wrong
    arguments or what no kernel may do: an access out of bounds or misaligned, a data race, use of
    an undefined register, a barrier that not all reach.
    """
    return run(
        module_or_text,
        kernel,
        grid=grid,
        block=block,
        args=args,
        numerics=numerics,
        arch=arch,
        level=level,
        name=name,
        progress=progress,
    ).arrays


def run(
    module_or_text: ModuleOp | str,
    kernel: str | None = None,
    *,
    grid: Dim,
    block: Dim,
    args: Sequence[Any],
    numerics: Literal["hardware", "exact"] = "hardware",
    arch: str | None = None,
    level: Level = "atom",
    name: str = "<string>",
    progress: Callable[[int, int], None] | None = None,
) -> Run:
    """`interpret`, with the count of operations: an op executed by one thread is one."""
    if numerics not in NUMERICS:
        raise ExecutionError(f"expected numerics of {', '.join(NUMERICS)}, got '{numerics}'")
    if level not in LEVELS:
        raise ExecutionError(f"expected level of {', '.join(LEVELS)}, got '{level}'")
    module, source = verified(module_or_text, name)
    op = find_kernel(module, kernel, name)
    parameters = _parameters(op)
    chip = arch or _lowest_target(module)
    target(chip)
    launch = Launch(_dim("grid", grid), _dim("block", block), numerics, chip, source, progress)
    _check_block(op, launch)
    launch.cluster = _cluster(op, launch)
    memory = GlobalMemory()
    try:
        values = _bind(op, parameters, args, memory)
        if level == "ptx" and not isinstance(op, EntryOp):
            symbol = _symbol(op)
            run_pipeline(module, chip, source)
            op = find_kernel(module, symbol, name)
            values = [_pointer(value) for value in values]
        executed = run_kernel(op, launch, memory, values)
    except OpError as error:
        raise CompileError(op_diagnostic(error, source)) from None
    return Run(_results(args, memory), executed)


def kernel_signature(
    module_or_text: ModuleOp | str, kernel: str | None = None, name: str = "<string>"
) -> list[KernelParameter]:
    """The parameters of a kernel. Raises CompileError where there is no such kernel."""
    module, _ = verified(module_or_text, name)
    return [_public(each) for each in _parameters(find_kernel(module, kernel, name))]


def _public(parameter: _Parameter) -> KernelParameter:
    name, text, type_ = parameter.name, parameter.text, parameter.type
    if isinstance(type_, TmaDescriptorType):
        return KernelParameter(name, text, type_.box.element.mlir, type_.box)
    return KernelParameter(name, text, str(type_.element_type) if is_memref(type_) else None)


# Kernels


def find_kernel(module: ModuleOp, kernel: str | None, name: str) -> Operation:
    """The kernel of that name, or the only one. Raises CompileError."""
    found = [op for op in module.walk() if isinstance(op, EntryOp) or is_kernel(op)]
    chosen = [op for op in found if kernel in (None, _symbol(op))]
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(_symbol(op) for op in found) or "none"
    wanted = "one kernel" if kernel is None else f"a kernel '{kernel}'"
    raise CompileError(Diagnostic(f"expected {wanted}, got {names}", name))


def _symbol(op: Operation) -> str:
    assert isinstance(op, EntryOp | func.FuncOp | gpu.FuncOp)
    return op.sym_name.data


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    text: str
    type: Attribute | None


def _parameters(op: Operation) -> list[_Parameter]:
    arguments = op.regions[0].blocks[0].args
    if isinstance(op, EntryOp):
        pairs = zip(op.parameter_names, op.parameters, strict=True)
        return [_Parameter(name.data, type_.data, None) for name, type_ in pairs]
    return [
        _Parameter(each.name_hint or f"arg{i}", str(each.type), each.type)
        for i, each in enumerate(arguments)
    ]


def _lowest_target(module: ModuleOp) -> str:
    return lowest(required_targets(module)).name


# The most that any target launches. CUDA C++ Programming Guide, compute capabilities.
_LIMITS = {"grid": ((1 << 31) - 1, 65535, 65535), "block": (1024, 1024, 64)}


def _dim(what: str, dim: Dim) -> tuple[int, int, int]:
    padded = (*dim, 1, 1)[:3] if 1 <= len(dim) <= 3 else ()
    if not padded or any(int(each) != each or each < 1 for each in padded):
        raise ExecutionError(f"expected {what} as up to three positive extents, got {tuple(dim)}")
    x, y, z = (int(each) for each in padded)
    if any(each > limit for each, limit in zip((x, y, z), _LIMITS[what], strict=True)):
        raise ExecutionError(f"expected {what} of at most {_LIMITS[what]}, got {(x, y, z)}")
    return x, y, z


def _check_block(op: Operation, launch: Launch) -> None:
    if launch.threads > 1024:
        raise ExecutionError(f"expected a block of at most 1024 threads, got {launch.threads}")
    known = op.attributes.get("gpu.known_block_size") or op.properties.get("reqntid")
    if known is not None:
        wanted = tuple(known.get_values())  # type: ignore[attr-defined]
        if wanted != launch.block:
            raise ExecutionError(f"'{_symbol(op)}' expected block {wanted}, got {launch.block}")


def _cluster(op: Operation, launch: Launch) -> tuple[int, int, int]:
    """The cluster that a kernel declares: one CTA where it declares none."""
    known = op.attributes.get("gpu.known_cluster_size") or op.properties.get("cluster")
    if not isinstance(known, DenseArrayBase):
        return 1, 1, 1
    extents = tuple(int(each) for each in known.get_values())
    if len(extents) != 3 or min(extents) < 1 or prod(extents) > MAX_CLUSTER:
        raise ExecutionError(
            f"'{_symbol(op)}' expected gpu.known_cluster_size of three extents, at most "
            f"{MAX_CLUSTER} CTAs in all, got {extents}"
        )
    if any(whole % part for whole, part in zip(launch.grid, extents, strict=True)):
        raise ExecutionError(
            f"'{_symbol(op)}' expected a grid of whole clusters of {extents}, got {launch.grid}"
        )
    x, y, z = extents
    return x, y, z


# Arguments

_DTYPES: dict[str, tuple[Any, ...]] = {
    "f16": (np.float16,),
    "bf16": (ml_dtypes.bfloat16, "V2"),
    "f32": (np.float32,),
    "f64": (np.float64,),
    "tf32": (np.float32,),
    "i1": (np.bool_,),
    "index": (np.int64,),
    **{f"{sign}i{width}": (f"int{width}",) for sign in ("", "s") for width in (8, 16, 32, 64)},
    **{f"ui{width}": (f"uint{width}",) for width in (8, 16, 32, 64)},
}


def _bind(
    op: Operation, parameters: list[_Parameter], args: Sequence[Any], memory: GlobalMemory
) -> list[Any]:
    """The values of the arguments; arrays are put into global memory."""
    if len(args) != len(parameters):
        names = ", ".join(f"{each.name}: {each.text}" for each in parameters)
        raise ExecutionError(f"expected {len(parameters)} arguments ({names}), got {len(args)}")
    return [_bind_one(op, each, arg, memory) for each, arg in zip(parameters, args, strict=True)]


def _bind_one(op: Operation, parameter: _Parameter, arg: Any, memory: GlobalMemory) -> Any:
    if isinstance(parameter.type, LLVMStructType):
        return _bind_struct(parameter, parameter.type, arg)
    if isinstance(parameter.type, TmaDescriptorType) or parameter.text == TENSORMAP:
        return bind_tensor_map(parameter.name, parameter.type, arg, memory)
    if isinstance(arg, TensorMap):
        raise ExecutionError(
            f"argument '{parameter.name}' expected {parameter.text}, got a tensor map"
        )
    if is_array(arg):
        array = np.asarray(arg, order="C")
        if is_memref(parameter.type):
            _check_array(parameter, parameter.type, array)
        elif parameter.type is not None or parameter.text != "u64":
            raise ExecutionError(
                f"argument '{parameter.name}' expected a number for {parameter.text}, got an array"
            )
        base = memory.allocate(parameter.name, array.reshape(-1).view(np.uint8)).base
        if is_memref(parameter.type):
            return argument_view(op, parameter.type, base, array.dtype.itemsize)
        return np.array([base], dtype=np.uint64)
    if isinstance(parameter.type, CuteType):
        return _bind_cute(parameter, parameter.type, arg)
    if is_memref(parameter.type):
        raise ExecutionError(
            f"argument '{parameter.name}' expected an array for {parameter.text}, "
            f"got {type(arg).__name__}"
        )
    return _scalar(parameter, arg)


def _bind_struct(parameter: _Parameter, type_: LLVMStructType, arg: Any) -> Struct:
    """A struct from a tuple of its fields."""
    types = type_.types.data
    if not is_tuple(arg) or len(arg) != len(types):
        raise ExecutionError(
            f"argument '{parameter.name}' expected a tuple of {len(types)} for {type_}, got {arg!r}"
        )
    parts = [_Parameter(f"{parameter.name}[{i}]", str(t), t) for i, t in enumerate(types)]
    return Struct(tuple(map(_bind_field, parts, arg)))


def _bind_field(field: _Parameter, arg: Any) -> Any:
    if isinstance(field.type, LLVMStructType):
        return _bind_struct(field, field.type, arg)
    return _scalar(field, arg)


def _bind_cute(parameter: _Parameter, type_: CuteType, arg: Any) -> LaneValue:
    try:
        value = read_typed(type_.kind(), arg).value if isinstance(arg, str) else arg
        return bound(type_.typed, value)
    except ValueError as error:
        raise ExecutionError(
            f"argument '{parameter.name}' expected a value of {parameter.text}, {error}"
        ) from None


def _check_array(parameter: _Parameter, type_: MemRefType[Attribute], array: NDArray[Any]) -> None:
    element = str(type_.element_type)
    legal = [np.dtype(each) for each in _DTYPES.get(element, ())]
    width = legal[0].itemsize if legal else 0
    if array.dtype not in legal and array.dtype != np.dtype(f"uint{8 * max(width, 1)}"):
        raise ExecutionError(
            f"argument '{parameter.name}' expected dtype {legal[0] if legal else element} "
            f"(or uint{8 * width}, raw bits) for {parameter.text}, got {array.dtype}"
        )
    shape = type_.get_shape()
    # memref<?xT> is a bare pointer: any array of T may stand behind it.
    if shape != (DYNAMIC_INDEX,) and (
        array.ndim != len(shape)
        or any(want not in (DYNAMIC_INDEX, have)
               for want, have in zip(shape, array.shape, strict=True))
    ):  # fmt: skip
        raise ExecutionError(
            f"argument '{parameter.name}' expected shape "
            f"{tuple('?' if each == DYNAMIC_INDEX else each for each in shape)} for "
            f"{parameter.text}, got {array.shape}"
        )


def _scalar(parameter: _Parameter, arg: Any) -> Any:
    held, is_float = _scalar_type(parameter)
    try:
        if is_float:
            return _float_value(parameter.text, float(arg))
        value = int(arg)
        if value != arg:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise ExecutionError(
            f"argument '{parameter.name}' expected a number for {parameter.text}, got {arg!r}"
        ) from None
    if not -(1 << (held.bits - 1)) <= value < 1 << held.bits:
        raise ExecutionError(
            f"argument '{parameter.name}' expected {held.bits} bits for {parameter.text}, "
            f"got {value}"
        )
    if held.bits == 8 and parameter.type is not None:
        return np.array([value & 0xFF], dtype=np.uint8)
    return uniform(value, held.kind)


def _scalar_type(parameter: _Parameter) -> tuple[ScalarType, bool]:
    if parameter.type is None:
        kind = PARAMETER_TYPES[parameter.text]
        bits = int(parameter.text[1:])
        return ScalarType(bits, kind, kind, parameter.text), parameter.text[0] == "f"
    held = scalar_type(parameter.type)
    if held is None:
        raise ExecutionError(f"argument '{parameter.name}' of {parameter.text} cannot be passed")
    return held, parameter.text in ("f16", "bf16", "f32", "f64")


def _float_value(type_: str, value: float) -> NDArray[Any]:
    dtype = np.dtype(_DTYPES[type_][0])
    with np.errstate(over="ignore"):
        return np.array([value]).astype(dtype).view(f"uint{8 * dtype.itemsize}")


def _pointer(value: Any) -> Any:
    """What the `ptx` level gets: a memref's address, an i8 in 16 bits, a predicate in 16."""
    if hasattr(value, "address"):
        return value.address
    if value.dtype in (np.uint8, np.bool_):
        return value.astype(np.uint16)
    return value


def _results(args: Sequence[Any], memory: GlobalMemory) -> list[NDArray[Any]]:
    held = [each.array if isinstance(each, TensorMap) else each for each in args]
    arrays = [each for each in held if is_array(each)]
    return [
        buffer.data[: buffer.size].view(array.dtype).reshape(array.shape).copy()
        for array, buffer in zip(arrays, memory.allocations, strict=True)
    ]
