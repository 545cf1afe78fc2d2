"""Rules for barriers, arrivals, groups and registers: what nobody waits for, what is waited for
again before it matters, and what only waits for longer."""

from __future__ import annotations

from itertools import islice

from edits import acts, constant_of
from fence_rules import ARRIVES, BEFORE, INIT, WAIT, moved, passed
from kernel_flow import ASYNCHRONOUS, TELLS, Flow, Is, named
from mutants import Mutant
from scope_edits import barrier_of
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

EXPECT = named(r"mbarrier\.arrive\.expect_tx|pipeline\.producer_commit")
WARP_SYNC = named(r"bar\.warp\.sync")
MEETS = named(r"barrier|bar\.(sync|warp\.sync)")
CTA_MEETS = named(r"barrier|bar\.sync")
BULK_WAIT = named(r"cp\.async\.bulk\.wait_group")
BULK_COMMIT = named(r"cp\.async\.bulk\.commit_group")
ACCESSES = named(
    r"load|store|ld|st|fragment\.(load|store)|ldmatrix|stmatrix|wmma\.(load|store)\w*|copy|fill"
    r"|cp\.async|tmem\.(load|store)\w*|tcgen05\.(ld|st)|retrieve|retile"
)
"""Accesses of threads to memory; a `cute.copy` may be one."""


def _copies(op: Operation) -> bool:
    """Whether an op starts copies by cp.async."""
    if op.name == "cute.copy":
        return "cp_async" in str(op.operands[0].type)
    return named(r"cp\.async|copy")(op)


GROUPS: dict[str, tuple[Is, Is]] = {
    "cp.async.commit_group": (_copies, named(r"cp\.async\.wait_group")),
    "pipeline.producer_commit": (_copies, named(r"pipeline\.consumer_wait")),
    "wgmma.commit_group": (
        named(r"sm90\.\w+|wgmma\.mma_async|gemm"), named(r"wgmma\.wait_group")
    ),
    "cp.async.bulk.commit_group": (
        named(r"tma\.(store|reduce)|cp\.async\.bulk\.tensor\.(store|reduce)|copy"), BULK_WAIT
    ),
}  # fmt: skip
"""Commits, by name: what they put into groups, and what waits for those."""


