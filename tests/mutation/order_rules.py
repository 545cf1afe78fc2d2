"""Rules for ops that change places with their neighbours, come twice or to other threads: what only
waits for more, or tells of more."""

from __future__ import annotations

from barrier_rules import ACCESSES, CTA_MEETS, EXPECT, GROUPS, WARP_SYNC, in_loop
from edits import acts, constant_of
from fence_rules import FENCES_INITS, INTO, WAIT, WGMMA_FENCE, WHOLE, is_apart, passed
from kernel_flow import ASYNCHRONOUS, DEALLOC, LEARNS, WRITES, Flow, named
from mutants import Mutant
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.gpu import ThreadIdOp
from xdsl.ir import Operation, SSAValue

PLAIN = named(r"load|store|fragment\.(load|store)|ldmatrix|stmatrix")
"""Accesses that are done when the thread goes on, and tell nobody."""

ARRIVALS = named(r"(cluster\.)?mbarrier[._]arrive.*|(barrier\.)?cluster\.arrive|bar\.arrive")
WAITS = named(
    r"mbarrier\.(wait|try_wait\.parity)|(barrier\.)?cluster\.wait"
    r"|(cp\.async|cp\.async\.bulk|wgmma)\.wait_group|tmem\.wait_(load|store)"
)
ATOMIC = named(r"atomic_rmw|address\.(atomic|reduce)|atom|red")
INVAL = named(r"mbarrier\.inval")


def _order(mutant: Mutant, op: Operation) -> tuple[Operation, Operation] | None:
    """Two neighbours that a mutant lets change places, as they are then."""
    other = passed(mutant, op)
    if other is None:
        return None
    return (op, other) if mutant.kind == "earlier" else (other, op)


