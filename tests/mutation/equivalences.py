"""Rules by which a mutant is equivalent to its kernel. Each proves it from the IR: it is never
enough that a run gives the same."""

from __future__ import annotations

import re
from collections.abc import Callable

import barrier_rules
import fence_rules
import idle_fence_rules
import order_rules
import role_rules
from edits import acts, constant_of
from fence_rules import passed
from kernel_flow import Flow, named
from mutants import Mutant
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import AllocOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, Operation

from tilewright.dialects.cute_nvgpu.lattice.mbarrier import MBARRIER_BYTES
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.ptx.registers import SharedAddressOp
from tilewright.dialects.ptx.scalars import AddOp

Rule = Callable[[Mutant, Operation, ModuleOp, ModuleOp], bool]


def same_text(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """The edit leaves the text as it was: two like ops changed places."""
    return str(before) == str(after)


def no_other_allocation(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """The permit to allocate tensor memory is given back at another time or not at all, behind all
    allocations: it ends with the CTA (PTX ISA, tcgen05.relinquish_alloc_permit), and other kernels
    only wait."""
    other = passed(mutant, op)
    gives = op if "relinquish_alloc_permit" in op.name else other
    if gives is None or "relinquish_alloc_permit" not in gives.name:
        return False
    if other is not None:
        return not any(each.name in ALLOCATIONS for each in (*op.walk(), *other.walk()))
    allocations = [each for each in before.walk() if each.name in ALLOCATIONS]
    again = mutant.kind in ("remove", "far: last", "twice")
    return again or (len(allocations) == 1 and mutant.kind == "role: outside its if")


ALLOCATIONS = ("cute_nvgpu.tmem.alloc", "ptx.tcgen05.alloc")


def stricter(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A wait for groups lets one fewer of the latest be pending, at the same place: it waits for
    all that it did, and for one more, which its own thread has committed and nobody holds back."""
    return mutant.kind == "pending-1" and WAITS_FOR_GROUPS(op)


WAITS_FOR_GROUPS = named(r"(cp\.async|cp\.async\.bulk|wgmma)\.wait_group")


def independent(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """`mbarrier.init`s of two places change places: neither waits for nor releases anyone, and
    they write different bytes."""
    other = passed(mutant, op)
    if other is None or not fence_rules.INIT(op):
        return False
    if isinstance(other, ForOp):
        inside = [each for each in other.walk() if acts(each) and each is not other]
        return all(
            fence_rules.INIT(each) and each.operands[0] is not op.operands[0] for each in inside
        ) and all(isinstance(each.operands[0].owner, AllocOp) for each in (op, *inside))
    if not fence_rules.INIT(other):
        return False
    if op.name.startswith("ptx."):
        return _distance(op, other) >= MBARRIER_BYTES
    mine, theirs = op.operands, other.operands
    if mine[0] is not theirs[0]:
        return all(isinstance(barrier.owner, AllocOp) for barrier in (mine[0], theirs[0]))
    pairs = zip(mine[1:], theirs[1:], strict=True)
    numbers = [tuple(map(constant_of, pair)) for pair in pairs]
    return any(None not in pair and pair[0] != pair[1] for pair in numbers)


def _distance(op: Operation, other: Operation) -> int:
    """How many bytes two mbarriers of the ptx level lie apart; 0 where that is not known."""
    bases = [each.operands[0].owner for each in (op, other)]
    offsets = [_property(each, "offset") for each in (op, other)]
    if all(isinstance(base, SharedAddressOp) for base in bases):
        offsets = [
            offset + base.offset.value.data  # type: ignore[union-attr]
            for offset, base in zip(offsets, bases, strict=True)
        ]
    elif bases[0] is not bases[1]:
        sums = [base for base in bases if isinstance(base, AddOp)]
        if len(sums) < 2 or sums[0].operands[0] is not sums[1].operands[0]:
            return 0
        starts = [base.operands[1].owner for base in sums]
        offsets = [
            offset + (start.offset.value.data if isinstance(start, SharedAddressOp) else 0)
            for offset, start in zip(offsets, starts, strict=True)
        ]
    return abs(offsets[0] - offsets[1])


def _property(op: Operation, name: str) -> int:
    value = op.properties[name]
    assert isinstance(value, IntegerAttr)
    return value.value.data


def _short(op: Operation) -> str:
    return op.name.partition(".")[2]


def renamed_barrier(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A `bar.sync` takes a number that no other barrier has, as none had its own, or where nobody
    only arrives and it is one of the whole CTA: each run shows that all come there. Or none has it
    but a barrier of the whole CTA that all have left before they come here, in a kernel where
    nobody only arrives: the same threads meet at it, and as all of the old number stand in one
    block, they met nobody at another one. Or it is one of the whole CTA that all leave before they
    come to any other of the new number."""
    if not mutant.kind.startswith("barrier") or _short(op) != "bar.sync":
        return False
    barriers = [each for each in before.walk() if BARRIER.fullmatch(_short(each))]
    old = _number(op)
    others = {_number(each) for each in barriers if each is not op}
    step = int(mutant.kind.removeprefix("barrier"))
    alone = fence_rules.WHOLE(op) and not any("arrive" in each.name for each in barriers)
    if old + step not in others and old + step <= 15 and (old not in others or alone):
        return True
    if fence_rules.WHOLE(op) and isinstance(op.parent_op(), KERNELS):
        taken = [
            each for each in barriers if each is not op and _number(each) == _number(op) + step
        ]
        flow = Flow(before)
        first = all(op not in flow.reach(each, lambda step: False) for each in (op, *taken))
        if first and not any("arrive" in each.name for each in barriers if _number(each) == old):
            return True
    if any("arrive" in each.name for each in barriers) or _number(op) + step > 15:
        return False
    alike = [each for each in barriers if _number(each) == _number(op)]
    taken = [each for each in barriers if _number(each) == _number(op) + step]
    return all(each.parent is op.parent for each in alike) and all(
        _left_before(each, op) for each in taken
    )


def _left_before(barrier: Operation, op: Operation) -> bool:
    """Whether a barrier of the whole CTA stands in the kernel's body, before an op of it."""
    branch = op
    while (outer := branch.parent_op()) is not None and not isinstance(outer, KERNELS):
        branch = outer
    if "threads" in barrier.properties or barrier.parent is not branch.parent:
        return False
    while branch is not barrier and branch.prev_op is not None:
        branch = branch.prev_op
    return branch is barrier and isinstance(outer, FuncOp)


BARRIER = re.compile(r"barrier|bar\.(sync|arrive)")


def _number(op: Operation) -> int:
    number = op.properties.get("barrier")
    return number.value.data if isinstance(number, IntegerAttr) else 0


def needless_wait(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A wait for cp.async behind which nothing touches shared memory, waits or arrives on any
    path: copies that land later change nothing, and a wait at another place only waits."""
    if _short(op) != "cp.async.wait_group" or not isinstance(op.parent_op(), KERNELS):
        return False
    following = _reachable(op)
    return op not in following and not any(_touches(inner) for inner in following)


KERNELS = (FuncOp, EntryOp)


def _reachable(op: Operation) -> set[Operation]:
    """All ops that may run after one of a kernel's body."""
    block = op.parent_block()
    assert block is not None and block.last_op is not None
    result: set[Operation] = set()
    last = op.next_op
    while last is not None:
        result |= set(last.walk())
        last = last.next_op
    ahead, seen = list(block.last_op.successors), set[Block]()
    while ahead:
        block = ahead.pop()
        if block in seen:
            continue
        seen.add(block)
        result |= {inner for each in block.ops for inner in each.walk()}
        assert block.last_op is not None
        ahead += block.last_op.successors
    return result


def _touches(op: Operation) -> bool:
    """Whether an op may access shared memory or order threads: all but stores to global memory."""
    if not acts(op) or op.name.startswith("scf."):
        return False
    if op.name == "ptx.st":
        return op.properties["space"] != StringAttr("global")
    return op.name != "memref.store" or "smem" in str(op.operands[1].type)


RULES: dict[str, Rule] = {
    "same text": same_text,
    "no other allocation": no_other_allocation,
    "stricter wait": stricter,
    "independent neighbours": independent,
    "renamed barrier": renamed_barrier,
    "needless wait": needless_wait,
    **fence_rules.RULES,
    **barrier_rules.RULES,
    **role_rules.RULES,
    **idle_fence_rules.RULES,
    **order_rules.RULES,
}


def rule_for(mutant: Mutant, before: ModuleOp, after: ModuleOp) -> str:
    """The first rule that proves a mutant of `before` equivalent, or ''."""
    op = next(each for place, each in enumerate(before.walk()) if place == mutant.op)
    return next((name for name, rule in RULES.items() if rule(mutant, op, before, after)), "")
