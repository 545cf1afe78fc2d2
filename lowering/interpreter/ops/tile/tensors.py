"""Tensors of the tile level: allocations, copies and gemms.

Views of tensors are values of the algebra, which `cute` evaluates; here they get memory behind
them.
"""

from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute import ComposedLayout, Layout, Swizzle
from tilewright.dialects.cute.atoms import Operand
from tilewright.dialects.cute.int_tuple import flatten
from tilewright.dialects.cute.ops.copy import CopyOp
from tilewright.dialects.cute.ops.gemm import GemmOp
from tilewright.dialects.cute.ops.memory import AllocaOp, AllocOp
from tilewright.dialects.cute.ops.tensors import MakeFragmentLikeOp, MapSharedOp
from tilewright.dialects.cute.ops.tiled import (
    MakeFragmentOp,
    MakeTiledCopyOp,
    MakeTiledMmaOp,
    TypedConstantOp,
)
from tilewright.dialects.cute.recast import upcast
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.tensor import CoordTensor, Tensor
from tilewright.dialects.cute.types.algebra import typed_of
from tilewright.dialects.cute.types.tensors import MemRefType
from tilewright.dialects.cute.types.tiled import TiledCopyType, TiledMmaType
from tilewright.dialects.cute.types.tma import TmaCopyType
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.cute_nvgpu.types.atoms import MmaAtomType
from tilewright.dialects.cute_nvgpu.types.copies import CopyInstructionAttr
from tilewright.dialects.cute_nvgpu.types.shared_atoms import UmmaAtomType, WgmmaAtomType
from tilewright.dialects.cute_nvgpu.types.universal_fma import UniversalFmaType
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneInteger, LaneValue
from tilewright.lowering.interpreter.builder import (
    Builder,
    Effect,
    Run,
    Step,
    accesses,
    effects,
    runs,
)
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.arith import Compute, computes, constant, pure
from tilewright.lowering.interpreter.ops.base.memref import place_in_shared
from tilewright.lowering.interpreter.ops.instructions.cluster import remote
from tilewright.lowering.interpreter.ops.tile import tma as tile_tma
from tilewright.lowering.interpreter.ops.tile.algebra import typed_value
from tilewright.lowering.interpreter.ops.tile.copy import (
    Chosen,
    Copying,
    copy_async,
    copy_threads,
    load_matrices,
    store_matrices,
)
from tilewright.lowering.interpreter.ops.tile.gemm import multiply_registers, multiply_threads
from tilewright.lowering.interpreter.ops.tile.tensor_access import SharedBase, coordinates, numbers
from tilewright.lowering.interpreter.ops.tile.tensor_memory import (
    TensorGemm,
    allocate,
    copy_cells,
    load_cells,
    store_cells,
)
from tilewright.lowering.interpreter.ops.tile.wgmma import WarpgroupGemm
from tilewright.lowering.interpreter.values import Bits
from tilewright.source.diagnostic import OpError

# Allocations


def placed(tensor: Tensor, base: Any) -> LaneValue:
    """A tensor in memory, from its base on."""
    start = LaneInteger(np.zeros(1, dtype=np.uint64))
    tensor_there = Tensor(tensor.element, tensor.space, tensor.align, tensor.layout, base, start)
    return LaneValue(Typed("memref", tensor_there))


def _tensor(value: SSAValue) -> Tensor:
    assert isinstance(value.type, MemRefType)
    return value.type.tensor


@runs
def _alloc(op: AllocOp, builder: Builder) -> Step | None:
    tensor = _tensor(op.result)
    if tensor.space == "tmem":
        allocate(op, builder)
        return None
    width = _bytes(op, tensor)
    layout = tensor.layout if tensor.bits >= 8 else _line_of_bytes(tensor)
    offset = place_in_shared(op, builder, layout, width, tensor.align)
    return pure(op, builder, constant(placed(tensor, SharedBase(offset))))