def more_is_ordered(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """An arrival comes behind an access of its thread or behind a wait, a wait before an access, or
    a copy into the group before: as much is told and waited for as was. An access keeps nobody
    waiting; that a wait ends before its thread arrives elsewhere is what each run shows, as no
    thread's way depends on when others come."""
    if (order := _order(mutant, op)) is None:
        return False
    first, second = order
    if PLAIN(second) and _waits_alone(first, second):
        return True
    if (PLAIN(first) and ARRIVALS(second)) or (WAITS(first) and PLAIN(second)):
        return True
    meets = named(r"bar\.sync")(first) and named(r"bar\.arrive")(second)
    if meets or (WAITS(first) and (ARRIVALS(second) or ASYNCHRONOUS(second))):
        return True
    kinds = GROUPS.get(second.name.partition(".")[2])
    return kinds is not None and not first.regions and kinds[0](first)


def _waits_alone(barrier: Operation, access: Operation) -> bool:
    """Whether a named barrier only waits for those who arrive there, with a read behind it of what
    its own threads do not write."""
    branch = barrier.parent_op()
    while branch is not None and not isinstance(branch.parent_op(), FuncOp):
        branch = branch.parent_op()
    if branch is None or not named(r"bar\.sync")(barrier) or WRITES(access):
        return False
    kernel, role = branch.parent_op(), barrier.parent_region()
    while role is not None and role.parent is not branch:
        role = role.parent_region()
    assert kernel is not None and role is not None
    number, own = barrier.properties["barrier"], set(role.walk())
    others = [
        op for op in kernel.walk() if op.properties.get("barrier") == number and op not in own
    ]
    memory = _memory(access)
    written = any(WRITES(op) and memory in op.operands for op in own)
    return bool(others) and all(map(ARRIVALS, others)) and not written


def _memory(access: Operation) -> SSAValue:
    """The memref that a plain access is to."""
    return next(value for value in access.operands if isinstance(value.type, memref.MemRefType))


def in_turn(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """Two arrivals, two waits or two ends of allocations change places, without anything between:
    who has heard of one does not end the other one's mbarrier, and a thread goes on behind both. So
    do a `wgmma.fence`, which orders registers, and a barrier, and an arrival of a thread and the
    fence that shows mbarriers to copies (PTX ISA 9.7.15.7.1, fence.mbarrier_init)."""
    if (order := _order(mutant, op)) is None:
        return False
    for first, second in (order, order[::-1]):
        if (WGMMA_FENCE(first) and CTA_MEETS(second)) or (EXPECT(first) and FENCES_INITS(second)):
            return True
    if any(map(INVAL, before.walk())):
        return False
    return any(all(map(kind, order)) for kind in (ARRIVALS, WAITS, DEALLOC))


def empty_group(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """An empty group is one of the latest that a wait lets be pending: one fewer of others is."""
    return mutant.kind == "group: an empty one"


def nothing_behind(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """An mbarrier does not end, or later, in memory that nobody uses any more."""
    if mutant.kind not in ("remove", "later", "far: last") or not INVAL(op):
        return False
    if op.name.startswith("ptx."):
        return False
    uses = {use.operation for use in op.operands[0].uses}
    return not any(not INVAL(use) for use in uses & Flow(before).reach(op, lambda step: False))


def arrived_before(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """All threads wait, not some: at an mbarrier at which only they arrive, each just before, so
    that none is a phase ahead and all get there."""
    branch = op.parent_op()
    if mutant.kind != "role: outside its if" or not WAIT(op) or not isinstance(branch, scf.IfOp):
        return False
    if op.name.startswith("ptx.") or any(acts(each) for each in _ahead(op)):
        return False
    uses = [use.operation for use in op.operands[0].uses]
    arrivals = [use for use in uses if ARRIVALS(use) and not is_apart(use, op)]
    return (
        len(arrivals) == 1
        and arrivals[0] in _ahead(branch)
        and list(arrivals[0].operands) == list(op.operands[:-1])
    )


def _ahead(op: Operation) -> list[Operation]:
    """The ops of a block before one."""
    block = op.parent_block()
    assert block is not None
    every = list(block.ops)
    return every[: every.index(op)]


def told_by_its_warp(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """One thread waits, and the barrier of its warp, which is all of the CTA, follows at once."""
    step = op.next_op
    while step is not None and not acts(step):
        step = step.next_op
    alone = mutant.kind == INTO and WAIT(op) and step is not None and WARP_SYNC(step)
    return alone and _threads(before) == 32


def _threads(module: ModuleOp) -> int | None:
    """How many threads a block of the kernel has."""
    kernel = module.body.block.first_op
    assert kernel is not None
    size = kernel.attributes.get("gpu.known_block_size")
    return size.get_values()[0] if isinstance(size, DenseArrayBase) else None  # type: ignore[return-value]


def reads_alone(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """An arrival at another CTA's mbarrier passes on what was read: its thread, and those that it
    has heard of in its branch, have written nothing, and no copy has."""
    written = Flow(before).reach(op, lambda step: False, back=True)
    copies = filter(named(r"tma\.load"), before.walk())
    return mutant.kind == "scope: of reads" and not any(map(WRITES, written)) and not any(copies)


def within_the_cta(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """The scope of an access to the CTA's shared memory is the CTA: nobody else accesses it."""
    narrower = mutant.kind in ("scope: cta", "scope: cluster")
    shared = op.properties.get("space") == StringAttr("shared")
    of_others = any("cluster.map" in each.name or "mapa" in each.name for each in before.walk())
    return narrower and shared and not of_others


def nothing_passed_on(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """An atomic operation orders nothing: its thread has written nothing else since the last
    barrier of all threads, and accesses nothing before the next one."""
    if mutant.kind != "scope: relaxed" or not ATOMIC(op):
        return False
    flow = Flow(before)
    written = [step for step in flow.reach(op, WHOLE, back=True) if WRITES(step)]
    return all(map(ATOMIC, written)) and not any(map(ACCESSES, flow.reach(op, WHOLE)))


def own_mbarrier(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """An arrival passes another op of the one thread that uses its mbarrier: nobody else hears of
    it. Or that thread ends the mbarrier and makes it anew, where it is used no more."""
    ends = mutant.kind == "reinit: behind the wait"
    for arrival, other in [(op, passed(mutant, op)), (passed(mutant, op), op)]:
        if arrival is None or not (EXPECT(arrival) or ends) or arrival.name.startswith("ptx."):
            continue
        uses = {use.operation for use in arrival.operands[0].uses}
        alone = all(use.parent is arrival.parent for use in uses) and _is_of_one(arrival, before)
        if alone and (
            not uses & Flow(before).reach(op, lambda step: False) if ends else other not in uses
        ):
            return True
    return False


def _is_of_one(op: Operation, module: ModuleOp) -> bool:
    """Whether one thread of the CTA comes to an op."""
    branch = op.parent_op()
    if not isinstance(branch, scf.IfOp):
        return False
    return _is_one(branch.cond) or (
        named(r"elect\.sync")(branch.cond.owner) and _threads(module) == 32  # type: ignore[arg-type]
    )


def _is_one(condition: SSAValue) -> bool:
    """Whether a condition holds in one thread: its number is a constant."""
    owner = condition.owner
    return (
        isinstance(owner, arith.CmpiOp)
        and owner.predicate.value.data == 0
        and isinstance(owner.lhs.owner, ThreadIdOp)
        and constant_of(owner.rhs) is not None
    )


def beside_the_barrier(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A barrier of all threads passes an access to memory that nobody accesses on the side where
    that is then, but to read what it reads."""
    order = _order(mutant, op)
    pairs = [(a, b, i) for i, (a, b) in enumerate([order, order[::-1]])] if order else []
    for barrier, access, late in pairs:
        if not WHOLE(barrier) or not PLAIN(access) or in_loop(barrier):
            continue
        memory = _memory(access)
        steps = Flow(before).reach(barrier, lambda step: False, back=bool(late))
        return not any(
            memory in step.operands and (WRITES(access) or not PLAIN(step) or WRITES(step))
            for step in steps - {access}
        )
    return False


def before_one_thread(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A barrier of all threads comes behind a branch of one thread, which waits for nobody there,
    and which alone has done anything before."""
    branch = passed(mutant, op)
    if mutant.kind != "later" or not WHOLE(op) or not isinstance(branch, scf.IfOp):
        return False
    steps = Flow(before).reach(op, lambda step: False, back=True)
    same = [step for step in steps if isinstance(step, scf.IfOp) and step.cond is branch.cond]
    inside = {inner for each in same for inner in each.walk()}
    return (
        _is_one(branch.cond)
        and not in_loop(op)
        and not any(map(LEARNS, branch.walk()))
        and not any(acts(step) for step in steps - inside if not isinstance(step, memref.AllocOp))
    )


RULES = {
    "more is ordered": more_is_ordered,
    "in turn": in_turn,
    "empty group": empty_group,
    "nothing behind": nothing_behind,
    "arrived before": arrived_before,
    "told by its warp": told_by_its_warp,
    "reads alone": reads_alone,
    "within the cta": within_the_cta,
    "nothing passed on": nothing_passed_on,
    "own mbarrier": own_mbarrier,
    "beside the barrier": beside_the_barrier,
    "before one thread": before_one_thread,
}
