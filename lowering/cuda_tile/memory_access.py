"""Accesses to global memory: the runs of a tile that a thread moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from tilewright.diagnostic import OpError
from tilewright.dialects.cuda_tile.enums import MemoryOrderingSemantics
from tilewright.dialects.cuda_tile.ops.memory import MemoryOp
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.lowering.cuda_tile.kernel import Kernel
from tilewright.lowering.cuda_tile.layouts import TileLayout


@dataclass(frozen=True, slots=True)
class Access:
    """Registers whose elements lie side by side from an address plus some bytes on, and the
    condition under which they are accessed."""

    registers: Sequence[int]
    address: SSAValue
    offset: int
    condition: SSAValue | None


def check_weak(op: MemoryOp) -> None:
    """Raise OpError for an access that others may make at the same time."""
    if op.ordering is not MemoryOrderingSemantics.WEAK:
        raise OpError(
            op,
            f"'{op.name}' {op.ordering.value} has no lowering to cute; nearest legal: weak, or an "
            "atomic operation",
        )


def load(
    accesses: Sequence[Access],
    layout: TileLayout,
    element: Attribute,
    padding: Sequence[SSAValue],
    kernel: Kernel,
) -> list[SSAValue]:
    """The elements that a thread loads; `padding` is what a register is that is not accessed."""
    loaded: dict[int, SSAValue] = {}
    for access in accesses:
        otherwise = [padding[register] for register in access.registers]
        op = address.LoadOp(
            access.address,
            otherwise if access.condition is not None else (),
            [element] * len(access.registers),
            access.offset,
            predicate=access.condition,
        )
        results = kernel.emitter.add(op).results
        loaded.update(zip(access.registers, results, strict=True))
    return [loaded[register] for register in range(layout.count)]


def store(
    accesses: Sequence[Access], layout: TileLayout, elements: Sequence[SSAValue], kernel: Kernel
) -> None:
    """Store the elements of a thread, of threads that hold the same by the first."""
    first = kernel.threads.first_of(layout)
    for access in accesses:
        run = [elements[register] for register in access.registers]
        condition = kernel.both(first, access.condition)
        kernel.emitter.add(address.StoreOp(access.address, run, access.offset, predicate=condition))
