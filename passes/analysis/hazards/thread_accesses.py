"""Accesses of threads themselves: loads, stores and atomic operations, at an element of a memref or
at an address."""

from typing import Any

from xdsl.dialects import memref

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import CHUNK
from tilewright.dialects.cute_nvgpu.lattice.atomics import registers_of
from tilewright.dialects.cute_nvgpu.lattice.data_movement import CLUSTER_SPACE, WEAK
from tilewright.dialects.cute_nvgpu.ops import address, fragment_memory, matrix_copy
from tilewright.dialects.ptx import atomics, data_movement
from tilewright.dialects.ptx import matrix_copy as ptx_matrix_copy
from tilewright.dialects.ptx.types import KINDS
from tilewright.dialects.row_ops import memory_operand
from tilewright.passes.analysis.hazards.effects import Effect
from tilewright.passes.analysis.hazards.places import element_bits, place_of

ELEMENTS = (memref.LoadOp, memref.StoreOp, fragment_memory.LoadOp, fragment_memory.StoreOp)
"""Plain accesses to elements of memrefs."""

ORDERED: tuple[type[Any], ...] = (
    address.LoadOp, address.StoreOp, address.AtomicOp, address.ReduceOp, data_movement.LdOp,
    data_movement.StOp, atomics.AtomOp, atomics.RedOp,
)  # fmt: skip
"""Ops that have semantics, and so a scope, where they are strong."""

MATRICES = (
    matrix_copy.LdmatrixOp, matrix_copy.StmatrixOp, address.LdmatrixOp,
    ptx_matrix_copy.LdmatrixOp, ptx_matrix_copy.StmatrixOp,
)  # fmt: skip
"""Accesses of whole warps to rows of matrices, which some of their threads name."""

_LOADS = (
    memref.LoadOp, fragment_memory.LoadOp, matrix_copy.LdmatrixOp, address.LoadOp,
    address.LdmatrixOp, data_movement.LdOp, ptx_matrix_copy.LdmatrixOp,
)  # fmt: skip


def access_of(op: Any) -> Effect | None:
    """The access of threads to shared memory that an op is."""
    memory, words = memory_operand(op), (data_movement.LdOp, data_movement.StOp)
    if not memory.is_shared:
        return None
    far = memory.space is Space.DSMEM or (isinstance(op, words) and op.space.data == CLUSTER_SPACE)
    place = place_of(op, bytes_of(op), writes=writes(op), atomic=is_strong(op), of_cluster=far)
    runs = op.matrix_copy.runs if isinstance(op, MATRICES) else None
    return Effect("access", places=(place,), constant=runs,
                  predicate=getattr(op, "predicate", None))  # fmt: skip


def writes(op: Any) -> bool:
    """It writes to memory."""
    return not isinstance(op, _LOADS)


def reads(op: Any) -> bool:
    """It reads memory, and gives what was there."""
    return not writes(op) or bool(op.results)


def is_strong(op: Any) -> bool:
    """It is atomic, or ordered with others that are strong."""
    return isinstance(op, memref.AtomicRMWOp) or (
        isinstance(op, ORDERED) and op.semantics.data != WEAK
    )


def bytes_of(op: Any) -> int:
    """The bytes that a thread accesses."""
    match op:
        case memref.LoadOp() | memref.StoreOp() | memref.AtomicRMWOp():
            return max(element_bits(op.memref) // 8, 1)
        case fragment_memory.LoadOp() | fragment_memory.StoreOp():
            return fragment_memory.fragment_bytes(op.fragment.type)
        case data_movement.LdOp() | data_movement.StOp():
            return op.access_bytes * op.data.type.count.data
        case address.LoadOp() | address.StoreOp() | address.ReduceOp():
            return sum(address.bytes_of(value.type) for value in op.elements)
        case address.AtomicOp():
            return address.bytes_of(op.result.type)
        case atomics.AtomOp() | atomics.RedOp():
            kind, count = registers_of(op.form.data)
            return count * KINDS[kind] // 8
        case _:
            return CHUNK
