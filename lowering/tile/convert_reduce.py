"""`cute.reduce`: what falls on one element, in the order of coordinates, then over lanes."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, Float32Type, bf16, f16, i16, i32
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.diagnostic import OpError
from tilewright.dialects.cute.ops.elements import ReduceOp
from tilewright.dialects.cute.ops.properties import path_of
from tilewright.dialects.cute.types.tensors import element_type
from tilewright.dialects.cute_nvgpu.ops.shuffle import ShflSyncOp
from tilewright.lowering.tile.access import read_scalars, register_places
from tilewright.lowering.tile.kernel import Kernel, lowers
from tilewright.lowering.tile.written_registers import WRITES

_COMBINE: dict[str, tuple[type[Operation], type[Operation]]] = {
    "add": (arith.AddfOp, arith.AddiOp),
    "max": (arith.MaximumfOp, arith.MaxSIOp),
    "min": (arith.MinimumfOp, arith.MinSIOp),
}
"""The ops that combine two floats, and two integers."""


@lowers(ReduceOp)
def _reduce(op: ReduceOp, kernel: Kernel) -> None:
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
            other = _shuffled(op, value, mask, element, kernel)
            reduced[place] = _combined(combine, value, other, kernel)
    kernel.registers(dest).write_elements(reduced)


def _combined(combine: type[Operation], a: SSAValue, b: SSAValue, kernel: Kernel) -> SSAValue:
    return kernel.emitter.emit(combine(a, b))  # type: ignore[call-arg]


def _shuffled(
    op: ReduceOp, value: SSAValue, mask: int, element: Attribute, kernel: Kernel
) -> SSAValue:
    """The value of the lane whose number differs in the mask's bit."""
    emitter = kernel.emitter
    if element in (Float32Type(), i32):
        return emitter.emit(ShflSyncOp("bfly", value, mask))
    if element not in (f16, bf16, i16):
        raise OpError(
            op, f"'{op.name}' over lanes expected 16 or 32 bits, got {element}; nearest legal: f32"
        )
    bits = value if element == i16 else emitter.emit(arith.BitcastOp(value, i16))
    word = emitter.emit(arith.ExtUIOp(bits, i32))
    other = emitter.emit(arith.TruncIOp(emitter.emit(ShflSyncOp("bfly", word, mask)), i16))
    return other if element == i16 else emitter.emit(arith.BitcastOp(other, element))


WRITES[ReduceOp] = lambda op: op.destination
