"""Sums and products of two f32 by one instruction, which datacenter Blackwell has.

    %2 = add.rn.f32 %0, %1      %6 = mov.b64 {%0, %3}
    %5 = add.rn.f32 %3, %4      %7 = mov.b64 {%1, %4}
                                %8 = add.rn.f32x2 %6, %7

Each half is rounded as it would be alone.
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl.ir import Block, Region, SSAValue

from tilewright.dialects.ptx.data_movement import LdOp
from tilewright.dialects.ptx.instruction import PtxOp, ScalarOp
from tilewright.dialects.ptx.registers import ListGetOp, MovOp, PackOp, UnpackOp
from tilewright.dialects.ptx.scalars import AddOp, FmaOp, MulOp, SubOp
from tilewright.dialects.ptx.types import reg
from tilewright.dialects.sequences import numbered

_PAIRED = (AddOp, SubOp, MulOp, FmaOp)
_FORMS = ("rn.f32", "rn.ftz.f32")
_NEAR = 16
"""The instructions between two, at most: what waits for another one takes a register."""

Halves: TypeAlias = tuple[SSAValue, SSAValue]


def pair_floats(region: Region) -> None:
    """Pair neighbours in each block, as elements of a tile are computed one after the other."""
    for block in region.blocks:
        _Pairs(block).build()


class _Pairs:
    """The pairs of a block: `wholes` are the registers of two values side by side, `pair_of` the
    two that a value lies in: beside another one it would have to be moved."""

    def __init__(self, block: Block):
        self.wholes, self.pair_of = dict[Halves, SSAValue](), dict[SSAValue, Halves]()
        self.ops = list(block.ops)
        self.places = numbered(self.ops)

    def build(self) -> None:
        """Make them, first to last."""
        waiting = dict[str, ScalarOp]()
        for op in self.ops:
            if isinstance(op, _PAIRED) and op.form.data in _FORMS:
                first = waiting.pop(op.mnemonic, None)
                if first is not None and self._may_wait(first, op) and self._lie_so(first, op):
                    self._join(first, op)
                else:
                    waiting[op.mnemonic] = op

    def _may_wait(self, first: ScalarOp, second: ScalarOp) -> bool:
        """True where nothing needs the first of two before the second."""
        place = self.places[second]
        users = (self.places.get(use.operation, place + 1) for use in first.results[0].uses)
        return place - self.places[first] <= _NEAR and all(user > place for user in users)

    def _lie_so(self, first: ScalarOp, second: ScalarOp) -> bool:
        """True where no operand of two is moved for it."""
        return all(
            low is high or {self._pair_of(low), self._pair_of(high)} <= {None, (low, high)}
            for low, high in zip(first.inputs, second.inputs, strict=True)
        )

    def _pair_of(self, value: SSAValue) -> Halves | None:
        """The two that a value lies in already, as those of a wide load do."""
        if value in self.pair_of or not isinstance(value.owner, ListGetOp | LdOp):
            return self.pair_of.get(value)
        results = value.owner.results
        place = results.index(value) & ~1
        return (results[place], results[place + 1]) if place + 1 < len(results) else None

    def _join(self, first: ScalarOp, second: ScalarOp) -> None:
        """Compute both at the place of the second."""
        pairs = zip(first.inputs, second.inputs, strict=True)
        inputs = [self._whole(pair, second) for pair in pairs]
        made = type(second)(f"{second.form.data}x2", inputs)
        listed = ListGetOp((words := UnpackOp(made.results[0])).halves, 0, 2)
        low, high = (MovOp(half, reg("f32")) for half in listed.registers)
        self._insert(second, made, words, listed, low, high)
        self._lie((low.result, high.result), made.results[0])
        for op, half in ((first, low), (second, high)):
            op.results[0].replace_all_uses_with(half.result)
            op.detach()
            op.erase()

    def _whole(self, pair: Halves, before: ScalarOp) -> SSAValue:
        """Two values side by side."""
        if pair not in self.wholes:
            moves = {half: MovOp(half, reg("b32")) for half in pair}
            packed = PackOp(*(moves[half].result for half in pair))
            self._insert(before, *moves.values(), packed)
            self._lie(pair, packed.result)
        return self.wholes[pair]

    def _lie(self, pair: Halves, whole: SSAValue) -> None:
        self.wholes[pair] = whole
        if pair[0] is not pair[1]:
            self.pair_of |= dict.fromkeys(pair, pair)

    def _insert(self, before: ScalarOp, *ops: PtxOp) -> None:
        for op in ops:
            op.location, self.places[op] = before.location, self.places[before]
        assert before.parent is not None
        before.parent.insert_ops_before(ops, before)
