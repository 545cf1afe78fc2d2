"""Effects: how an op is an event, and what it accesses."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import SSAValue

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.ops.smem_desc import MakeSmemDescOp
from tilewright.dialects.frozen import frozen_entity

Reach = Callable[..., NDArray[np.int64] | int]
"""The memory that an instruction accesses, by the numbers in its registers: bytes of shared memory,
[threads or 1, bytes], or a set of cells of tensor memory."""


@frozen_entity
class MemoryPlace:
    """An element of a memref, or the elements that lie `extents` from it on, by dimension. In
    tensor memory `columns`, a bit for each, of some `halves` of its windows of lanes (all of a
    tensor's where None). An instruction has the whole memory of a CTA for a memref, registers for
    indices, and a `reach`."""

    memref: SSAValue | Space
    indices: tuple[SSAValue, ...]
    extents: tuple[tuple[int, int], ...] = ()
    matrix: MakeSmemDescOp | None = None
    """The descriptor, where the place is a matrix of a line of memory."""
    columns: int | None = None
    halves: tuple[int, ...] | None = None
    writes: bool = False
    offset: int = 0
    """How far behind its address it is, in bytes."""
    reach: Reach | None = None
    atomic: bool = False
    """It is atomic, or strong: others such may come beside it."""
    of_cluster: bool = False
    """It may lie in another CTA of the cluster."""
    run: int = 16
    """The bytes that always lie together, where it has a reach."""


@frozen_entity
class Effect:
    """An event that an op is: `kind`, its barrier, its places, numbers and a constant."""

    kind: str
    barrier: MemoryPlace | None = None
    places: tuple[MemoryPlace, ...] = ()
    scalars: tuple[SSAValue, ...] = ()
    constant: Any = None
    predicate: SSAValue | None = None
