"""Sums and products of two f32 by one instruction, which datacenter Blackwell has.

    %2 = add.rn.f32 %0, %1      %6 = mov.b64 {%0, %3}    what comes of %8 and goes on to a pair
    %5 = add.rn.f32 %3, %4      %7 = mov.b64 {%1, %4}    is a pair as it is
                                %8 = add.rn.f32x2 %6, %7

Neighbours in a block are paired, as elements of a tile are computed one after the other. Each half
is rounded as it would be alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects.ptx.instruction import ScalarOp
from tilewright.dialects.ptx.registers import ListGetOp, MovOp, PackOp, UnpackOp
from tilewright.dialects.ptx.scalars import AddOp, FmaOp, MulOp, SubOp
from tilewright.dialects.ptx.types import reg

_PAIRED = (AddOp, SubOp, MulOp, FmaOp)
_FORMS = ("rn.f32", "rn.ftz.f32")
_NEAR = 16
"""The instructions between two that are paired, at most: what waits for another one takes a
register."""

Halves: TypeAlias = tuple[SSAValue, SSAValue]


def pair_floats(region: Region) -> None:
    """Pair neighbours in each block."""
    for block in region.blocks:
        _Pairs(block).build()


class _Pairs:
    """The pairs of a block: `wholes` are the registers of two values side by side, `pair_of` the
    two that a value lies in: beside another one it would have to be moved."""

    def __init__(self, block: Block):
        self.block, self.wholes = block, dict[Halves, SSAValue]()
        self.pair_of = dict[SSAValue, Halves]()
        self.places = {op: place for place, op in enumerate(block.ops)}

    def build(self) -> None:
        """Make them, first to last."""
        waiting: dict[tuple[type[Operation], str], ScalarOp] = {}
        for op in list(self.block.ops):
            if not isinstance(op, _PAIRED) or op.form.data not in _FORMS:
                continue
            key = type(op), op.form.data
            first = waiting.pop(key, None)
            if first is not None and self._may_wait(first, op) and self._lie_so(first, op):
                self._join(first, op)
            else:
                waiting[key] = op

    def _may_wait(self, first: ScalarOp, second: ScalarOp) -> bool:
        """True where nothing needs the first of two before the second."""
        place = self.places[second]
        users = (use.operation for use in first.results[0].uses)
        return place - self.places[first] <= _NEAR and all(
            self.places.get(user, place + 1) > place for user in users
        )

    def _lie_so(self, first: ScalarOp, second: ScalarOp) -> bool:
        """True where no operand of two is moved for it."""
        return all(
            low is high or all(self.pair_of.get(x, (low, high)) == (low, high) for x in (low, high))
            for low, high in zip(first.inputs, second.inputs, strict=True)
        )

    def _join(self, first: ScalarOp, second: ScalarOp) -> None:
        """Compute both at the place of the second."""
        halves = zip(first.inputs, second.inputs, strict=True)
        inputs = [self._whole((low, high), second) for low, high in halves]
        made = type(second).of(f"{second.form.data}x2", inputs)
        unpacked = UnpackOp(made.results[0])
        listed = ListGetOp(unpacked.halves, 0, 2)
        moves = [MovOp(half, reg("f32")) for half in listed.registers]
        self._insert([made, unpacked, listed, *moves], second)
        low, high = (move.result for move in moves)
        self._are_beside((low, high), made.results[0])
        for op, result in ((first, low), (second, high)):
            op.results[0].replace_all_uses_with(result)
            op.detach()
            op.erase()

    def _whole(self, halves: Halves, before: Operation) -> SSAValue:
        """Two values side by side."""
        if (known := self.wholes.get(halves)) is None:
            moves = {half: MovOp(half, reg("b32")) for half in halves}
            packed = PackOp(*(moves[half].result for half in halves))
            self._insert([*moves.values(), packed], before)
            self._are_beside(halves, known := packed.result)
        return known

    def _are_beside(self, halves: Halves, whole: SSAValue) -> None:
        self.wholes[halves] = whole
        if halves[0] is not halves[1]:
            self.pair_of |= dict.fromkeys(halves, halves)

    def _insert(self, ops: Sequence[Operation], before: ScalarOp) -> None:
        for op in ops:
            op.location = before.location
            self.places[op] = self.places[before]
        self.block.insert_ops_before(ops, before)
