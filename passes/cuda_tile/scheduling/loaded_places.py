"""Loads of numbers that say where other loads of their loop lie, such as those of pages: they are
made wherever one of these is, iterations ahead.

    %n = load_ptr_tko weak %p  ->  %n = load_ptr_tko weak %p {loaded_places}
    %k = load_ptr_tko weak (offset %a, 64 %n + iota)
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, UnitAttr

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice import CP_ASYNC
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.passes.cuda_tile.analysis.computed_again import (
    Load,
    is_computed_from,
    needed_ahead,
    places_of,
)
from tilewright.passes.cuda_tile.analysis.copied_loads import CopiedLoad
from tilewright.passes.cuda_tile.analysis.find_copied_loads import copy_of
from tilewright.passes.cuda_tile.analysis.tensor_maps import LOADED_PLACES, is_repeatable
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of


def mark_loaded_places(entry: EntryOp, arch: Target | None) -> None:
    """Mark such loads of an entry."""
    if arch is None or not arch.supports(CP_ASYNC.target):
        return
    for loop in descendants(entry, ForOp):
        loads = [op for op in loop.region.block.ops if isinstance(op, Load)]
        for load in loads:
            known = _is_number(load) and isinstance(needed_ahead(places_of(load), loop), dict)
            if known and any(_lies_by(other, load) for other in loads if other is not load):
                load.attributes[LOADED_PLACES] = UnitAttr()


def _is_number(load: Load) -> bool:
    tile = load.results[0]
    return (
        bool(shape_of(tile)) and isinstance(element_of(tile), IntegerType) and is_repeatable(load)
    )


def _lies_by(load: Load, number: Load) -> bool:
    """True of a load that may be copied to where numbers say."""
    lies = any(is_computed_from(place, {number.results[0]}) for place in places_of(load))
    return lies and isinstance(copy_of(load), CopiedLoad)
