"""Half of the rows of scores behind the addition of a late product, in whose registers they are
then: those of the scores are free for the next ones.

    exponentials of all rows            exponentials of the first rows
    wait for k(j + 1)                   wait for k(j + 1);  maxima of the other rows
    wait;  o += p v               ->    wait;  o += p v
    s = q k(j + 1)                      arguments of the other rows;  weights of the first rows
    weights of all rows                 s = q k(j + 1)
                                        exponentials of the other rows, and their weights

Lanes exchange the maxima of the other rows behind a wait: nothing of theirs moves in front of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.arith import AddfOp
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import makers
from tilewright.dialects.cute_nvgpu.ops.fragment import ConcatOp, ExtractOp, FromElementsOp
from tilewright.dialects.cute_nvgpu.ops.shuffle import ShflSyncOp
from tilewright.dialects.cute_nvgpu.ops.wgmma_sync import WgmmaWaitGroupOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.ptx.registers import IN_PLACE
from tilewright.lowering.cuda_tile.arithmetic.late_exchanges import is_moved


def take_rows_in_turn(
    waited: Operation, added: Operation, issued: Operation, weights: Iterable[SSAValue]
) -> list[SSAValue]:
    """Put the ops of an iteration in order: the first one of the wait for the late product, the
    last one of its addition and of the next scores, and fragments of weights, with which it ends.
    These, made of registers that are made where their elements are."""
    block = issued.parent
    assert block is not None
    weights = [_by_registers(fragment) for fragment in weights]
    ops = list(block.ops)
    first, last, end = (ops.index(op) for op in (waited, added, issued))
    complete = next(i for i in range(first, last) if isinstance(ops[i], WgmmaWaitGroupOp))
    later = _depending(_second_half(ops[:first]), ops[:first])
    scores = {op for op in ops[:first] if isinstance(op, ExtractOp)}
    masked = [op for op in ops[:first] if isinstance(op, AddfOp) and scores & {*makers(op)}]
    arguments = [op for op in later if scores.union(masked) & {*makers(op)}]
    for op in masked:
        op.attributes[IN_PLACE] = UnitAttr()
    order = dict.fromkeys(ops[:complete], 0) | dict.fromkeys(later, 5)
    order |= dict.fromkeys(_behind(arguments, later), 1) | dict.fromkeys(arguments, 3)
    order |= dict.fromkeys(ops[complete : last + 1], 2)
    order |= dict.fromkeys(ops[last + 1 : end + 1], 4) | dict.fromkeys(ops[end + 1 :], 6)
    behind, early = dict.fromkeys(ops[end + 1 :]), dict[Operation, None]()
    wanted = _behind([x.owner for x in weights if isinstance(x.owner, Operation)], behind)
    for op in (op for op in behind if op in wanted):
        if is_moved(op) and all(
            x in early if x in behind else order.get(x) != 5 for x in makers(op)
        ):
            early[op] = None
    order |= dict.fromkeys(early, 3)
    for op in ops:
        op.detach()
    block.add_ops(sorted(ops, key=order.__getitem__))
    return weights


def _by_registers(fragment: SSAValue) -> SSAValue:
    """A fragment of scalars each register of which is made by itself."""
    op = fragment.owner
    if not isinstance(op, FromElementsOp) or op.parent is None:
        return fragment
    type_, width = op.fragment.type, op.fragment.type.element.per_register
    word = FragmentType.get(width, type_.element_type)
    parts = [op.elements[i : i + width] for i in range(0, len(op.elements), width)]
    words = [FromElementsOp(part, word) for part in parts]
    whole = ConcatOp([x.fragment for x in words], type_)
    op.parent.insert_ops_before([*words, whole], op)
    op.detach()
    op.erase()
    return whole.result


def _second_half(ops: Sequence[Operation]) -> list[Operation]:
    """The second half of the exchanges of lanes that come behind none."""
    exchanges, first = [op for op in ops if isinstance(op, ShflSyncOp)], list[Operation]()
    for op in exchanges:
        if op not in _depending(first, ops):
            first.append(op)
    return first[len(first) // 2 :]


def _depending(roots: Sequence[Operation], ops: Sequence[Operation]) -> dict[Operation, None]:
    """Those ops, and what depends on them."""
    depending = dict.fromkeys(roots)
    for op in ops:
        if any(x in depending for x in makers(op)):
            depending[op] = None
    return depending


def _behind(roots: Sequence[Operation], among: dict[Operation, None]) -> dict[Operation, None]:
    """Those ops, and what they need of some."""
    needed, pending = dict.fromkeys(roots), [*roots]
    while pending:
        new = [x for x in makers(pending.pop()) if x in among and x not in needed]
        needed |= dict.fromkeys(new)
        pending += new
    return needed
