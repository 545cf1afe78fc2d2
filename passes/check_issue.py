"""`cute-nvgpu-check-issue`: a box is stored or reduced by one thread."""

import warnings
from collections.abc import Sequence
from functools import cache

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tilewright.dialects.cute.ops.copy import CopyOp
from tilewright.dialects.cute.types.tma import TmaCopyType
from tilewright.dialects.cute_nvgpu.lattice.tma import REPEATABLE
from tilewright.dialects.cute_nvgpu.ops.tma import TmaReduceOp, TmaStoreOp
from tilewright.dialects.cute_nvgpu.types.copies import TmaInstructionAttr
from tilewright.dialects.gpu import FunctionOp, known_extents
from tilewright.passes.analysis.executing_threads import WARP, Known, Threads
from tilewright.passes.analysis.functions import functions
from tilewright.source.diagnostic import OpError, at


class CheckIssuePass(ModulePass):
    """Reject the first TMA reduction that several threads of a CTA issue for one box, since each of
    them counts; warn of a store, or a reduction that changes nothing when it is done again.

    Which threads issue it follows from the conditions around it, as far as they are computed from
    numbers of threads, `elect.sync` and constants: what all threads have alike, arguments and the
    like, is taken to hold. Where the size of the block is not known, there is a warning only. PTX
    ISA, cp.reduce.async.bulk.tensor.
    """

    name = "cute-nvgpu-check-issue"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in functions(op):
            if isinstance(kernel, FunctionOp):
                _check(kernel)


def _check(kernel: FunctionOp) -> None:
    threads: Threads | None = None
    known = known_extents(kernel, "gpu.known_block_size")
    for op in kernel.walk():
        issued = _issued(op) if _is_asked(type(op)) else None
        if issued is None:
            continue
        if threads is None:
            threads = Threads(known or (WARP,))
        kind, places = issued
        several = _issue_one(threads, op, places)
        if several is None:
            continue
        first, second, *more = several
        message = (
            f"'{op.name}' expected one thread to {f'reduce ({kind})' if kind else 'store'} a box, "
            f"got threads {first} and {second}{' and others' if more else ''} of a block of "
            f"{'x'.join(map(str, known or (WARP,)))}"
        )
        nearest = "; nearest legal: in a branch of one thread (cute_nvgpu.elect.sync in one warp)"
        if kind is not None and kind not in REPEATABLE and known is not None:
            raise OpError(op, f"{message} (each of them counts){nearest}")
        _warn(op, f"{message}{'' if known else ', if there are so many'}{nearest}")


def _warn(op: Operation, message: str) -> None:
    where = at(op.location, message)
    place = "" if where.line is None else f"{where.file}:{where.line}:{where.column}: "
    warnings.warn(f"{place}warning: {message}", stacklevel=2)


@cache
def _is_asked(op: type[Operation]) -> bool:
    return issubclass(op, TmaStoreOp | TmaReduceOp | CopyOp)


def _issued(op: Operation) -> tuple[str | None, Sequence[SSAValue]] | None:
    """The kind of reduction (None: a store) and what says which box it is; None for other ops."""
    match op:
        case TmaStoreOp():
            return None, op.operands
        case TmaReduceOp():
            return op.kind.data.value, op.operands
        case CopyOp() if op.tiled is not None and isinstance(type_ := op.tiled.type, TmaCopyType):
            atom = type_.atom
            assert isinstance(atom, TmaInstructionAttr)
            return None if atom.loads else (atom.data.reduction, [op.source, op.destination])
        case _:
            return None


def _issue_one(threads: Threads, op: Operation, places: Sequence[SSAValue]) -> list[int] | None:
    """Several threads that issue the same box, or None where there are none that are known."""
    there = threads.executing(op)
    contents = [threads[value] for value in places]
    if there is None or Known.NOTHING in [part for part in contents if isinstance(part, Known)]:
        return None
    numbers = [part for part in contents if isinstance(part, np.ndarray)]
    boxes: dict[tuple[int, ...], list[int]] = {}
    for thread in np.flatnonzero(there).tolist():
        box = tuple(int(part[thread]) for part in numbers)
        boxes.setdefault(box, []).append(thread)
    return next((same for same in boxes.values() if len(same) > 1), None)
