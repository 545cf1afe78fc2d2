"""Atomic operations through pointers and on tiles of views.

Of threads that hold the same elements the first does it, and tells the others what was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cuda_tile.enums import AtomicRMWMode
from tilewright.dialects.cuda_tile.ops.memory import (
    AtomicCASTkoOp,
    AtomicRMWTkoOp,
    choice_in,
)
from tilewright.dialects.cuda_tile.ops.views import AtomicRedViewTkoOp
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.lowering.cuda_tile.memory.convert_pointers import pointed, write
from tilewright.lowering.cuda_tile.memory.convert_views import stored_layout, tile_accesses
from tilewright.lowering.cuda_tile.memory.memory_access import add, atomically, sum_run
from tilewright.lowering.cuda_tile.memory.shared_bins import added_by_bins
from tilewright.passes.cuda_tile.analysis.view_access import run_bits, tile_dimensions
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable, finds
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout

_FORMS = {
    AtomicRMWMode.AND: "and.b", AtomicRMWMode.OR: "or.b", AtomicRMWMode.XOR: "xor.b",
    AtomicRMWMode.ADD: "add.u", AtomicRMWMode.MAX: "max.s", AtomicRMWMode.MIN: "min.s",
    AtomicRMWMode.UMAX: "max.u", AtomicRMWMode.UMIN: "min.u", AtomicRMWMode.XCHG: "exch.b",
}  # fmt: skip


def _form(mode: AtomicRMWMode, type_: Attribute) -> str:
    if mode is AtomicRMWMode.ADDF:
        return f"add.{type_}" if str(type_) in ("f32", "f64") else f"add.noftz.{type_}"
    if mode in (AtomicRMWMode.MAX, AtomicRMWMode.MIN) and "f16" in str(type_):
        return f"{mode}.noftz.{type_}"
    return f"{_FORMS[mode]}{address.bytes_of(type_) * 8}"


@finds
def _pointed(op: AtomicRMWTkoOp | AtomicCASTkoOp, table: LayoutTable) -> TileLayout:
    return table.of(op.pointers)


@lowers
def _rmw(op: AtomicRMWTkoOp, kernel: EntryLowering) -> None:
    element = kernel.scalar_type(op, op.arg)
    form = _form(choice_in(op, "mode", AtomicRMWMode), element)
    run = sum_run(form, element, kernel.arch)
    if run is None or op.result.first_use is not None:
        _through_pointers(op, form, [op.arg], kernel)
        return
    widest = address.bytes_of(element) << run
    write(op, op.pointers, op.arg, widest, partial(add, op), kernel)


@lowers
def _cas(op: AtomicCASTkoOp, kernel: EntryLowering) -> None:
    bits = address.bytes_of(kernel.scalar_type(op, op.cmp)) * 8
    _through_pointers(op, f"cas.b{bits}", [op.cmp, op.val], kernel)


def _through_pointers(
    op: AtomicRMWTkoOp | AtomicCASTkoOp,
    form: str,
    values: Sequence[SSAValue],
    kernel: EntryLowering,
) -> None:
    layout = kernel.layout(op.result)
    assert layout is not None
    if isinstance(op, AtomicRMWTkoOp) and added_by_bins(op, form, layout, kernel):
        return
    accesses = pointed(op.pointers, op.mask, layout, kernel)
    with kernel.access(op, reads=True, writes=True):
        columns = [kernel.elements(value, layout) for value in values]
        results = atomically(op, form, accesses, layout, columns, kernel)
        if layout.idle and op.result.first_use is not None:
            results = kernel.scratch.exchanged(layout, results, layout)
    kernel.place(op.result, layout, results)


@lowers
def _reduce(op: AtomicRedViewTkoOp, kernel: EntryLowering) -> None:
    element = kernel.scalar_type(op, op.value)
    form = _form(op.rmw_mode, element)
    layout = stored_layout(op, op.value, kernel)
    elements = kernel.elements(op.value, layout)
    with kernel.access(op, reads=True, writes=True):
        run = sum_run(form, element, kernel.arch)
        if run is None:
            atomically(op, form, tile_accesses(op, layout, kernel), layout, [elements], kernel)
        else:
            run = min(run, run_bits(op, tile_dimensions(op)))
            add(op, tile_accesses(op, layout, kernel, run), layout, elements, kernel)
