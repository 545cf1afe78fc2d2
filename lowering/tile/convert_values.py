"""Values of the algebra that ops make: constants, and what integers are put together to."""

from collections.abc import Iterator
from typing import Any, cast

from xdsl.dialects import gpu

from tilewright.dialects.cute import ComposedLayout, Layout, ScaledBasis
from tilewright.dialects.cute.dialect import OPS
from tilewright.dialects.cute.ops.arithmetic import CompareOp, ElemLessOp, EqualOp
from tilewright.dialects.cute.ops.constructors import LeavesOp, PrintOp, StaticOp
from tilewright.dialects.cute.ops.convert import ConvertOp
from tilewright.dialects.cute.ops.scheduler import TileSchedulerBoundsOp
from tilewright.dialects.cute.ops.tiled import MakeTiledCopyOp, MakeTiledMmaOp
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.scalar import Dynamic, width_of
from tilewright.dialects.cute.types.algebra import typed_of
from tilewright.dialects.cute.types.tensors import element_type
from tilewright.dialects.cute.values import Typed, with_dynamic_leaves
from tilewright.dialects.cute_nvgpu.ops import fragment_arithmetic
from tilewright.dialects.cute_nvgpu.types.conversion import ConvertAttr
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.gpu import PrintfOp
from tilewright.lowering.emit.leaves import Leaf, sized
from tilewright.lowering.tile.access import register_places
from tilewright.lowering.tile.bounds import condition_value
from tilewright.lowering.tile.kernel import KernelLowering, lowers
from tilewright.lowering.tile.written_registers import WRITES


@lowers
def _constant(op: StaticOp | MakeTiledMmaOp | MakeTiledCopyOp, kernel: KernelLowering) -> None:
    kernel[op.result] = typed_of(op.result.type)


@lowers(*(op_type for op_type in OPS if issubclass(op_type, LeavesOp)))
def _make(op: LeavesOp, kernel: KernelLowering) -> None:
    type_ = typed_of(op.result.type)
    assert type_ is not None
    leaves = [kernel.typed(leaf).value for leaf in op.leaves]
    kernel[op.result] = with_dynamic_leaves(type_, leaves)


@lowers(ElemLessOp, EqualOp)
def _compare(op: CompareOp, kernel: KernelLowering) -> None:
    (condition,) = op.evaluate([kernel.typed(operand) for operand in op.operands])
    kernel[op.results[0]] = condition_value(condition, kernel.emitter)


@lowers
def _print(op: PrintOp, kernel: KernelLowering) -> None:
    shown = typed_of(op.value.type)
    assert shown is not None
    numbers = zip(_as_printed(shown.value), _as_printed(kernel.typed(op.value).value), strict=True)
    leaves = [
        sized(kernel.emitter, number, max(32, width_of(leaf)))
        for leaf, number in numbers
        if isinstance(leaf, Dynamic)
    ]
    kernel.emitter.add(PrintfOp(shown.printf_format, leaves))


def _as_printed(value: Any) -> Iterator[Any]:
    """The leaves of a value in the order of its text."""
    match value:
        case tuple():
            for item in cast("tuple[Any, ...]", value):
                yield from _as_printed(item)
        case Layout():
            yield from _as_printed((value.shape, value.stride))
        case ComposedLayout():
            yield from _as_printed((value.inner, value.offset, value.outer))
        case ScaledBasis():
            yield value.value
        case _:
            yield value


@lowers
def _bounds(op: TileSchedulerBoundsOp, kernel: KernelLowering) -> None:
    """From the CTA's own number on: one tile, or every so many as there are CTAs."""
    rows, columns = kernel.typed(op.tiles).value
    tiles = scalar.mul(rows, columns)
    own = _of_grid(gpu.BlockIdOp, kernel)
    if op.kind.data == "static":
        end, step = scalar.minimum(scalar.add(own, 1), tiles), 1
    else:
        end, step = tiles, _of_grid(gpu.GridDimOp, kernel)
    for result, value in ((op.lower, own), (op.upper, end), (op.step, step)):
        kernel[result] = Typed("scalar", value)


def _of_grid(op_type: type[gpu.BlockIdOp | gpu.GridDimOp], kernel: KernelLowering) -> Leaf:
    """A number of the grid along x, as i32."""
    emitter = kernel.emitter
    leaf = kernel.leaf(emitter.resized(emitter.of_launch(op_type), None, 32))
    assert isinstance(leaf, Leaf)
    return leaf


@lowers
def _convert(op: ConvertOp, kernel: KernelLowering) -> None:
    source, dest, *random = (kernel.tensor(operand) for operand in op.operands)
    every = range(source.modes.size())
    value, *bits = (
        kernel.read(op, tensor, register_places(op, tensor, range(tensor.modes.size())))
        for tensor in (source, *random)
    )
    atom = op.atom
    assert isinstance(atom, ConvertAttr)
    result = FragmentType.get(len(every), element_type(dest.element))
    converted = fragment_arithmetic.ConvertOp(value, result, atom, random=bits[0] if bits else None)
    places = register_places(op, dest, every)
    kernel.registers(dest).write(places, kernel.emitter.emit(converted), kernel.emitter)


WRITES[ConvertOp] = lambda op: op.destination