def commit_of_the_same(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A commit moves past an op that neither starts what it commits nor waits for groups: the same
    operations are in the same groups."""
    other = passed(mutant, op)
    pairs = [(op, other), (other, op)] if other is not None else []
    for commit, beside in pairs:
        kinds = GROUPS.get(commit.name.partition(".")[2])
        if kinds is not None and "tma" not in str(commit.operand_types[:1]):
            return not any(
                kind(inner) for inner in beside.walk() for kind in (*kinds, _same_as(commit))
            )
    return False


def _same_as(op: Operation) -> Is:
    return lambda other: other.name == op.name


def bytes_before(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A copy starts before its thread has said how many bytes to expect: the phase waits for that
    thread's arrival too, which comes with it (PTX ISA, mbarrier: the tx-count may be negative)."""
    other = passed(mutant, op)
    pairs = [(op, other), (other, op)] if other is not None else []
    for expect, copy in pairs:
        if EXPECT(expect) and named(r"tma\.load|copy|cp\.async\.bulk\.tensor\.load")(copy):
            return expect.operands[0] in copy.operands and expect.parent is copy.parent
    return False


# What nobody waits for


def in_loop(op: Operation) -> bool:
    """Whether an op is in a loop."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, scf.ForOp | scf.WhileOp):
        parent = parent.parent_op()
    return parent is not None


def _unheard(barrier: SSAValue) -> bool:
    """Whether nobody learns of arrivals at an mbarrier: threads wait there once, for the phase
    before the first one, and arrive once. Were the first phase over when they wait, they would wait
    for ever for one that never comes: in a kernel that ends it is not."""
    uses = [use.operation for use in barrier.uses]
    waits = [use for use in uses if WAIT(use)]
    arrivals = [use for use in uses if ARRIVES(use)]
    return (
        len(waits) + len(arrivals) + sum(map(INIT, uses)) == len(uses)
        and len(arrivals) == 1
        and not any(map(in_loop, waits + arrivals))
        and all(wait.name.startswith("cute_nvgpu") for wait in waits)
        and all(constant_of(wait.operands[-1]) == 1 for wait in waits)
    )


def first_phase(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A wait for the phase before the first one lets everybody through, wherever it is; or at
    another mbarrier, at which only its own branch arrives, later."""
    other = passed(mutant, op)
    if mutant.kind == "barrier: another" and WAIT(op) and _unheard(op.operands[0]):
        return _comes_first(next(islice(after.walk(), mutant.op, None)))
    wait = op if WAIT(op) else other
    if mutant.kind not in MOVED:
        return False
    acquire = op if ACQUIRES(op) else other
    if acquire is not None and ACQUIRES(acquire):
        return acquired_once(acquire.operands[0]) and constant_of(acquire.operands[1]) == 0
    if wait is None or not WAIT(wait) or not wait.name.startswith("cute_nvgpu"):
        return False
    return _unheard(wait.operands[0])


def _comes_first(wait: Operation) -> bool:
    """Whether all arrivals at what an op waits for follow it in its block."""
    uses = [use.operation for use in wait.operands[0].uses]
    block = wait.parent_block()
    assert block is not None
    every = list(block.ops)
    later = every[every.index(wait) + 1 :]
    return not in_loop(wait) and all(
        any(step.is_ancestor(use) for step in later) for use in uses if ARRIVES(use)
    )


def unheard(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """An arrival of which nobody learns, or the release of a stage that nobody acquires again, is
    another or none, or its mbarrier was made anew before. In shared memory, one whose phase never
    ends hinders nobody."""
    if mutant.kind.startswith("guard"):
        inside = [each for each in op.walk() if each is not op and acts(each)]
        return all(ARRIVES(each) and each.name.startswith("cute_nvgpu") for each in inside) and all(
            _unheard(each.operands[0]) for each in inside
        )
    if mutant.kind == "reinit: behind the wait":
        return _unheard(op.operands[0])
    if mutant.kind not in MOVED:
        return False
    other = passed(mutant, op)
    arrival = op if ARRIVES(op) else other
    if arrival is None or not ARRIVES(arrival) or (arrival is not op and TELLS(op)):
        return False
    if arrival.name.startswith("cute_nvgpu"):
        return _unheard(arrival.operands[0])
    return named(r"pipeline\.consumer_release")(arrival) and acquired_once(arrival.operands[0])


ACQUIRES = named(r"pipeline\.producer_acquire")


def used_once(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A pipeline whose stages are acquired once has more consumers, whom nobody waits for; one that
    is used once has more stages, which lie idle."""
    if mutant.kind not in ("pipeline: consumers+1", "pipeline: consumers-1", "pipeline: stages+1"):
        return False
    pipeline = op.results[0]
    uses = [use.operation for use in pipeline.uses]
    if "consumers" in mutant.kind:
        return acquired_once(pipeline)
    return all(len(use.operands) == 2 and constant_of(use.operands[1]) == 0 for use in uses)


def acquired_once(pipeline: SSAValue) -> bool:
    """Whether stages of a pipeline are acquired once, in its first use."""
    uses = [use.operation for use in pipeline.uses]
    acquires = [use for use in uses if named(r"pipeline\.producer_acquire")(use)]
    return all(not in_loop(use) and constant_of(use.operands[1]) == 0 for use in acquires)


def _tells_nobody(op: Operation) -> bool:
    """Whether an op tells no other warp anything, though it is a barrier or an arrival."""
    return WARP_SYNC(op) or (
        op.name.startswith("cute_nvgpu") and ARRIVES(op) and _unheard(op.operands[0])
    )


def nobody_told(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A `tcgen05.fence::before_thread_sync` behind which no other warp is told of anything before
    the next one."""
    fence = moved(mutant, op, BEFORE)
    if fence is None:
        return False
    return all(_tells_nobody(step) for step in Flow(before).reach(fence[0], BEFORE) if TELLS(step))


def needless_warp_sync(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A `bar.warp.sync` between which and the last barrier of its warp no thread has accessed
    memory makes nothing known that an elected thread does not know by itself; nor does one behind
    which the warp tells nobody anything, and accesses nothing, before the CTA's barrier."""
    other = passed(mutant, op)
    sync = op if WARP_SYNC(op) else other
    if sync is None or not WARP_SYNC(sync):
        return False
    if mutant.kind not in ("remove", "earlier", "later", "role: outside its if"):
        return False
    flow = Flow(before)
    if not any(map(ACCESSES, flow.reach(sync, MEETS, back=True))):
        return True
    ahead = flow.reach(sync, CTA_MEETS)
    return all(_tells_nobody(step) for step in ahead if TELLS(step)) and not any(
        map(ACCESSES, ahead)
    )


def in_lockstep(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """Of two mbarriers, by constants next to each other, the other one: whoever is on the other
    side, arrives where the op waits and waits where it arrives, is at both, one right behind the
    other, and the op is done for both."""
    if not mutant.kind.startswith("lockstep"):
        return False
    barrier, waits = barrier_of(op), named(r"mbarrier\.wait")
    place = int(mutant.kind.split()[2]) - list(op.operands).index(barrier)  # type: ignore[arg-type]
    others = [
        other
        for other in before.walk()
        if barrier_of(other) is barrier and waits(other) != waits(op)
        and (TELLS(other) or ASYNCHRONOUS(other))
        and not named(r"mbarrier\.(init|inval)")(other)
    ]  # fmt: skip
    return all(_is_at_both(other, place) for other in others)


def _is_at_both(op: Operation, place: int) -> bool:
    """Right beside the op it is done at the neighbour, too."""
    for beside in (op.next_op, op.prev_op):
        if beside is not None and beside.name == op.name and len(beside.operands) > place:
            own, other = constant_of(op.operands[place]), constant_of(beside.operands[place])
            rest = zip(op.operands, beside.operands, strict=True)
            if own is not None and other == own ^ 1 and (
                all(a is b for number, (a, b) in enumerate(rest) if number != place)
            ):  # fmt: skip
                return True
    return False


# What a later wait waits for


def waited_for_again(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A wait for what bulk copies read comes later, or does not wait for a group that is committed
    later: until the next wait for all of them in the same thread nobody writes those bytes, neither
    that thread nor others that it lets go on. Two places of one buffer are told apart by an index
    that is constant in both."""
    if mutant.kind not in (*MOVED, "pending+1"):
        return False
    wait = op if BULK_WAIT(op) else _next_wait(op) if BULK_COMMIT(op) else None
    if wait is None or wait.name.startswith("ptx."):
        return False
    if mutant.kind == "remove" and _pending(wait) != 0:
        return False
    sources = [store for store in _behind(wait) if named(r"tma\.store")(store)]
    flow = Flow(before)

    def again(step: Operation) -> bool:
        """A wait for all, behind a commit of its own where that of `op` is missing."""
        whole = BULK_WAIT(step) and _pending(step) == 0
        return whole and (op is wait or any(map(BULK_COMMIT, _behind(step))))

    ahead = flow.reach(wait, again)
    for told in [step for step in ahead if TELLS(step)]:
        ahead |= flow.reach(told, lambda step: False)
    last = not any(map(again, flow.reach(wait, lambda step: False)))
    return (
        bool(sources)
        and not last
        and not any(_may_write(step, store) for step in ahead for store in sources)
    )


MOVED = ("remove", "earlier", "later", "role: outside its if")


def _next_wait(op: Operation) -> Operation | None:
    while op.next_op is not None and not BULK_WAIT(op):
        op = op.next_op
    return op if BULK_WAIT(op) else None


def read_at_the_end(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """The last wait of a thread waits until its bulk copies have read, no longer until they have
    written: behind it the thread does nothing more, and the kernel ends once all is written."""
    if mutant.kind != "read":
        return False
    ahead = Flow(before).reach(op, lambda step: False)
    return not any(TELLS(step) or ACCESSES(step) for step in ahead)


def _pending(op: Operation) -> int:
    pending = op.properties["pending"]
    assert isinstance(pending, IntegerAttr)
    return pending.value.data


def _behind(op: Operation) -> list[Operation]:
    result: list[Operation] = []
    while (op_before := op.prev_op) is not None:
        result.append(op_before)
        op = op_before
    return result


def _may_write(op: Operation, store: Operation) -> bool:
    source = store.operands[0]
    if not isinstance(source.owner, memref.AllocOp):
        return True
    if not named(r"store|fragment\.store|stmatrix|tma\.load|cp\.async|copy")(op):
        return False
    if isinstance(op, memref.StoreOp) and isinstance(op.memref.owner, memref.AllocOp):
        if op.memref is not source:
            return False
        ours = [constant_of(value) for value in op.indices]
        theirs = [constant_of(value) for value in store.operands[1 : 1 + len(ours)]]
        return all(None in pair or pair[0] == pair[1] for pair in zip(ours, theirs, strict=True))
    return source in op.operands or not named(r"tma\.load")(op)


# Registers


def registers_asked_for(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """Fewer registers are asked for, later or not at all, or more are given back: whoever waits for
    registers finds as many or more. (How many the code then needs is ptxas's matter, not one of
    synchronisation.)"""
    if not named("setmaxnreg")(op):
        return False
    asks = op.properties["action"] == StringAttr("inc")
    if mutant.kind == "role: outside its if":
        return not asks
    return mutant.kind == "registers-8" or (asks and mutant.kind in ("remove", "later"))


RULES = {
    "read at the end": read_at_the_end,
    "used once": used_once,
    "commit of the same": commit_of_the_same,
    "bytes before they are expected": bytes_before,
    "first phase": first_phase,
    "nobody told": nobody_told,
    "unheard arrival": unheard,
    "needless warp barrier": needless_warp_sync,
    "in lockstep": in_lockstep,
    "waited for again": waited_for_again,
    "registers asked for": registers_asked_for,
}
