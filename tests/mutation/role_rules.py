"""Rules for parameters that may as well be others: where tiles lie in memory that only threads
access, how many stages a ring has, and which warp plays a role."""

from __future__ import annotations

from barrier_rules import ACQUIRES, acquired_once, in_loop
from edits import acts, constant_of
from fence_rules import ARRIVES, WAIT
from kernel_flow import named
from mutants import Mutant
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

BY_INDEX = named(r"load|store|fragment\.(load|store)|ldmatrix|stmatrix|cp\.async")
RELEASES = named(r"pipeline\.consumer_release")
ROLE = named(
    r"elect\.sync|mbarrier\.\w+(\.\w+)?|tma\.load|sm100\.\w+|tcgen05\..*|tmem\.(copy|slice)|if|for"
    r"|yield|make_smem_desc|pipeline\..*|copy|gemm|slice|make_\w+|tiled\..*|mma\.\w+|cluster\.mbarrier.*"
)
"""What one thread may do for all; nothing of it needs more warps than the one that does it."""


def another_layout(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """Another swizzle of memory that is accessed by indices alone, never through a descriptor or by
    TMA: each element has a place of its own as before, and runs of 16 bytes stay together, as the
    bits below the base do not change."""
    if not mutant.kind.startswith("swizzle") or not isinstance(op, memref.AllocOp):
        return False
    return all(BY_INDEX(use.operation) for use in op.memref.uses)


def fewer_stages(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A ring of one stage less, of 2 or more, each use of which is acquired, waited for and
    released by its number, no later than one use behind: the buffers of the last stage lie idle."""
    if mutant.kind != "pipeline: stages-1":
        return False
    uses = [use.operation for use in op.results[0].uses]
    stages = op.results[0].type.stages.data - 1  # type: ignore[attr-defined]
    waited = {use.operands[1] for use in uses if named(r"pipeline\.consumer_wait")(use)}
    released = [use.operands[1] for use in uses if RELEASES(use)]
    return (
        stages >= 2
        and "tma" in str(op.results[0].type)
        and all(value in waited or _one_behind(value, waited) for value in released)
    )


def _one_behind(value: SSAValue, waited: set[SSAValue]) -> bool:
    """Whether a number is one less than one that is waited for, or the last of those in a loop."""
    owner = value.owner
    if not isinstance(owner, arith.SubiOp) or constant_of(owner.rhs) != 1:
        return False
    return owner.lhs in waited or any(_end(use, owner.lhs) for use in waited)


def _end(use: SSAValue, value: SSAValue) -> bool:
    """Whether `use` is a sum with the number of a loop's round, and `value` with how many."""
    if not isinstance(use.owner, arith.AddiOp) or not isinstance(value.owner, arith.AddiOp):
        return False
    (start, number), (same, count) = use.owner.operands, value.owner.operands
    loop = number.owner.parent_op() if isinstance(number, BlockArgument) else None
    return start is same and isinstance(loop, scf.ForOp) and loop.ub is count


def another_warp(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """Another warp plays a role of one thread, and its own roles after or before: no role that it
    plays waits, by itself or for others in turn, for one that it comes to later."""
    if not mutant.kind.startswith("role: warp") or not isinstance(op, arith.CmpiOp):
        return False
    first, guards = constant_of(op.rhs), [use.operation for use in op.result.uses]
    if first is None or len(guards) != 1 or not isinstance(guards[0].parent_op(), FuncOp):
        return False
    warp, role = first + int(mutant.kind[-2:]), guards[0]
    acting = [inner for inner in role.walk() if not inner.name.startswith("arith.")]
    if not all(map(ROLE, acting)) or not isinstance(role, scf.IfOp):
        return False
    kernel = role.parent_op()
    assert kernel is not None
    branches = [each for each in kernel.regions[0].block.ops if isinstance(each, scf.IfOp)]
    plays = [each for each in branches if each is role or _plays(each, op.lhs, warp)]
    return all(
        plays[j] not in _needed(plays[i], branches)
        for i in range(len(plays))
        for j in range(i + 1, len(plays))
    )


def _plays(branch: scf.IfOp, number: SSAValue, warp: int) -> bool:
    """Whether a warp may come to a branch."""
    condition = branch.cond.owner
    if not isinstance(condition, arith.CmpiOp) or condition.lhs is not number:
        return True
    other, predicate = constant_of(condition.rhs), condition.predicate.value.data
    if other is None:
        return True
    known = {0: warp == other, 1: warp != other, 2: warp < other, 6: warp < other}
    return known.get(predicate, True)


def _needed(branch: Operation, branches: list[scf.IfOp]) -> set[Operation]:
    """The branches in which somebody arrives at what a branch waits for, and those that they wait
    for in turn."""
    result, ahead = set[Operation](), [branch]
    while ahead:
        waits = [
            op for op in ahead.pop().walk()
            if WAIT(op) or (ACQUIRES(op) and not acquired_once(op.operands[0]))
        ]  # fmt: skip
        for other in branches:
            if other not in result and any(
                answers(arrival, wait) for wait in waits for arrival in other.walk()
            ):
                result.add(other)
                ahead.append(other)
    return result


def answers(arrival: Operation, wait: Operation) -> bool:
    """Whether an op arrives at what another one waits for."""
    if not ARRIVES(arrival) or arrival.operands[0] is not wait.operands[0]:
        return False
    return RELEASES(arrival) == ACQUIRES(wait) or "pipeline" not in wait.name


def more_wait(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """All threads wait, before a branch of the kernel's body, for the one phase that some of them
    waited for first in it: what arrives is in branches before, which wait for nothing behind."""
    branch = op.parent_op()
    if mutant.kind != "role: outside its if" or not WAIT(op) or not isinstance(branch, scf.IfOp):
        return False
    block, step = branch.parent_block(), op.prev_op
    while step is not None and not acts(step):
        step = step.prev_op
    if step is not None or block is None or not isinstance(branch.parent_op(), FuncOp):
        return False
    branches = [each for each in block.ops if isinstance(each, scf.IfOp)]
    earlier = branches[: branches.index(branch)]
    arrivals = [each for each in before.walk() if answers(each, op)]
    return (
        constant_of(op.operands[-1]) == 0
        and bool(arrivals)
        and all(any(each.is_ancestor(arrival) for each in earlier) for arrival in arrivals)
        and not any(map(in_loop, arrivals))
        and not any(_needed(each, branches) - set(earlier) for each in earlier)
    )


RULES = {
    "waited for by more": more_wait,
    "another layout": another_layout,
    "fewer stages": fewer_stages,
    "another warp": another_warp,
}
