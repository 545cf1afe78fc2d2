"""`cute_nvgpu.make_smem_desc`: the word of a matrix descriptor, from where the matrix begins."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tilewright.dialects.cute import ComposedLayout, coalesce
from tilewright.dialects.cute.swizzle import outer_of
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import DescriptorError
from tilewright.dialects.cute_nvgpu.descriptors.solve_descriptor import SmemTile
from tilewright.dialects.cute_nvgpu.ops.smem_desc import MakeSmemDescOp
from tilewright.lowering.interpreter.builder import Effect, effects
from tilewright.lowering.interpreter.errors import Fault, first_of
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.memref import View
from tilewright.lowering.interpreter.ops.instructions.tensor_view import TmemView
from tilewright.lowering.interpreter.values import Bits


@effects
def _make_smem_desc(op: MakeSmemDescOp) -> Effect:
    type_, extents = op.result.type, op.extents

    def run(machine: Machine, gang: Gang, view: View, *indices: Bits) -> Bits:
        check_begin(view, indices, extents)
        return _words(view, indices, type_.tile)

    return run


def check_begin(view: View | TmemView, indices: Sequence[Bits], extents: dict[int, int]) -> None:
    """Raise Fault for a matrix that is not wholly in the memref or, where a mode is more than one
    stride, does not begin at a multiple of its extent."""
    assert view.layout is not None
    layout = outer_of(view.layout)
    for dimension, (index, size) in enumerate(zip(indices, view.sizes, strict=True)):
        assert isinstance(size, int)
        extent, signed = extents.get(dimension, 1), index.view(np.int64)
        outside = (signed < 0) | (signed > size - extent)
        astride = (signed % extent != 0) & (coalesce(layout[dimension]).rank() > 1)
        for wrong, rule in (
            (outside, f"out of bounds: expected at most {size - extent}"),
            (astride, f"expected a multiple of {extent}, as {layout[dimension]} has more than one "
                      "stride"),
        ):  # fmt: skip
            if (lane := first_of(wrong)) is not None:
                raise Fault(f"{rule}, got index {signed[lane]} in dimension {dimension}", lane)


def _words(view: View, indices: Sequence[Bits], tile: SmemTile) -> Bits:
    """The descriptor in every thread: uint64 [threads or 1]. The hardware swizzles the addresses
    that it makes, so the matrix begins where the layout without its swizzle says."""
    layout, first = view.layout, 0
    if isinstance(layout, ComposedLayout):
        assert isinstance(layout.offset, int)
        layout, first = layout.outer, layout.offset
    plain = replace(view, layout=layout)
    offset = plain.locate(indices, check=False) - view.address + np.uint64(first * view.width)
    address, offset = np.broadcast_arrays(view.address, offset)
    pairs, lanes, inverse = np.unique(
        np.stack([address, offset]), axis=1, return_index=True, return_inverse=True
    )
    words = [_word(tile, int(a), int(o), lane) for (a, o), lane in zip(pairs.T, lanes, strict=True)]
    every: Any = np.array(words, dtype=np.uint64)[inverse.ravel()]
    return every


def _word(tile: SmemTile, address: int, offset: int, lane: int) -> int:
    try:
        return replace(tile, offset=offset).at(address).encode()
    except DescriptorError as error:
        raise Fault(str(error), int(lane)) from None
