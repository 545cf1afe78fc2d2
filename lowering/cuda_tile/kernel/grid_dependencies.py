"""Grids that start before those that they depend on have ended (programmatic dependent launch).

Every thread waits by itself: what it loads from then on is what the grids before it left. A wait
under a condition or in a loop, where loads may be made ahead of it, is made at the kernel's begin.
"""

from __future__ import annotations

from xdsl.ir import Operation

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.memory import GdcLaunchDependentsTkoOp, GdcWaitTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice.sync import GRIDDEPCONTROL_WAIT
from tilewright.dialects.cute_nvgpu.ops import sync
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.passes.cuda_tile.analysis.remarks import remark


def waits_first(entry: EntryOp) -> bool:
    """True of a kernel that waits for the grids before it at its begin."""
    return any(isinstance(op, GdcWaitTkoOp) and not _is_at_top(op) for op in entry.walk())


def waits_later(entry: EntryOp) -> bool:
    """True of a kernel that does what does not depend on the grids before it, and waits then."""
    waits = bool(descendants(entry, GdcWaitTkoOp))
    return waits and not waits_first(entry)


def wait_for_grids(kernel: EntryLowering) -> None:
    """Wait for the grids before this one, where the target can start before their end."""
    if kernel.arch is not None and kernel.arch.supports(GRIDDEPCONTROL_WAIT.target):
        kernel.emitter.add(sync.GridDependencyWaitOp())


@lowers
def _grid_dependency(op: GdcWaitTkoOp | GdcLaunchDependentsTkoOp, kernel: EntryLowering) -> None:
    """No thread's memory depends on when the next grids start: they wait for all of this one."""
    kernel[op.result_token] = kernel.token_of(op)
    if kernel.arch is None or not kernel.arch.supports(GRIDDEPCONTROL_WAIT.target):
        remark(op, "hint", f"'{op.name}' does nothing: kernels start when those before are done")
    elif isinstance(op, GdcLaunchDependentsTkoOp):
        kernel.emitter.add(sync.LaunchDependentsOp())
    elif _is_at_top(op):
        wait_for_grids(kernel)


def _is_at_top(op: Operation) -> bool:
    return isinstance(op.parent_op(), EntryOp)