@effects
def _map_shared(op: MapSharedOp) -> Effect:
    def run(machine: Machine, gang: Gang, source: LaneValue, rank: Bits) -> LaneValue:
        (there,) = op.evaluate([typed_value(source), typed_value(rank)])
        assert isinstance(there, Typed)
        tensor: Tensor = there.value
        above = remote(np.zeros_like(rank), rank)
        elements = LaneInteger(above * np.uint64(8) // np.uint64(tensor.bits))
        place = scalar.add(tensor.offset, elements)
        moved = Tensor(tensor.element, "dsmem", tensor.align, tensor.layout, tensor.base, place)
        return LaneValue(Typed("memref", moved))

    return run, op.source, op.rank


def _line_of_bytes(tensor: Tensor) -> AnyLayout:
    """The bytes that hold the elements, one after the other, through the same swizzle."""
    layout, per = tensor.layout, 8 // tensor.bits
    line = Layout(-(-tensor.modes.cosize() // per), 1)
    if isinstance(layout, ComposedLayout) and isinstance(layout.inner, Swizzle):
        return ComposedLayout(upcast(per, layout.inner), 0, line)
    return line


def _bytes(op: Operation, tensor: Tensor) -> int:
    """The bytes that hold an element. Raises OpError for an odd width."""
    if 64 % tensor.bits:
        raise OpError(
            op,
            f"'{op.name}' of {tensor.element} cannot be interpreted; nearest legal: elements of "
            "1, 2, 4, 8, 16, 32 or 64 bits",
        )
    return max(tensor.bits // 8, 1)


def in_registers(op: Operation, number: int, value: SSAValue) -> Run:
    """Allocate a register tensor."""
    tensor = _tensor(value)
    size, dtype = tensor.modes.cosize(), np.dtype(f"uint{8 * _bytes(op, tensor)}")

    def run(machine: Machine, gang: Gang, *operands: Any) -> LaneValue:
        return placed(tensor, machine.registers.tensor(number, gang.lanes, size, dtype))

    return run


@accesses
def _alloca(op: AllocaOp | MakeFragmentLikeOp, number: int) -> Effect:
    return in_registers(op, number, op.result)


@accesses
def _make_fragment(op: MakeFragmentOp, number: int) -> Effect:
    if _tensor(op.result).space == "rmem":
        return in_registers(op, number, op.result)

    def run(machine: Machine, gang: Gang, source: LaneValue) -> LaneValue:
        return source

    return run, op.source


@computes(MakeTiledMmaOp, MakeTiledCopyOp)
def _typed_constant(op: TypedConstantOp) -> Compute:
    """A value that its type says in full."""
    typed = typed_of(op.result.type)
    assert typed is not None
    return constant(LaneValue(typed))


# Copies


_BY_THREADS = {"universal": copy_threads, "cp_async": copy_async}
_BY_WARPS = {
    "ldmatrix": load_matrices, "stmatrix": store_matrices,
    "tmem_load": load_cells, "tmem_store": store_cells, "tmem_copy": copy_cells,
}  # fmt: skip


@accesses
def _copy(op: CopyOp, number: int) -> Effect:
    if op.tiled is not None and isinstance(op.tiled.type, TmaCopyType):
        return tile_tma.copy_effect(op, number)
    instruction = None
    if op.tiled is not None:
        assert isinstance(op.tiled.type, TiledCopyType)
        atom = op.tiled.type.atom
        assert isinstance(atom, CopyInstructionAttr)
        instruction = atom.data
    kind = "universal" if instruction is None else instruction.kind
    if op.coords is not None and kind in _BY_WARPS:
        raise OpError(op, f"'{op.name}' of whole warps expected no bounds")
    copy = {**_BY_THREADS, **_BY_WARPS}[kind]

    def run(machine: Machine, gang: Gang, source: Any, dest: Any, coords: Any, limits: Any) -> None:
        chosen = None
        if coords is not None and limits is not None:
            chosen = within(coords.typed.value, limits.typed.value)
        tensors = source.typed.value, dest.typed.value
        copy(Copying(machine, gang, *tensors, number, instruction, chosen))

    return run, op.source, op.destination, op.coords, op.limits


def within(coords: CoordTensor, limits: Any) -> Chosen:
    """The elements whose coordinates are below the limits: [threads or 1, elements]."""
    inside = np.ones((1, 1), dtype=np.bool_)
    for axis, limit in zip(coordinates(coords), flatten(limits), strict=True):
        inside = inside & (axis < numbers(limit)[:, None])
    return inside


# Gemms


@accesses
def _gemm(op: GemmOp, number: int) -> Effect:
    assert isinstance(op.mma.type, TiledMmaType)
    atom = op.mma.type.atom
    operands = list[Operand](op.tensors)
    if not isinstance(atom, MmaAtomType | WgmmaAtomType | UmmaAtomType | UniversalFmaType):
        raise OpError(op, f"'{op.name}' of {atom} cannot be interpreted")

    def run(
        machine: Machine, gang: Gang, dest: LaneValue, values: list[LaneValue], accumulate: Any
    ) -> None:
        d: Tensor = dest.typed.value
        tensors: dict[Operand, Tensor] = {
            which: value.typed.value for which, value in zip(operands, values, strict=True)
        }
        if isinstance(atom, WgmmaAtomType):
            WarpgroupGemm(atom.data, number, tensors, d, accumulate).run(machine, gang)
        elif isinstance(atom, UmmaAtomType):
            TensorGemm(atom.data, number, tensors, d, accumulate).run(machine, gang)
        elif isinstance(atom, UniversalFmaType):
            multiply_threads(gang, atom.data, d, tensors, accumulate)
        else:
            multiply_registers(machine, gang, atom.data, d, tensors, accumulate)

    return run, op.d, list(op.tensors.values()), op.accumulate
