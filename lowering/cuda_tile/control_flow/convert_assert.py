"""`assert`: where an element is false, the first thread of those that hold it says so in tileiras'
words, and stops the kernel."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf, gpu
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops.control_flow import AssertOp
from tilewright.dialects.gpu import PrintfOp
from tilewright.dialects.printf_format import SAID, failed_tile_assertion
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.layouts import log2
from tilewright.source.diagnostic import place_of


@lowers
def _assert(op: AssertOp, kernel: EntryLowering) -> None:
    emitter, layout = kernel.emitter, kernel.table.of(op.condition)
    elements = zip(kernel.elements(op.condition, layout), layout.places, strict=True)
    own = kernel.threads.first_of(layout)
    thread = kernel.threads.total([0 if bit is None else 1 << bit for bit in layout.threads])

    def stop(condition: SSAValue, place: int) -> None:
        number = emitter.constant(place, 32)
        if thread is not None:
            number = emitter.binary("add", thread, number) if place else thread
        blocks = [
            emitter.resized(emitter.of_launch(gpu.BlockIdOp, axis), None, 32)
            for axis in gpu.DimensionEnum
        ]
        shape = shape_of(op.condition)
        text = failed_tile_assertion(op.message.data, place_of(op.location), len(shape))
        emitter.add(PrintfOp(text, [*blocks, *_coordinates(number, shape, kernel)]))
        failed = cf.AssertOp(condition, op.message)
        failed.attributes[SAID] = UnitAttr()
        emitter.add(failed)

    for condition, place in dict(elements).items():
        fails = emitter.binary("xor", condition, 1)
        if own is not None:
            fails = emitter.binary("and", own, fails)
        emitter.when(fails, lambda condition=condition, place=place: stop(condition, place))


def _coordinates(number: SSAValue, shape: Sequence[int], kernel: EntryLowering) -> list[SSAValue]:
    """The index of an element, by its number."""
    emitter, coordinates = kernel.emitter, list[SSAValue]()
    for extent in reversed(shape):
        coordinates.insert(0, emitter.binary("and", number, extent - 1))
        number = emitter.binary("shr", number, log2(extent))
    return coordinates
