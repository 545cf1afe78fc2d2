"""Loops of one product whose tiles are so deep that few stages have room: a step of K is a swizzled
row of shared memory, 128 bytes.

    for k in 0 to n { c = mmaf load(a[i, k] of 128x128), load(b[k, j] of 128x256), c }
    ->  for k in 0 to 2 n { c = mmaf load(a[i, k] of 128x64), load(b[k, j] of 64x256), c }

The sums are the same, in the same order; copies are ahead by as many bytes in more stages, each of
which is there, and free again, the earlier. No loop of products has 2^30 iterations.
"""

from __future__ import annotations

from math import prod
from typing import Any

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.dialects.cuda_tile.ops.views import ANYWHERE, LoadViewTkoOp, MakePartitionViewOp
from tilewright.dialects.cuda_tile.types import TOKEN, PartitionViewType, TileType
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import shared_memory_limit
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.passes.cuda_tile.analysis.facts import counts_from_zero
from tilewright.passes.cuda_tile.analysis.find_pipelines import is_trailing
from tilewright.passes.cuda_tile.analysis.view_access import tensor_of, view_like
from tilewright.passes.cuda_tile.layouts.elements import element_of, scalar_type, shape_of
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import multiplies_by_warpgroups
from tilewright.passes.cuda_tile.legalization.shaped_builder import ShapedBuilder

_ROW, _STAGES = 128, 4
"""The bytes of a swizzled row, and the stages that are not few: 128x128x128 of f16 multiplies 677
TFLOP/s in three of them, 757 in six of half the size (H200)."""


def narrow_steps(entry: EntryOp, arch: Target | None) -> None:
    """Narrow the steps of the loops of an entry."""
    for loop in descendants(entry, ForOp):
        products = descendants(loop, Multiplication)
        if arch is None or len(products) != 1 or not multiplies_by_warpgroups(products[0], arch):
            continue
        (product,) = products
        operands = product.lhs, product.rhs
        size = sum(prod(shape_of(x)) * _bytes(product, x) for x in operands)
        steps = shape_of(product.lhs)[-1] * _bytes(product, product.lhs) // _ROW
        if steps > 1 and _STAGES * size > shared_memory_limit(arch):
            _narrow(loop, product, steps)


def _bytes(op: Multiplication, value: SSAValue) -> int:
    return bytes_of(scalar_type(op, element_of(value)))


def _narrow(loop: ForOp, product: Multiplication, steps: int) -> None:
    """Let a loop take so many steps for each of its own, if its variable says where K is alone and
    it does nothing else."""
    block, rank = loop.region.block, len(shape_of(product.lhs))
    sides = [_Side(product.lhs, rank - 1), _Side(product.rhs, rank - 2)]
    effects = [op for op in block.ops if not isinstance(op, PureOp)][:-1]
    if (
        counts_from_zero(loop)
        and is_trailing(product, loop)
        and all(side.is_at(block.args[0]) for side in sides)
        and len(list(block.args[0].uses)) == len(sides)
        and {*effects} == {side.load for side in sides}
        and all(arg.type == TOKEN for arg in block.args[1:] if arg is not product.acc)
    ):
        at = ShapedBuilder(loop)
        count = at.constant(steps, element_of(loop.upper_bound))
        loop.operands[1] = at.add(integer.MulIOp, [loop.upper_bound, count])
        for side in sides:
            side.narrow(steps)


class _Side:
    """An operand of a product, the tiles that it is turned of, and their dimensions of K."""

    def __init__(self, value: SSAValue, axis: int):
        self.values = [(value, axis)]
        while isinstance(shaped := value.owner, core.PermuteOp | core.ReshapeOp):
            if isinstance(shaped, core.PermuteOp):
                order: Any = shaped.permutation
                axis = order.get_values()[axis]
            elif shape_of(shaped.source) != shape_of(value):
                break
            value = shaped.source
            self.values.append((value, axis))
        self.load, self.axis = value.owner, axis

    def is_at(self, variable: SSAValue) -> bool:
        """True of tiles loaded where a variable says along K alone, that nobody else reads."""
        load = self.load
        return (
            isinstance(load, LoadViewTkoOp)
            and isinstance(load.view_type, PartitionViewType)
            and load.index[self.axis] is variable
            and all(value.has_one_use() for value, _ in self.values)
        )

    def narrow(self, steps: int) -> None:
        """Load a part of the tile; the last ones may lie outside, where a whole one did in part."""
        load = self.load
        assert isinstance(load, LoadViewTkoOp)
        view = load.view_type
        for value, axis in self.values:
            shape = [x // steps if i == axis else x for i, x in enumerate(shape_of(value))]
            type_ = TileType.get(tuple(shape), element_of(value))
            Rewriter.replace_value_with_new_type(value, type_)
        part = view.tile_shape[self.axis] // steps
        type_ = view_like(view, view.tensor_view, self.axis, part, part, view.padding_value)
        tensor = tensor_of(load.view).result
        load.operands[0] = ShapedBuilder(load).add(MakePartitionViewOp, [tensor], type_)
        load.attributes[ANYWHERE] = UnitAttr()
