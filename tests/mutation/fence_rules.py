"""Rules for fences that order nothing: as all they do is to order accesses of some kind before and
after them, one without such accesses may go, or move."""

from __future__ import annotations

from edits import acts, constant_of
from kernel_flow import LEARNS, TELLS, TENSOR, Flow, Is, named
from mutants import Mutant
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, Region, SSAValue

AFTER = named(r"tcgen05\.fence\.after_thread_sync")
BEFORE = named(r"tcgen05\.fence\.before_thread_sync")
INIT_FENCE = named(r"fence\.mbarrier_init|fence\.proxy\.async")
INIT = named(r"mbarrier\.init")
WGMMA_FENCE = named(r"wgmma\.fence")
REGISTERS = named(r"sm90\.\w+|wgmma\.\w+|gemm|fill|copy|fragment\.\w+|list\.\w+|retile")
WAIT = named(r"mbarrier\.(wait|try_wait\.parity)|pipeline\.consumer_wait")

INTO = "role: into the branch before"
REMOVED = ("remove", "earlier", "later", "role: outside its if", INTO)
"""Kinds by which a fence is no more where it was: where it is now besides, it orders the more."""


def neighbour(op: Operation, step: int) -> Operation | None:
    """The op that a mutant which moves `op` passes."""
    beside = op.prev_op if step < 0 else op.next_op
    while beside is not None and not acts(beside):
        beside = beside.prev_op if step < 0 else beside.next_op
    return beside


def passed(mutant: Mutant, op: Operation) -> Operation | None:
    """The op that a mutant's op has moved past, if it has."""
    steps = {"earlier": -1, "later": 1}
    return neighbour(op, steps[mutant.kind]) if mutant.kind in steps else None


def moved(mutant: Mutant, op: Operation, is_fence: Is) -> tuple[Operation, bool] | None:
    """A fence that a mutant removes or moves, or past which it moves another op; and whether it
    comes to stand earlier."""
    if is_fence(op) and mutant.kind in REMOVED:
        return op, mutant.kind != "later"
    other = passed(mutant, op)
    if other is not None and is_fence(other):
        return other, mutant.kind == "later"
    return None


