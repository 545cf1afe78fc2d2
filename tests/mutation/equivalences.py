"""Rules by which a mutant is equivalent to its kernel. Each proves it from the IR: it is never
enough that a run gives the same."""

from __future__ import annotations

from collections.abc import Callable

from mutants import Mutant, acts
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

Rule = Callable[[Mutant, Operation, ModuleOp, ModuleOp], bool]


def same_text(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """The edit leaves the text as it was: two like ops changed places."""
    return str(before) == str(after)


def no_other_allocation(
    mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp
) -> bool:
    """The permit to allocate tensor memory is given back at another time or not at all, in a kernel
    that allocates once: it ends with the CTA (PTX ISA, tcgen05.relinquish_alloc_permit), and other
    kernels only wait."""
    allocations = [each for each in before.walk() if each.name in ALLOCATIONS]
    return "relinquish_alloc_permit" in op.name and len(allocations) == 1


ALLOCATIONS = ("cute_nvgpu.tmem.alloc", "ptx.tcgen05.alloc")


def stricter(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """A wait for fewer groups to be pending, at the same place, waits for all that it did."""
    return mutant.kind == "pending-1"


def _neighbour(op: Operation, step: int) -> Operation | None:
    beside = op.prev_op if step < 0 else op.next_op
    while beside is not None and not acts(beside):
        beside = beside.prev_op if step < 0 else beside.next_op
    return beside


LOCAL = (
    "mbarrier.init",
    "fence.proxy.async",
    "wgmma.fence",
    "fence.mbarrier_init",
    "setmaxnreg",
    "tcgen05.fence.before_thread_sync",
    "tcgen05.fence.after_thread_sync",
    "prefetch.tensormap",
)
"""Ops that neither wait nor let others go on, and of which the pairs below are about other things."""

COMMUTING = {
    frozenset(pair)
    for pair in (
        ("mbarrier.init", "mbarrier.init"),
        ("setmaxnreg", "scf.for"),
        ("fence.proxy.async", "fence.proxy.async"),
    )
}


def independent(mutant: Mutant, op: Operation, before: ModuleOp, after: ModuleOp) -> bool:
    """Two ops change places that neither wait for nor release anyone, and touch other things: two
    `mbarrier.init`s of different barriers."""
    if mutant.kind not in ("earlier", "later"):
        return False
    other = _neighbour(op, -1 if mutant.kind == "earlier" else 1)
    if other is None:
        return False
    return frozenset((_short(op), _short(other))) in COMMUTING


def _short(op: Operation) -> str:
    return op.name.partition(".")[2]


RULES: dict[str, Rule] = {
    "same text": same_text,
    "no other allocation": no_other_allocation,
    "stricter wait": stricter,
    "independent neighbours": independent,
}


def rule_for(mutant: Mutant, before: ModuleOp, after: ModuleOp) -> str:
    """The first rule that proves a mutant of `before` equivalent, or ''."""
    op = next(each for place, each in enumerate(before.walk()) if place == mutant.op)
    return next((name for name, rule in RULES.items() if rule(mutant, op, before, after)), "")
