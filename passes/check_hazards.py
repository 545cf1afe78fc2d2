"""`cute-nvgpu-check-hazards`: what an asynchronous instruction of the tensor core reads and writes
is left alone until it is complete."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilewright.diagnostic import OpError, named
from tilewright.dialects.cute_nvgpu.ops.sm90 import WarpgroupMmaOp
from tilewright.passes.analysis.hazards.check import check
from tilewright.passes.analysis.hazards.launches import is_kernel
from tilewright.passes.analysis.wgmma_flow import Hazard, Rule, WgmmaFlow


class CheckHazardsPass(ModulePass):
    """Reject the first op that meets a wgmma or a tcgen05 op in flight, or one that lacks a fence.

    A wgmma is in flight until a `wgmma.wait_group` completes the group that a later
    `wgmma.commit_group` put it into. Rejected is, on any path through loops and branches:

    - a use of its result, except as C of a wgmma of the same shape and accumulator type, whose
      result then has the registers: the earlier value may not be used again;
    - a new value for registers of its A fragment;
    - a write (`memref.store`, `fragment.store`, `cp.async`, `stmatrix`, `wmma.store`, `tma.load`)
      to memory it reads;
    - the end of the function;
    - a wgmma with no `wgmma.fence` before it, or none since its C or A was written by another op;
    - a wgmma that reads what threads wrote, with no `fence.proxy.async` in between.

    Which memory: buffers that are allocated apart are apart. Within one, the matrix modes of a
    descriptor are taken to meet any index, and the other modes, the stages, to meet an index that
    is the same constant or the same value. A stage that may be another one is accepted, so that a
    pipeline of several stages is; the interpreter sees which one it is. Threads of a branch are
    not told apart from others, and barriers are not looked at. PTX ISA 9.7.15.7.

    An MMA in tensor memory, a copy to it or a shift is in flight until a thread waits for an
    mbarrier that a later `tcgen05.commit` names, whichever of its phases. Rejected is, likewise:

    - a `tmem.load`, `tmem.store` or `tmem.dealloc` of what it writes, before that wait and a
      `tcgen05.fence.after_thread_sync`;
    - a write to memory that it reads, before that wait;
    - one that reads what threads wrote, with no `fence.proxy.async` in between;
    - a use of what `tmem.load` gives, or a store over what it reads, before `tmem.wait_load`;
    - an access to what `tmem.store` wrote, before `tmem.wait_store`.

    Which tensor: those of one allocation, by their columns, as far as the indices are constants;
    accesses to 16 lanes, and accumulators in 16 of every 32, where their first lane is the same. An
    `scf.if` that asks which thread it is does what both branches do, in the order of the text; what
    one of them has waited for counts for the others. PTX ISA, tcgen05 memory consistency.
    """

    name = "cute-nvgpu-check-hazards"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.walk():
            if not isinstance(function, func.FuncOp | gpu.FuncOp):
                continue
            if has_wgmma(function):
                report = _reject_registers if is_kernel(function) else _reject
                WgmmaFlow(function, report).follow(function.body)
            hazard, _ = check(function)
            if hazard is not None:
                raise hazard.error()


def has_wgmma(function: Operation) -> bool:
    """Anything is to be checked."""
    return any(isinstance(op, WarpgroupMmaOp) for op in function.walk())


def _reject(hazard: Hazard) -> None:
    raise OpError(hazard.op, f"'{hazard.op.name}' {_MESSAGES[hazard.rule](hazard)}")


def _reject_registers(hazard: Hazard) -> None:
    if hazard.rule not in ("memory", "proxy"):
        _reject(hazard)


_WAIT = "nearest legal: cute_nvgpu.wgmma.wait_group 0 before it (PTX ISA 9.7.15.7.3)"
_FENCE = "nearest legal: cute_nvgpu.wgmma.fence before it (PTX ISA 9.7.15.7.1)"


def _in_flight(expected: str) -> Callable[[Hazard], str]:
    return lambda hazard: (
        f"{expected}{_place(hazard.other)}, which no wgmma.wait_group has completed; {_WAIT}"
    )


def _unfenced(hazard: Hazard) -> str:
    if hazard.value is None:
        return f"expected a wgmma.fence before the first wgmma, got none; {_FENCE}"
    return (
        "expected registers that were not written since the last wgmma.fence, got those that "
        f"{_place(hazard.other)} wrote; {_FENCE}"
    )


_MESSAGES: dict[Rule, Callable[[Hazard], str]] = {
    "result": _in_flight("expected an accumulator that is complete, got that of "),
    "shape": _in_flight("expected an accumulator of the same shape, or complete, got that of "),
    "memory": _in_flight("expected memory that no wgmma reads, got that of "),
    "fragment": _in_flight("expected registers that no wgmma reads, got those of operand A of "),
    "end": _in_flight("expected every wgmma to be complete, got "),
    "fence": _unfenced,
    "overwritten": lambda hazard: (
        f"expected an accumulator of its own, got one that {_place(hazard.other)} has overwritten; "
        "nearest legal: a wgmma.wait_group before that"
    ),
    "proxy": lambda hazard: (
        "expected memory that the async proxy sees, got what "
        f"{_place(hazard.other)} wrote; nearest legal: cute_nvgpu.fence.proxy.async after it, in "
        "the thread that wrote (PTX ISA 9.7.15.7.1)"
    ),
}


def _place(op: Operation | None) -> str:
    return "the caller" if op is None else named(op)
