"""Strong accesses to global memory whose scope leaves out threads that make others to the same
bytes. PTX ISA, memory consistency model, scope and morally strong operations.

Two CTAs of a cluster know what orders them. Two blocks of a grid may run at the same time, so that
nothing does: a kernel that asks for its block is meant for more than one, unless it is one of
clusters, of which it may be meant for one.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import i64
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects.cute_nvgpu.lattice.data_movement import SCOPES
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.ptx.types import reg
from tilewright.dialects.row_ops import memory_operand
from tilewright.passes.analysis.hazards.effects import Effect, MemoryPlace
from tilewright.passes.analysis.hazards.launches import register_of
from tilewright.passes.analysis.hazards.report import Hazard
from tilewright.passes.analysis.hazards.scalars import UNKNOWN, run_from
from tilewright.passes.analysis.hazards.thread_accesses import (
    ORDERED,
    bytes_of,
    is_strong,
    writes,
)
from tilewright.passes.analysis.hazards.trace import Event, Trace
from tilewright.passes.analysis.thread_dependence import reached

_WIDEST = tuple(SCOPES).index("gpu")
_BLOCKS = ("gpu.block_id", "gpu.grid_dim")


class StrongAccess(NamedTuple):
    """An access of some threads of a CTA: its op, the argument that its address is computed from,
    the bytes, whether it writes, and its scope, from 0 for `cta`."""

    op: Operation
    root: SSAValue
    bytes: NDArray[np.int64]
    writes: bool
    scope: int


def scope_of(op: Any) -> int | None:
    """The scope of a strong access to global memory, from 0 for `cta`; None of any other op."""
    if not isinstance(op, ORDERED) or memory_operand(op).is_shared or not is_strong(op):
        return None
    return list(SCOPES).index(op.semantics.data.rpartition(".")[2])


def is_narrow(op: Operation) -> bool:
    """Its scope does not have all threads of the GPU."""
    scope = scope_of(op)
    return scope is not None and scope < _WIDEST


def effect_of_strong(op: Any) -> Effect | None:
    """The event of a strong access, where its address is computed from one argument."""
    roots = [root for value in reached(op.address, lambda _: True) if (root := _root(value))]
    if len(roots) != 1:
        return None
    place = MemoryPlace(roots[0], (op.address,), offset=op.offset.value.data, writes=writes(op))
    return Effect("strong", places=(place,), constant=(scope_of(op), bytes_of(op)),
                  predicate=op.predicate)  # fmt: skip


def _root(value: SSAValue) -> SSAValue | None:
    """The argument that a value is an address of, or may be."""
    if isinstance(value.owner, address.AddressOp):
        return value.owner.memref
    if value.type not in (reg("b64"), i64) or not isinstance(value, BlockArgument):
        return None
    region, kernel = value.block.parent, value.block.parent_op()
    given = region is not None and value.block is region.blocks[0]
    return value if given and isinstance(kernel, EntryOp | func.FuncOp | gpu.FuncOp) else None


def asks_for_its_block(function: Operation) -> bool:
    """A kernel uses the number of its block, or how many there are."""
    return any(
        (register := register_of(op)) is not None
        and register[0] in _BLOCKS
        and op.results[0].first_use is not None
        for op in function.walk()
    )


def access_of(event: Event, lanes: NDArray[Any]) -> StrongAccess | None:
    """The access of some threads at an event; None where its address is not known."""
    ((place, _, (number,)),) = event.accesses
    if number is UNKNOWN:
        return None
    scope, size = event.constant
    assert isinstance(place.memref, SSAValue)
    return StrongAccess(event.op, place.memref, np.unique(run_from(number, lanes, size)),
                        place.writes, scope)  # fmt: skip


def accesses_of(trace: Trace) -> list[StrongAccess]:
    """The strong accesses of a launch."""
    accesses = (
        access_of(event, np.flatnonzero(event.mask.flags))
        for event in trace.events if event.kind == "strong"
    )  # fmt: skip
    return [access for access in accesses if access is not None]


def check_scopes(one: StrongAccess, other: StrongAccess, *, wanted: str, where: str) -> None:
    """Raise Hazard where two accesses by threads that only a scope as wide as wanted has together
    are to the same bytes."""
    narrow = min((one, other), key=lambda access: access.scope)
    if narrow.scope >= list(SCOPES).index(wanted) or not (one.writes or other.writes):
        return
    if one.root is other.root and np.isin(one.bytes, other.bytes).any():
        beside = one if narrow is other else other
        raise Hazard("scope", narrow.op, beside.op, where=where, nearest=wanted,
                     missing=list(SCOPES)[narrow.scope])  # fmt: skip


def check_blocks(blocks: Iterable[tuple[str, list[StrongAccess]]]) -> None:
    """Raise Hazard where two blocks access the same bytes and a scope leaves one of them out."""
    before: list[tuple[str, StrongAccess]] = []
    for block, accesses in blocks:
        for access in accesses:
            for other, earlier in before:
                where = f"in blocks {other} and {block}"
                check_scopes(earlier, access, wanted="gpu", where=where)
        before += ((block, access) for access in accesses)
