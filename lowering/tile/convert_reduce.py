"""`cute.reduce`: what falls on one element, in the order of coordinates, then over lanes."""

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cute.ops.elements import ReduceOp
from tilewright.dialects.cute.ops.properties import path_of
from tilewright.dialects.cute.tensor import element_bits
from tilewright.dialects.cute.types.tensors import element_type
from tilewright.dialects.cute_nvgpu.ops.shuffle import ShflSyncOp
from tilewright.lowering.emit.emitter import Emitter
from tilewright.lowering.tile.access import read_scalars, register_places
from tilewright.lowering.tile.kernel import KernelLowering, lowers
from tilewright.lowering.tile.written_registers import WRITES

_COMBINE: dict[str, tuple[type[Operation], type[Operation]]] = {
    "add": (arith.AddfOp, arith.AddiOp),
    "max": (arith.MaximumfOp, arith.MaxSIOp),
    "min": (arith.MinimumfOp, arith.MinSIOp),
}
"""The ops that combine two floats, and two integers."""


@lowers
def _reduce(op: ReduceOp, kernel: KernelLowering) -> None:
    source, dest = kernel.tensor(op.source), kernel.tensor(op.destination)
    element = element_type(source.element)
    combine = _COMBINE[op.kind.data][0 if isinstance(element, AnyFloat) else 1]
    every = range(source.modes.size())
    reduced: dict[int, SSAValue] = {}
    values = read_scalars(op, source, every, kernel)
    for place, value in zip(register_places(op, dest, every), values, strict=True):
        before = reduced.get(place)
        reduced[place] = value if before is None else _combined(combine, before, value, kernel)
    for mask in path_of(op.lanes):
        for place, value in reduced.items():
            other = shuffled(value, mask, element, kernel.emitter)
            reduced[place] = _combined(combine, value, other, kernel)
    kernel.registers(dest).write_elements(reduced)


def _combined(
    combine: type[Operation], a: SSAValue, b: SSAValue, kernel: KernelLowering
) -> SSAValue:
    return kernel.emitter.emit(combine(a, b))  # type: ignore[call-arg]


def shuffled(value: SSAValue, mask: int, element: Attribute, emitter: Emitter) -> SSAValue:
    """The value of the lane whose number differs in the mask's bit, word by word."""
    if element == f32:
        return emitter.emit(ShflSyncOp("bfly", value, mask))
    return by_words(value, element, emitter, lambda word: ShflSyncOp("bfly", word, mask))


def by_words(
    value: SSAValue, element: Attribute, emitter: Emitter, moved: Callable[[SSAValue], Operation]
) -> SSAValue:  # fmt: skip
    """The value that the words of another are, moved."""
    width = element_bits(str(element))
    whole = IntegerType(width)
    bits = value if element == whole else emitter.emit(arith.BitcastOp(value, whole))
    words = [
        emitter.resized(_from(bits, first, emitter), width, 32) for first in range(0, width, 32)
    ]
    low, *high = (emitter.emit(moved(word)) for word in words)
    other = emitter.resized(low, 32, width)
    if high:
        other = emitter.emit(arith.ExtUIOp(low, whole))
        upper = emitter.emit(arith.ExtUIOp(high[0], whole))
        upper = emitter.binary("shl", upper, 32)
        other = emitter.binary("or", other, upper)
    return other if element == whole else emitter.emit(arith.BitcastOp(other, element))


def _from(bits: SSAValue, first: int, emitter: Emitter) -> SSAValue:
    """The bits of an integer from one on."""
    return emitter.binary("shr", bits, first) if first else bits


WRITES[ReduceOp] = lambda op: op.destination
