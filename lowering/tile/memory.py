"""Memory that tensors are views of."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue


@dataclass(frozen=True, slots=True)
class Memory:
    """A line of elements: `memref<?xT>` in global memory, in shared memory with its swizzle."""

    value: SSAValue
    space: str
