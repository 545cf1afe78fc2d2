"""Rules for fences that are wider, or have nothing to order where they were: nobody has accessed
anything, or others order it."""

from __future__ import annotations

from barrier_rules import WARP_SYNC
from edits import acts
from fence_rules import (
    AFTER,
    BEFORE,
    COMMIT,
    COMMITTED,
    FENCES_INITS,
    INIT,
    INIT_FENCE,
    INTO,
    REMOVED,
    WGMMA_FENCE,
    WHOLE,
    moved,
    passed,
)
from kernel_flow import ASYNCHRONOUS, DEALLOC, LEARNS, TENSOR, WRITES, Flow, named
from mutants import Mutant
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

PROXY_FENCE = named(r"fence\.proxy\.async")
WGMMA = named(r"sm90\.\w+|wgmma\.mma_async")


def wider_fence(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A fence for the async proxy orders more memory, or no less: none but shared memory where no
    copy by TMA accesses any other, none but the CTA's own where no thread writes that of others."""
    if not mutant.kind.startswith("space: ") or mutant.kind.endswith("no proxy"):
        return False
    now, widths = mutant.kind.removeprefix("space: "), ["shared::cta", "shared::cluster", "all"]
    space = getattr(op, "space", None)
    was = "all" if space is None else space.data
    if widths.index(now) >= widths.index(was):
        return True
    ops = list(before.walk())
    of_others = any("cluster.map" in each.name or "mapa" in each.name for each in ops)
    copied = any(named(r"tma\.\w+|cp\.(reduce\.)?async\.bulk\.tensor.*")(each) for each in ops)
    written = any(WRITES(each) and not _is_shared(each) for each in ops)
    return not (now == "shared::cta" and of_others) and not (was == "all" and copied and written)


def _is_shared(op: Operation) -> bool:
    """Whether an access is to shared memory."""
    space = op.properties.get("space")
    return "smem" in str(op.operand_types) or space == StringAttr("shared")


def nothing_since(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A `tcgen05.fence::after_thread_sync` of the kernel's body: nobody has accessed tensor memory
    since the one behind the barrier of all threads before, and they have only met at such since. Or
    a `before_thread_sync` since the last of which nobody has. Who gives an allocation back is done
    at once (PTX ISA, tcgen05: synchronous instructions)."""
    if (fence := moved(mutant, op, BEFORE)) is not None:
        since = Flow(before).reach(fence[0], BEFORE, back=True)
        return not any(TENSOR(step) and not DEALLOC(step) for step in since)
    fence = moved(mutant, op, AFTER)
    if fence is None or not isinstance(fence[0].parent_op(), FuncOp):
        return False
    since = Flow(before).reach(fence[0], _settles, back=True)
    return not any(TENSOR(step) and not DEALLOC(step) for step in since) and all(
        _is_of_all(step) or WARP_SYNC(step) for step in since if LEARNS(step)
    )


def _is_of_all(op: Operation) -> bool:
    return WHOLE(op) or named(r"(barrier\.)?cluster\.wait")(op)


def _settles(op: Operation) -> bool:
    step = op.prev_op
    while step is not None and not acts(step):
        step = step.prev_op
    behind = step is not None and _is_of_all(step)
    return AFTER(op) and behind and isinstance(op.parent_op(), FuncOp)


def fenced_still(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """An `mbarrier.init` or the fence behind it moves, or that goes: from each one that is made no
    path leads to what arrives there by itself without a fence, and none comes there before."""
    beside = passed(mutant, op)
    subjects = [each for each in (op, beside) if each is not None]
    if not any(FENCES_INITS(each) or INIT(each) for each in subjects):
        return False
    if mutant.kind not in (*REMOVED, "far: first", "far: last"):
        return False
    return inits_are_fenced(after) and len(_all(INIT, before)) == len(_all(INIT, after))


def _all(kind: object, module: ModuleOp) -> list[Operation]:
    return [op for op in module.walk() if kind(op)]  # type: ignore[operator]


def inits_are_fenced(module: ModuleOp) -> bool:
    """Whether mbarriers are made before they are used, and shown before copies complete them."""
    flow = Flow(module)
    used = named(r"(cluster\.)?mbarrier[._](arrive|wait|try_wait|inval).*")
    for init in _all(INIT, module):
        if any(_completes(step, init) for step in flow.reach(init, INIT_FENCE)):
            return False
        earlier = flow.reach(init, lambda step: False, back=True)
        if any(used(step) or ASYNCHRONOUS(step) for step in earlier):
            return False
    return True


def _completes(op: Operation, init: Operation) -> bool:
    """Whether an op may complete an mbarrier by itself: one of those that are made together."""
    own = init.name.startswith("ptx.") or init.operands[0] in op.operands
    return ASYNCHRONOUS(op) and own


def nothing_of_others(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A fence, or the commit of copies, is left to the threads that took the branch before it: the
    others have accessed nothing that it orders, or copied anything."""
    branch = _branch_before(op) if mutant.kind == INTO else None
    if branch is None:
        return False
    flow, inside = Flow(before), set(branch.walk())
    if BEFORE(op):
        far = flow.reach(op, BEFORE, back=True) - inside
        near = flow.reach(op, lambda step: BEFORE(step) or COMMIT(step), back=True)
        return not any(TENSOR(step) and (step in near or not COMMITTED(step)) for step in far)
    if PROXY_FENCE(op):
        written = flow.reach(op, PROXY_FENCE, back=True) - inside
        return not any(map(WRITES, written)) and inits_are_fenced(after)
    if op.name.endswith("cp.async.commit_group"):
        copies = _all(named(r"cp\.async"), before)
        return all(_only_where(branch.cond, copy) for copy in copies)
    return False


def _branch_before(op: Operation) -> scf.IfOp | None:
    step = op.prev_op
    while step is not None and not acts(step):
        step = step.prev_op
    return step if isinstance(step, scf.IfOp) else None


def _only_where(condition: SSAValue, op: Operation) -> bool:
    """Whether an op is in a branch that asks for a condition, with others or alone."""
    outer = op.parent_op()
    while outer is not None:
        if isinstance(outer, scf.IfOp):
            ahead = [outer.cond]
            while ahead:
                value = ahead.pop()
                if value is condition:
                    return True
                if isinstance(value.owner, arith.AndIOp):
                    ahead += value.owner.operands
        outer = outer.parent_op()
    return False


def registers_left(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A second `wgmma.fence` before wgmmas that accumulate in what wgmmas have left in registers,
    with both matrices in shared memory: nobody touched those (PTX ISA 9.7.15.7.1)."""
    fence = moved(mutant, op, WGMMA_FENCE)
    if fence is None:
        return False
    flow = Flow(before)
    following = [step for step in flow.reach(fence[0], WGMMA_FENCE) if WGMMA(step)]
    again = any(map(WGMMA_FENCE, flow.reach(fence[0], lambda step: False, back=True)))
    return again and all(
        "smem_desc" in str(step.operands[0].type)
        and isinstance(step.operands[2].owner, Operation)
        and WGMMA(step.operands[2].owner)
        for step in following
    )


RULES = {
    "wider fence": wider_fence,
    "nothing since": nothing_since,
    "fenced still": fenced_still,
    "nothing of others": nothing_of_others,
    "registers left": registers_left,
}
