"""Tensors of their own, and their elements: allocations, fragments, vectors in and out."""

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.builtin import MemRefType as LineType
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute import ComposedLayout
from tilewright.dialects.cute.ops.elements import (
    CoordsOp,
    FillOp,
    LoadOp,
    LoadVecOp,
    StoreOp,
    StoreVecOp,
)
from tilewright.dialects.cute.ops.memory import AllocaOp, AllocOp
from tilewright.dialects.cute.ops.properties import path_of
from tilewright.dialects.cute.ops.tensors import MakeFragmentLikeOp, MapSharedOp
from tilewright.dialects.cute.ops.tiled import MakeFragmentOp
from tilewright.dialects.cute.recast import upcast
from tilewright.dialects.cute.rules.tensors import coords, element_at
from tilewright.dialects.cute.swizzle import Swizzle
from tilewright.dialects.cute.symbolic.tuples import product
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.types.memref import footprint, shared_line
from tilewright.dialects.cute.types.tensors import MemRefType, element_type
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.cute_nvgpu.ops import cluster
from tilewright.lowering.emit.leaves import sized
from tilewright.lowering.emit.registers import RegisterChunks
from tilewright.lowering.tile.access import read_scalars, write_scalars
from tilewright.lowering.tile.convert_tensor_memory import allocate
from tilewright.lowering.tile.kernel import KernelLowering, lowers
from tilewright.lowering.tile.places import Memory, item_type, per_item
from tilewright.lowering.tile.vectors import VectorValue
from tilewright.lowering.tile.written_registers import MAKES, WRITES


def line_type(tensor: Tensor) -> LineType:
    """The line of shared memory that a tensor's layout needs, with the layout's swizzle."""
    layout, per, swizzle = tensor.layout, per_item(tensor), None
    if isinstance(layout, ComposedLayout) and isinstance(layout.inner, Swizzle):
        swizzle = upcast(per, layout.inner)
    return shared_line(item_type(tensor), -(-footprint(layout) // per), swizzle)


@lowers
def _alloc(op: AllocOp, kernel: KernelLowering) -> None:
    assert isinstance(op.result.type, MemRefType)
    tensor = op.result.type.tensor
    if tensor.space == "tmem":
        allocate(op, kernel)
        return
    align = IntegerAttr(max(tensor.align, 16), i64)
    allocation = memref.AllocOp([], [], line_type(tensor), align)
    allocation.memref.name_hint = op.result.name_hint
    base = Memory(kernel.emitter.emit(allocation), "smem")
    kernel[op.result] = _based(tensor, base)


@lowers
def _map_shared(op: MapSharedOp, kernel: KernelLowering) -> None:
    (there,) = op.evaluate([kernel.typed(op.source), kernel.typed(op.rank)])
    assert isinstance(there, Typed)
    tensor, emitter = there.value, kernel.emitter
    mapped = emitter.emit(cluster.MapOp(tensor.base.value, kernel[op.rank]))
    base = Memory(mapped, "dsmem")
    mapped_tensor = Tensor(
        tensor.element, "dsmem", tensor.align, tensor.layout, base, tensor.offset
    )
    kernel[op.result] = Typed("memref", mapped_tensor)


def _based(tensor: Tensor, base: object) -> Typed:
    based = Tensor(tensor.element, tensor.space, tensor.align, tensor.layout, base, 0)
    return Typed("memref", based)


@lowers
def _registers(op: AllocaOp | MakeFragmentLikeOp, kernel: KernelLowering) -> None:
    make_registers(op, op.result, kernel)


@lowers
def _fragment(op: MakeFragmentOp, kernel: KernelLowering) -> None:
    assert isinstance(op.result.type, MemRefType)
    if op.result.type.tensor.space == "rmem":
        make_registers(op, op.result, kernel)
    else:
        kernel[op.result] = kernel.typed(op.source)


def make_registers(op: Operation, result: SSAValue, kernel: KernelLowering) -> None:
    """A register tensor, in chunks of its first modes."""
    assert isinstance(result.type, MemRefType)
    tensor = result.type.tensor
    size = tensor.modes.cosize()
    first = product(tensor.modes[0].shape) if isinstance(tensor.modes.shape, tuple) else size
    assert isinstance(first, int)
    kernel[result] = _based(tensor, RegisterChunks(element_type(tensor.element), size, first))


MAKES.update((AllocaOp, MakeFragmentLikeOp, MakeFragmentOp))


# --- elements -------------------------------------------------------------------------------------


def _all(tensor: Tensor) -> range:
    count = product(tensor.modes.shape)
    assert isinstance(count, int)
    return range(count)


@lowers
def _load_vec(op: LoadVecOp, kernel: KernelLowering) -> None:
    tensor = kernel.tensor(op.source)
    kernel[op.result] = VectorValue(tuple(read_scalars(op, tensor, _all(tensor), kernel)))


@lowers
def _load(op: LoadOp, kernel: KernelLowering) -> None:
    source, at = kernel.typed(op.source), kernel.typed(op.coord)
    if source.kind == "coord_tensor":
        kernel[op.result] = element_at(source, at)
    else:
        (kernel[op.result],) = read_scalars(op, source.value, [at.value], kernel)


@lowers
def _coords(op: CoordsOp, kernel: KernelLowering) -> None:
    coordinates = coords(kernel.typed(op.source), path_of(op.mode))
    kernel[op.result] = VectorValue(tuple(sized(kernel.emitter, at, 32) for at in coordinates))


@lowers
def _store_vec(op: StoreVecOp, kernel: KernelLowering) -> None:
    tensor = kernel.tensor(op.destination)
    write_scalars(op, tensor, _all(tensor), kernel.vector(op.value).elements, kernel)


@lowers
def _store(op: StoreOp, kernel: KernelLowering) -> None:
    tensor, at = kernel.tensor(op.destination), kernel.typed(op.coord).value
    write_scalars(op, tensor, [at], [kernel[op.value]], kernel)


@lowers
def _fill(op: FillOp, kernel: KernelLowering) -> None:
    tensor, value = kernel.tensor(op.destination), kernel[op.value]
    places = _all(tensor)
    write_scalars(op, tensor, places, [value] * len(places), kernel)


WRITES[StoreVecOp] = WRITES[StoreOp] = WRITES[FillOp] = lambda op: op.destination
