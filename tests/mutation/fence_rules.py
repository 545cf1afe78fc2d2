"""Rules for fences that order nothing: as all they do is to order accesses of some kind before and
after them, one without such accesses may go, or move."""

from __future__ import annotations

from kernel_flow import LEARNS, TELLS, TENSOR, Flow, Is, named
from mutants import Mutant, acts
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

AFTER = named(r"tcgen05\.fence\.after_thread_sync")
BEFORE = named(r"tcgen05\.fence\.before_thread_sync")
INIT_FENCE = named(r"fence\.mbarrier_init|fence\.proxy\.async")
INIT = named(r"mbarrier\.init")
WGMMA_FENCE = named(r"wgmma\.fence")
REGISTERS = named(r"sm90\.\w+|wgmma\.\w+|gemm|fill|copy|fragment\.\w+|list\.\w+|retile")
WAIT = named(r"mbarrier\.(wait|try_wait\.parity)|pipeline\.consumer_wait")

REMOVED = ("remove", "earlier", "later", "role: outside its if")
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
    mbarriers at which nobody arrives but branches of the kernel that never access tensor memory,
    and that wait for nobody but the fence's own branch."""
    fence = moved(mutant, op, AFTER)
    if fence is None or mutant.kind.startswith("role"):
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
        WAIT(step) and _branch(step) is own and _from_elsewhere(step, own, before) for step in told
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


HAS_BARRIER = named(r"mbarrier\..*|pipeline\..*|tcgen05\.commit")


def _barrier(op: Operation) -> SSAValue | None:
    return op.operands[0] if op.operands and HAS_BARRIER(op) else None


def _from_elsewhere(wait: Operation, own: Operation, module: ModuleOp) -> bool:
    """Whether all arrivals at what is waited for come from branches without tensor memory."""
    if wait.name.startswith("ptx."):
        return False
    barrier = wait.operands[0]
    arrivals = [
        op
        for op in module.walk()
        if _barrier(op) is barrier and ARRIVES(op) and not (WAIT(op) or INIT(op))
    ]
    for arrival in arrivals:
        branch = _branch(arrival)
        if branch is own or any(map(TENSOR, branch.walk())):
            return False
        for step in branch.walk():
            if LEARNS(step) and not _arrivals_are_of(step, own, module):
                return False
    return bool(arrivals)


ARRIVES = named(r"mbarrier\.arrive.*|tcgen05\.commit|pipeline\.(producer_commit|consumer_release)")


def _arrivals_are_of(wait: Operation, own: Operation, module: ModuleOp) -> bool:
    barrier = _barrier(wait)
    return barrier is not None and all(
        _branch(op) is own for op in module.walk() if _barrier(op) is barrier and ARRIVES(op)
    )


def no_copy_completes_it(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """An `mbarrier.init` and a `fence.mbarrier_init` change places, and only threads of the CTA
    arrive at that mbarrier: no copy, no commit and no other CTA, to which the fence is to show it
    (PTX ISA, fence.mbarrier_init)."""
    other = passed(mutant, op)
    if other is None or not ((INIT(op) and INIT_FENCE(other)) or (INIT(other) and INIT_FENCE(op))):
        return False
    init = op if INIT(op) else other
    barrier = init.operands[0]
    uses = [use.operation for use in barrier.uses]
    return not init.name.startswith("ptx.") and all(map(BY_THREADS, uses))


BY_THREADS = named(r"mbarrier\.(init|wait|arrive|inval)")


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
}
