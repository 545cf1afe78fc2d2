"""`cute-nvgpu-check-hazards`: what an asynchronous instruction of the tensor core reads and writes
is left alone until it is complete."""

import warnings
from typing import Literal, get_args

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cute_nvgpu.ops.sm90 import WarpgroupMmaOp
from tilewright.dialects.frozen import frozen
from tilewright.passes.analysis.functions import functions
from tilewright.passes.analysis.hazards.check import check
from tilewright.passes.analysis.hazards.launches import FROM_TILE_IR, is_kernel
from tilewright.passes.analysis.read_only import written_constant
from tilewright.passes.analysis.wgmma_flow import WgmmaFlow, WgmmaHazard
from tilewright.source.diagnostic import OpError, messages, named

Unproven = Literal["warn", "error", "ignore"]
"""The fate of what cannot be decided."""


class UnprovenWarning(UserWarning):
    """Synchronisation that the check can neither prove nor refute."""


@frozen
class CheckHazardsPass(ModulePass):
    """Reject a kernel in which two accesses conflict that no synchronisation orders, in any
    schedule, alignment of phases or number of steps (`analysis.hazards` says how that is found).

    A function splits by conditions on threads into roles, in whatever order of the text. Rejected:

    - accesses to shared memory by two threads, one a write, with no path of barriers, arrivals and
      waits between; by `cp.async`, TMA, wgmma or tcgen05, with none from its completion event;
    - what threads wrote and the async proxy accesses, with no `fence.proxy.async` in between;
    - accesses to tensor memory likewise, the fences of tcgen05 included;
    - an arrival, or bytes, more or less than a phase of an mbarrier waits for, or in the phase
      before; a wait that nothing ends, or that may miss its phase; an mbarrier not made;
    - what one thread or all of a warp should issue and others do;
    - an mbarrier that ends while others may look at it; shared memory of a CTA of the cluster that
      may not have begun, or have ended; tensor memory that is not allocated;
    - an argument of the tile level that threads and tensor maps access, without a barrier, a wait
      or a proxy fence in between; strong accesses whose scope is too narrow;
    - `ld.global.nc` of what the same block of the kernel writes by the same register;
    - a wgmma's result or its C touched before its `wgmma.wait_group`, and one without a
      `wgmma.fence` (PTX ISA 9.7.15.7).

    Kernels of `ptx` are looked at as those of ops are; registers that a wgmma gives are in flight
    there until its `wgmma.wait_group`.

    A function that is no kernel is a part of something: of it only what is in flight is looked at,
    in wgmmas by `analysis.wgmma_flow`, over all paths in the order of the text.

    What depends on numbers from memory is not proven: `unproven` says whether that is a warning, an
    error or nothing.
    """

    name = "cute-nvgpu-check-hazards"

    unproven: str = "warn"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.unproven not in get_args(Unproven):
            raise OpError(
                op,
                f"cute-nvgpu-check-hazards expected unproven = {', '.join(get_args(Unproven))}, "
                f"got {self.unproven}",
            )
        for function in functions(op):
            if FROM_TILE_IR in function.attributes:
                continue  # Tests look at those: what orders their threads nobody wrote.
            if has_wgmma(function):
                report = _reject_registers if is_kernel(function) else _reject
                WgmmaFlow(function, report).follow(function.body)
            hazard, unproven = check(function)
            hazard = hazard or written_constant(function)
            if hazard is not None:
                raise hazard.error()
            self._say(unproven)

    def _say(self, unproven: dict[Operation, str]) -> None:
        """Say of the first op what could not be decided."""
        if self.unproven == "ignore" or not unproven:
            return
        op, why = next(iter(unproven.items()))
        more = f" (and {len(unproven) - 1} more)" if len(unproven) > 1 else ""
        message = f"'{op.name}' is not proven to be free of hazards: {why}{more}"
        if self.unproven == "error":
            raise OpError(op, message)
        warnings.warn(f"{named(op)}: not proven: {why}{more}", UnprovenWarning, stacklevel=2)


def has_wgmma(function: Operation) -> bool:
    """Anything is to be checked."""
    return bool(descendants(function, WarpgroupMmaOp))


def _reject(hazard: WgmmaHazard) -> None:
    if hazard.rule == "fragment":
        return  # PTX has registers for two rounds: `ptx.rename_in_flight`.
    other = "the caller" if hazard.other is None else named(hazard.other)
    unfenced = hazard.rule == "fence" and hazard.value is None
    text = _MESSAGES["first" if unfenced else hazard.rule].format(other=other, wait=_WAIT)
    raise OpError(hazard.op, f"'{hazard.op.name}' {text}")


def _reject_registers(hazard: WgmmaHazard) -> None:
    if hazard.rule not in ("memory", "proxy"):
        _reject(hazard)


_WAIT = (
    "which no wgmma.wait_group has completed; nearest legal: cute_nvgpu.wgmma.wait_group 0 before "
    "it (PTX ISA 9.7.15.7.3)"
)
_MESSAGES = messages("""
result: expected an accumulator that is complete, got that of {other}, {wait}
shape: expected an accumulator of the same shape, or complete, got that of {other}, {wait}
memory: expected memory that no wgmma reads, got that of {other}, {wait}
end: expected every wgmma to be complete, got {other}, {wait}
first: expected a wgmma.fence before the first wgmma, got none; nearest legal:
    cute_nvgpu.wgmma.fence before it (PTX ISA 9.7.15.7.1)
fence: expected registers that were not written since the last wgmma.fence, got those that {other}
    wrote; nearest legal: cute_nvgpu.wgmma.fence before it (PTX ISA 9.7.15.7.1)
overwritten: expected an accumulator of its own, got one that {other} has overwritten; nearest
    legal: a wgmma.wait_group before that
proxy: expected memory that the async proxy sees, got what {other} wrote; nearest legal:
    cute_nvgpu.fence.proxy.async after it, in the thread that wrote (PTX ISA 9.7.15.7.1)
""")
