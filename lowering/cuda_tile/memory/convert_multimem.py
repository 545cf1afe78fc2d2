"""Tiles of views of multicast objects: all copies are accessed at once.

Two halves move in one word, so that where they lie side by side has to be proven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.enums import MultimemReductionKind
from tilewright.dialects.cuda_tile.ops.multimem import (
    MultimemAccess,
    MultimemLoadReduceViewTkoOp,
    MultimemReduceViewTkoOp,
    MultimemStoreViewTkoOp,
)
from tilewright.dialects.cute_nvgpu.ops import multimem
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.lowering.cuda_tile.memory.access import MaskedAccess
from tilewright.lowering.cuda_tile.memory.convert_views import tile_accesses
from tilewright.lowering.cuda_tile.memory.memory_access import semantics_of
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_weak
from tilewright.passes.cuda_tile.analysis.view_access import access_layout
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable, finds
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout
from tilewright.source.diagnostic import OpError

_KINDS = {
    MultimemReductionKind.ADD: "add.u", MultimemReductionKind.MIN: "min.s",
    MultimemReductionKind.MAX: "max.s", MultimemReductionKind.UMIN: "min.u",
    MultimemReductionKind.UMAX: "max.u", MultimemReductionKind.AND: "and.b",
    MultimemReductionKind.OR: "or.b", MultimemReductionKind.XOR: "xor.b",
}  # fmt: skip
_SINCE = 90
"""The first target with multicast objects."""


def _operation(op: MultimemAccess, element: str) -> str:
    """`add.u32`, `max.f16x2`."""
    form = _KINDS[op.kind]
    if element[0] == "i":
        return form + element[1:]
    return f"{form[:4]}{multimem.TYPES[element]}"


def _check_target(op: MultimemAccess, kernel: EntryLowering) -> None:
    if kernel.arch is not None and kernel.arch.number < _SINCE:
        raise OpError(op, f"'{op.name}' expected a target with multicast objects, got "
                      f"{kernel.arch.name}; nearest legal: sm_90")  # fmt: skip


def _words(
    op: MultimemAccess, element: str, accesses: Iterable[MaskedAccess]
) -> Iterator[tuple[MaskedAccess, Sequence[int], int]]:
    """The registers that one instruction moves, and how far behind its access's address."""
    size, pair = bytes_of(op.view_type.tensor_view.element_type), element in ("f16", "bf16")  # type: ignore[attr-defined]
    for access in accesses:
        count = len(access.registers)
        if pair and count == 1:
            raise OpError(op, f"'{op.name}' expected {element} of which two lie side by side in "
                          "one word, which nothing proves of the address, the strides and the "
                          "sizes of the tensor; nearest legal: assume div_by")  # fmt: skip
        step = count if pair or element == "f32" else 1
        for i in range(0, count, step):
            yield access, access.registers[i : i + step], access.offset + i * size


@finds
def _loaded(op: MultimemLoadReduceViewTkoOp, table: LayoutTable) -> TileLayout:
    return access_layout(op, table)


@lowers
def _load_reduce(op: MultimemLoadReduceViewTkoOp, kernel: EntryLowering) -> None:
    _check_target(op, kernel)
    layout, type_ = kernel.layout(op.reduced_values), kernel.scalar_type(op, op.reduced_values)
    assert layout is not None
    loaded: dict[int, SSAValue] = {}
    with kernel.access(op, reads=True, writes=not is_weak(op)):
        operation, zero = _operation(op, str(type_)), kernel.constant(0, type_)
        accesses = tile_accesses(op, layout, kernel)
        for access, registers, offset in _words(op, str(type_), accesses):
            condition = access.condition
            load = multimem.MultimemLoadReduceOp(
                [] if condition is None else [zero] * len(registers), access.address,
                [type_] * len(registers), operation, semantics_of(op), offset, predicate=condition,
            )  # fmt: skip
            loaded.update(zip(registers, kernel.emitter.add(load).results, strict=True))
    kernel.place(op.reduced_values, layout, [loaded[i] for i in range(layout.count)])


@lowers
def _write(op: MultimemStoreViewTkoOp | MultimemReduceViewTkoOp, kernel: EntryLowering) -> None:
    _check_target(op, kernel)
    layout, type_ = access_layout(op, kernel.table), kernel.scalar_type(op, op.tile)
    elements = kernel.elements(op.tile, layout)
    kind: Callable[..., Operation] = multimem.MultimemStoreOp
    if reduces := isinstance(op, MultimemReduceViewTkoOp):
        kind = partial(multimem.MultimemReduceOp, operation=_operation(op, str(type_)))
    with kernel.access(op, reads=reduces, writes=True):
        first = kernel.threads.first_of(layout)
        accesses = tile_accesses(op, layout, kernel)
        for access, registers, offset in _words(op, str(type_), accesses):
            some = [elements[register] for register in registers]
            condition = kernel.both(first, access.condition)
            kernel.emitter.add(
                kind(
                    some, access.address, semantics=semantics_of(op), offset=offset,
                    predicate=condition,
                )
            )  # fmt: skip
