"""Effects: the kind of event that an op is, and the memory that it happens to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.ops.smem_desc import MakeSmemDescOp

Reach = Callable[..., NDArray[np.int64] | int]
"""The memory that an instruction accesses, by the numbers in its registers: bytes of shared memory,
[threads or 1, bytes], or a set of cells of tensor memory."""


@dataclass(frozen=True, eq=False, slots=True)
class MemoryPlace:
    """An element of a memref, or the elements that lie `extents` from it on, by dimension. In
    tensor memory `columns` of some `lanes` (all of a tensor's where None). An instruction has the
    whole memory of a CTA for a memref, registers for indices, and a `reach`."""

    memref: SSAValue | Space
    indices: tuple[SSAValue, ...]
    extents: tuple[tuple[int, int], ...] = ()
    matrix: MakeSmemDescOp | None = None
    """The descriptor, where the place is a matrix of a line of memory."""
    columns: int | None = None
    lanes: int | None = None
    writes: bool = False
    offset: int = 0
    """How far behind its address it is, in bytes."""
    reach: Reach | None = None
    run: int = 16
    """The bytes that always lie together, where it has a reach."""


@dataclass(frozen=True, eq=False, slots=True)
class Effect:
    """An event that an op is: `kind`, its barrier, its places, numbers and a constant."""

    kind: str
    barrier: MemoryPlace | None = None
    places: tuple[MemoryPlace, ...] = ()
    scalars: tuple[SSAValue, ...] = ()
    constant: Any = None
    predicate: SSAValue | None = None


Row = Callable[[Any], Effect | None]
"""The effect of an op, None where it has none."""


def plain(kind: str) -> Row:
    """An event that nothing but its kind says."""
    return lambda op: Effect(kind)


def pending(kind: str) -> Row:
    """A wait until at most so many groups are pending."""
    return lambda op: Effect(kind, constant=op.pending.value.data)


def arrival_in_cluster(op: Any, place: MemoryPlace, rank: SSAValue) -> Effect:
    """An arrival in another CTA."""
    return Effect(
        "arrive", place, scalars=(rank,), constant=(1, 0, *(("reads",) if op.reads else ()))
    )


def of_mbarriers(ops: Any, place: Callable[[Any], MemoryPlace]) -> dict[type[Operation], Row]:
    """The rows of a dialect's ops on mbarriers but its wait, by the place of an op's mbarrier."""
    return {
        ops.InitOp: lambda op: Effect("init", place(op), constant=op.count.value.data),
        ops.InvalOp: lambda op: Effect("inval", place(op)),
        ops.ArriveOp: lambda op: Effect(
            "arrive", place(op), constant=(1 if op.count is None else op.count.value.data, 0)
        ),
        ops.ArriveExpectTxOp: lambda op: Effect(
            "arrive", place(op), constant=(1, op.count.value.data)
        ),
        ops.FenceMbarrierInitOp: plain("fence.init"),
    }
