"""Strong accesses to global memory whose scope leaves out threads that make others to the same
bytes. PTX ISA, memory consistency model, scope and morally strong operations.

Two CTAs of a cluster know what orders them; of blocks see `publications`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, NoneAttr, i64
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects.cute_nvgpu.lattice.data_movement import SCOPES, order_and_scope
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.dialects.cute_nvgpu.ops.sync import OrdersThreads
from tilewright.dialects.gpu import FunctionOp
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.ptx.types import B64
from tilewright.dialects.row_ops import memory_operand
from tilewright.passes.analysis.hazards.effects import Effect, MemoryPlace
from tilewright.passes.analysis.hazards.launches import ClusterLaunch
from tilewright.passes.analysis.hazards.places import element_bits
from tilewright.passes.analysis.hazards.report import Hazard
from tilewright.passes.analysis.hazards.scalars import UNKNOWN, meet, run_from
from tilewright.passes.analysis.hazards.thread_accesses import (
    ELEMENTS,
    ORDERED,
    bytes_of,
    is_strong,
    writes,
)
from tilewright.passes.analysis.hazards.trace import Event
from tilewright.passes.analysis.thread_dependence import reached

_WIDEST = tuple(SCOPES).index("gpu")
_ACCESSES = (*ELEMENTS, *ORDERED, memref.AtomicRMWOp)


class GlobalAccess(NamedTuple):
    """An access of some threads of a CTA: its op, the argument that its address is computed from,
    the bytes, whether it writes, and its scope, from 0 for `cta`; None of a weak one."""

    op: Operation
    root: SSAValue
    bytes: NDArray[np.int64]
    writes: bool
    scope: int | None

    def meets(self, other: "GlobalAccess") -> bool:
        """Some bytes are of both."""
        return self.root is other.root and meet(self.bytes, other.bytes)


def order_of(op: Any) -> tuple[str, int] | None:
    """The order that a fence, or a strong access to global memory, makes, and its scope, from 0 for
    `cta`; None of any other op."""
    if isinstance(op, memref.AtomicRMWOp):
        return "relaxed", _WIDEST
    strong = isinstance(op, ORDERED) and not memory_operand(op).is_shared and is_strong(op)
    if not strong and not isinstance(op, OrdersThreads):
        return None
    word, scope = order_and_scope(op.semantics.data)
    return word, list(SCOPES).index(scope)


def is_narrow(op: Operation) -> bool:
    """Its scope does not have all threads of the GPU."""
    order = order_of(op)
    return order is not None and order[1] < _WIDEST


def orders_others(op: Operation) -> bool:
    """It is a fence, a release or an acquire, or its scope is narrow."""
    return is_narrow(op) or isinstance(op, OrdersThreads) or order_of(op) != ("relaxed", _WIDEST)


def effect_of_global(op: Any) -> Effect | None:
    """The event of an access to global memory, with its place where that is computed from one
    argument, or of a fence between threads; None of any other op."""
    if isinstance(op, OrdersThreads):
        return Effect("global")
    if not isinstance(op, _ACCESSES) or (memory := memory_operand(op)).is_shared:
        return None
    order = order_of(op)
    if (indices := memory.indices) is None:
        values = reached(memory.memory, lambda _: True)
        roots, scale = [root for value in values if (root := _root(value))], 0
    else:
        roots, scale = (
            [memory.memory] if _is_line(memory.memory) else [],
            element_bits(memory.memory) // 8,
        )
    if len(roots) != 1:
        return Effect("global")
    place = MemoryPlace(roots[0], indices or (memory.memory,), offset=memory.offset,
                        writes=writes(op))  # fmt: skip
    return Effect("global", places=(place,), constant=(order and order[1], bytes_of(op), scale),
                  predicate=getattr(op, "predicate", None))  # fmt: skip


def _is_line(memory: SSAValue) -> bool:
    """The elements of a memref that the kernel is given lie one behind the other."""
    type_ = memory.type
    return (
        isinstance(memory, BlockArgument)
        and isinstance(type_, MemRefType)
        and len(type_.get_shape()) == 1
        and isinstance(type_.layout, NoneAttr)
    )


def _root(value: SSAValue) -> SSAValue | None:
    """The argument that a value is an address of, or may be."""
    if isinstance(value.owner, address.AddressOp):
        return value.owner.memref
    if value.type not in (B64, i64) or not isinstance(value, BlockArgument):
        return None
    region, kernel = value.block.parent, value.block.parent_op()
    given = region is not None and value.block is region.blocks[0]
    return value if given and isinstance(kernel, EntryOp | FunctionOp) else None


def access_of(event: Event, lanes: NDArray[Any], launch: ClusterLaunch) -> GlobalAccess | None:
    """The access of some threads at an event; None of a fence, and where its address is not
    known."""
    if not event.accesses:
        return None
    ((place, _, (number,)),) = event.accesses
    if number is UNKNOWN:
        return None
    scope, size, scale = event.constant
    assert isinstance(place.memref, SSAValue)
    number = number * scale + launch.leaf(place.memref) if scale else number
    return GlobalAccess(event.op, place.memref, np.unique(run_from(number, lanes, size)),
                        place.writes, scope)  # fmt: skip


def check_scopes(one: GlobalAccess, other: GlobalAccess, *, wanted: str, where: str) -> None:
    """Raise Hazard where two strong accesses by threads that only a scope as wide as wanted has
    together are to the same bytes."""
    if one.scope is None or other.scope is None or not (one.writes or other.writes):
        return
    narrow, beside = (one, other) if one.scope <= other.scope else (other, one)
    missing = list(SCOPES)[min(one.scope, other.scope)]
    if missing in list(SCOPES)[: list(SCOPES).index(wanted)] and one.meets(other):
        raise Hazard("scope", narrow.op, beside.op, where=where, nearest=wanted, missing=missing)