def another_fence(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A `tcgen05.fence::after_thread_sync` behind which every path comes to another one before it
    accesses tensor memory, or a `before_thread_sync` to which none comes from an access without
    another one, or a commit of what is asynchronous, has nothing to order (PTX ISA, tcgen05.fence
    and tcgen05.commit, which implies one)."""
    flow = Flow(before)
    if (fence := moved(mutant, op, AFTER)) is not None:
        return not any(map(TENSOR, flow.reach(fence[0], AFTER)))
    if (fence := moved(mutant, op, BEFORE)) is not None:
        far = flow.reach(fence[0], BEFORE, back=True)
        near = flow.reach(fence[0], lambda step: BEFORE(step) or COMMIT(step), back=True)
        return not any(TENSOR(step) and (step in near or not COMMITTED(step)) for step in far)
    return False


COMMIT = named(r"tcgen05\.commit")
COMMITTED = named(r"sm100\.\w+|tmem\.(copy|shift)|tcgen05\.(mma\w*|cp|shift)")
"""What a commit completes."""


def no_tensor_memory(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A tcgen05 fence moves past an op that neither accesses tensor memory, if it then stands on
    the wrong side of it, nor lets threads know of each other, if that is then not covered."""
    other = passed(mutant, op)
    if other is None:
        return False
    fence, beside = (op, other) if AFTER(op) or BEFORE(op) else (other, op)
    earlier = (mutant.kind == "earlier") == (fence is op)
    uncovered = (LEARNS if earlier else TENSOR) if AFTER(fence) else (TENSOR if earlier else TELLS)
    return (AFTER(fence) or BEFORE(fence)) and not any(map(uncovered, beside.walk()))


def nothing_learned(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A `tcgen05.fence::after_thread_sync` since the last of which its thread has only waited for
    mbarriers at which nobody arrives but threads that never access tensor memory, and that wait
    for nobody else who does."""
    fence = moved(mutant, op, AFTER)
    if fence is None:
        return False
    own = _branch(fence[0])
    told = [
        step
        for step in Flow(before).reach(fence[0], AFTER, back=True)
        if LEARNS(step) and not _of_others(_branch(step), own)
    ]
    if fence[0] is op and mutant.kind == "later" and any(map(LEARNS, _walk(passed(mutant, op)))):
        return False
    return bool(told) and all(
        WAIT(step) and _branch(step) is own and _from_elsewhere(step, fence[0], before)
        for step in told
    )


def _walk(op: Operation | None) -> list[Operation]:
    return [] if op is None else list(op.walk())


def _branch(op: Operation) -> Operation:
    """The op of the kernel's body that an op is in."""
    while (parent := op.parent_op()) is not None and parent.name not in ("func.func", "ptx.entry"):
        op = parent
    return op


def _of_others(branch: Operation, own: Operation) -> bool:
    """Whether no thread comes to both of two branches: one number cannot be both of two."""
    sides = [each.cond.owner if isinstance(each, scf.IfOp) else None for each in (branch, own)]
    if not all(isinstance(side, arith.CmpiOp) for side in sides):
        return False
    (a, b), (c, d) = (side.operands for side in sides)  # type: ignore[union-attr]
    equal = all(
        side.properties["predicate"] == sides[0].properties["predicate"]
        and side.predicate.value.data == 0
        for side in sides
    )  # type: ignore[union-attr]
    numbers = [value.owner.value for value in (b, d) if isinstance(value.owner, arith.ConstantOp)]
    return equal and a is c and len(numbers) == 2 and numbers[0] != numbers[1]


HAS_BARRIER = named(r"(cluster\.)?mbarrier[._].*|pipeline\..*|tcgen05\.commit")


def _barrier(op: Operation) -> SSAValue | None:
    return op.operands[0] if op.operands and HAS_BARRIER(op) else None


def _from_elsewhere(wait: Operation, fence: Operation, module: ModuleOp) -> bool:
    """Whether all arrivals at what is waited for come from threads that never access tensor memory,
    nor those that they waited for, but for the fence's own."""
    if wait.name.startswith("ptx."):
        return False
    own, first, seen, ahead = _branch(fence), wait.operands[0], set[SSAValue](), [wait.operands[0]]
    while ahead:
        barrier = ahead.pop()
        if barrier in seen:
            continue
        seen.add(barrier)
        arrivals = [
            op for op in module.walk()
            if _barrier(op) is barrier and ARRIVES(op) and not (WAIT(op) or INIT(op))
        ]  # fmt: skip
        for arrival in arrivals:
            side, branch = _other_side(arrival, fence), _branch(arrival)
            if branch is own and side is None:
                if barrier is first:
                    return False
                continue
            hidden = set() if side is None else set(side.walk())
            does = [step for step in branch.walk() if step not in hidden]
            waits = [_barrier(step) for step in does if LEARNS(step)]
            if any(map(TENSOR, does)) or None in waits:
                return False
            ahead += [value for value in waits if value is not None]
        if barrier is first and not arrivals:
            return False
    return True


def _other_side(op: Operation, fence: Operation) -> Region | None:
    """The region of an `scf.if` that a fence is in, and an op is not, though it is in the other
    one; whoever goes one way there always does, as the kernel's body has decided."""
    parent = fence
    while (outer := parent.parent_op()) is not None:
        if isinstance(outer, scf.IfOp) and isinstance(outer.cond.owner, Operation):
            mine, theirs = (
                next((r for r in outer.regions if each in set(r.walk())), None)
                for each in (fence, op)
            )
            decided = isinstance(outer.cond.owner.parent_op(), FuncOp)
            if decided and mine is not None and theirs is not None and mine is not theirs:
                return mine
        parent = outer
    return None


ARRIVES = named(
    r"(cluster\.)?mbarrier[._]arrive.*|tcgen05\.commit|pipeline\.(producer_commit|consumer_release)"
)


def no_copy_completes_it(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A `fence.mbarrier_init` goes, moves, or changes places with an `mbarrier.init`, and only
    threads arrive at those mbarriers: no copy and no commit, to which the fence is to show them
    (PTX ISA, fence.mbarrier_init). Other threads, of other CTAs too, learn of them at a barrier."""
    fence = moved(mutant, op, FENCES_INITS)
    if fence is None or op.name.startswith("ptx."):
        return False
    other = passed(mutant, op)
    inits = [each for each in (op, other) if each is not None and INIT(each)]
    if not inits and fence[0] is not op:
        return False
    inits = inits or [each for each in before.walk() if INIT(each)]
    return all(
        BY_THREADS(use.operation) or is_apart(use.operation, init)
        for init in inits
        for use in init.operands[0].uses
    )


def is_apart(op: Operation, other: Operation) -> bool:
    """Whether an op is about another element of the mbarriers that another one is about."""
    place = list(op.operands).index(other.operands[0])
    pairs = zip(op.operands[place + 1 :], other.operands[1:], strict=False)
    return any(
        None not in pair and pair[0] != pair[1]
        for pair in (tuple(map(constant_of, p)) for p in pairs)
    )


BY_THREADS = named(r"mbarrier\.(init|wait|arrive|inval)|cluster\.mbarrier_arrive")


def first_of_its_branch(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A fence, or a wait for the thread's own groups, that is the first thing in its branch comes
    before the branch: those who went there do it at the same place, and others wait for nobody."""
    if mutant.kind != "role: outside its if" or not OWN(op):
        return False
    step = op.prev_op
    while step is not None and not acts(step):
        step = step.prev_op
    return step is None


OWN = named(r"(tcgen05\.)?fence\..*|cp\.async\.(bulk\.)?wait_group")
"""What is a matter of the thread alone."""


def another_fence_of_inits(
    mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp
) -> bool:
    """A `fence.mbarrier_init` goes, or an `mbarrier.init` comes behind it, or a barrier of the CTA
    goes or moves, and its threads make more mbarriers, do nothing else, and come to another one."""
    if mutant.kind in REMOVED and WHOLE(op):
        return all(map(_makes, Flow(before).reach(op, WHOLE)))
    other = passed(mutant, op)
    if mutant.kind == "far: last" and INIT(op):
        other = _following(op, FENCES_INITS)
    fence = op if FENCES_INITS(op) and mutant.kind in REMOVED else other
    if fence is None or not FENCES_INITS(fence):
        return False
    branch, flow = _guard(fence), Flow(before)
    if branch is None or (other is not None and not _makes(other)) or not _makes(op):
        return False
    condition = branch.operands[0]

    def again(step: Operation) -> bool:
        return step is not branch and step.operands[:1] == (condition,) and BRANCHES(step)

    between = flow.reach(fence, again)
    gates = {step for each in between for step in flow.after[each] if again(step)}
    gates |= {step for step in flow.after[fence] if again(step)}
    inside = {step for gate in gates for step in flow.reach(_inner(gate), FENCES_INITS)}
    return bool(gates) and all(map(_makes, between)) and all(map(_makes, inside))


def _following(op: Operation, kind: Is) -> Operation | None:
    """The next op of a kind in a block that does nothing else but make mbarriers."""
    step = op.next_op
    while step is not None and not kind(step) and _makes(step):
        step = step.next_op
    return step


BRANCHES = named("if|cond_bra")
FENCES_INITS = named(r"fence\.mbarrier_init")


def WHOLE(op: Operation) -> bool:
    """Whether an op is a barrier of all threads of the CTA."""
    return named(r"barrier|bar\.sync")(op) and "threads" not in op.properties


def _makes(op: Operation) -> bool:
    """Whether an op does nothing but make mbarriers."""
    return not acts(op) or INIT(op) or FENCES_INITS(op) or WHOLE(op) or BRANCHES(op)


def _guard(op: Operation) -> Operation | None:
    """The branch that leads to an op."""
    if isinstance(parent := op.parent_op(), scf.IfOp):
        return parent
    block = op.parent_block()
    leads = [
        other.last_op
        for other in (block.parent.blocks if block is not None and block.parent else ())
        if other.last_op is not None and block in other.last_op.successors
    ]
    return leads[0] if len(leads) == 1 and BRANCHES(leads[0]) else None


def _inner(branch: Operation) -> Operation:
    """The first op of those for which a condition holds."""
    block = branch.regions[0].block if branch.regions else branch.successors[0]
    assert block.first_op is not None
    return block.first_op


def no_registers(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A `wgmma.fence` and a wait for an mbarrier change places: the fence orders registers, and
    memory that copies write is there behind the wait, whatever the fence (PTX ISA 9.7.15.7.1)."""
    other = passed(mutant, op)
    if other is None:
        return False
    return (WGMMA_FENCE(op) and WAIT(other)) or (WGMMA_FENCE(other) and WAIT(op))


RULES = {
    "another fence": another_fence,
    "fence past no tensor memory": no_tensor_memory,
    "nothing learned": nothing_learned,
    "no copy completes it": no_copy_completes_it,
    "fence of registers": no_registers,
    "first of its branch": first_of_its_branch,
    "another fence of mbarriers": another_fence_of_inits,
}
