"""Stages in which a loop finds what one in front of it has loaded, of kernels that go over a row
more than once: all of it is in shared memory still where it has no more tiles than there are
stages.

    for %j in (0 to %n):  copy x[j], add it up            for %j in (0 to %n):  copy x[j], add it up
    for %j in (0 to %n):  copy x[j], scale it       ->    for %j in (0 to %n):  copy x[j] if %n > S,
                                                                                scale it
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from xdsl.ir import Operation, OpResult, SSAValue

from tilewright.passes.cuda_tile.analysis.computed_again import without_tokens
from tilewright.passes.cuda_tile.analysis.copied_loads import CopiedLoad, CopiedLoop
from tilewright.passes.cuda_tile.analysis.facts import counts_from_zero
from tilewright.passes.cuda_tile.analysis.specialized_warps import PLACES
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_repeatable


def keep_stages(loops: Iterable[CopiedLoop], thread_bits: int) -> list[CopiedLoop]:
    """Say of loads in which stages of earlier loops their tiles are; the loops that have to do with
    that."""
    before, chain = list[CopiedLoop](), dict[CopiedLoop, None]()
    for own in loops:
        for first in before:
            pairs = _pairs(first, own)
            for i, load in enumerate(own.loads):
                kept = next((x for x in first.loads if _is_again(x, load, pairs)), None)
                alike = kept and kept.layout(thread_bits) == load.layout(thread_bits)
                if kept is not None and alike and kept.again is None and load.again is None:
                    own.loads[i] = replace(load, again=kept)
                    chain |= {first: None, own: None}
        before.append(own)
    for own in list(chain)[:-1]:
        own.is_kept = True
    return list(chain)


def _pairs(first: CopiedLoop, own: CopiedLoop) -> dict[SSAValue, SSAValue]:
    """The variables of two loops that are the same in turn; none of loops that run differently, or
    not one behind the other."""
    loops = first.loop, own.loop
    if not all(x.private and counts_from_zero(x.loop) for x in (first, own)):
        return {}
    if loops[0].parent is not loops[1].parent or not _is_same(
        loops[0].upper_bound, loops[1].upper_bound, {}
    ):
        return {}
    return {loops[1].region.block.args[0]: loops[0].region.block.args[0]}


def _is_again(kept: CopiedLoad, load: CopiedLoad, pairs: dict[SSAValue, SSAValue]) -> bool:
    """True of loads of the same tiles, which lie alike."""
    alike = (kept.order, kept.run, kept.element) == (load.order, load.run, load.element)
    return (
        bool(pairs) and alike and is_repeatable(load.op) and _is_made_alike(load.op, kept.op, pairs)
    )


def _is_same(value: SSAValue, other: SSAValue, pairs: dict[SSAValue, SSAValue]) -> bool:
    """True of values that are the same in turn."""
    if value is other or pairs.get(value) is other:
        return True
    if not isinstance(value, OpResult) or not isinstance(other, OpResult):
        return False
    own = value.op
    return (
        value.index == other.index
        and isinstance(own, PLACES)
        and _is_made_alike(own, other.op, pairs)
    )


def _is_made_alike(op: Operation, other: Operation, pairs: dict[SSAValue, SSAValue]) -> bool:
    operands = without_tokens(op), without_tokens(other)
    return (
        type(op) is type(other)
        and len(operands[0]) == len(operands[1])
        and op.properties == other.properties
        and [x.type for x in op.results] == [x.type for x in other.results]
        and all(_is_same(*both, pairs) for both in zip(*operands, strict=True))
    )
