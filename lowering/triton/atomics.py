"""Atomic operations, in the order of the program."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.enums import AtomicRMWMode
from tilewright.dialects.cuda_tile.ops.memory import (
    RMW_ELEMENTS,
    AtomicCASTkoOp,
    AtomicRMWTkoOp,
)
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.lowering.triton.memory import load, store
from tilewright.lowering.triton.order import ProgramOrder
from tilewright.passes.cuda_tile.layouts.elements import element_of
from tilewright.source.diagnostic import OpError

_SCOPES = {"gpu": "device", "cta": "tl_blk", "sys": "sys"}
_MODES = {"fadd": "addf", "exch": "xchg"}
"""The names of Tile IR, where they are others."""


@converts(triton.AtomicRMWOp)
def _rmw(op: Any, at: TritonConversion) -> SSAValue:
    mode: str = op.word("atomic_rmw_op")
    mask = None if op.mask is None else at[op.mask]
    return update(at, at[op.ptr], _MODES.get(mode, mode), at[op.val], mask, op.word("sem"),
                  _SCOPES[op.word("scope")])  # fmt: skip


def update(
    at: TritonConversion, pointers: SSAValue, mode: str, value: SSAValue,
    mask: SSAValue | None = None, semantics: str = "relaxed", scope: str = "device",
) -> SSAValue:  # fmt: skip
    """An operation of atomics on memory, behind all accesses so far; what memory in_memory."""
    _check_elements(at, AtomicRMWMode(mode), value)
    token = at.order.before_write(at)
    new = at.insert(AtomicRMWTkoOp(
        pointers, value, value.type, semantics, scope, mode, mask=mask, token=token
    ))  # fmt: skip
    at.order.after_write(new.result_token)
    return new.result


@converts(triton.AtomicCASOp)
def _cas(op: triton.AtomicCASOp, at: TritonConversion) -> SSAValue:
    pointers, compared, value = at.all(op.operands)
    _check_elements(at, AtomicRMWMode.XCHG, value)
    token = at.order.before_write(at)
    new = at.insert(AtomicCASTkoOp(
        pointers, compared, value, value.type, op.word("sem"), _SCOPES[op.word("scope")],
        token=token,
    ))  # fmt: skip
    at.order.after_write(new.result_token)
    return new.result


@converts(triton.AtomicLoadOp)
def _load(op: Any, at: TritonConversion) -> SSAValue:
    """Accesses behind it stay there, as behind a write."""
    at.order = ProgramOrder(at.order.before_write(at))
    mask = None if op.mask is None else at[op.mask]
    loaded = load(at, at[op.ptr], mask, None, op.word("sem"), _SCOPES[op.word("scope")])
    at.order.after_write(*at.order.read)
    return loaded


@converts(triton.AtomicStoreOp)
def _store(op: Any, at: TritonConversion) -> None:
    mask = None if op.mask is None else at[op.mask]
    order = op.word("sem"), _SCOPES[op.word("scope")]
    store(at, at[op.ptr], at[op.val], mask, *order)


def _check_elements(at: TritonConversion, mode: AtomicRMWMode, value: SSAValue) -> None:
    """Raise OpError where Tile IR has no such operation on elements."""
    legal, got = RMW_ELEMENTS.get(mode, ("i32", "i64")), shown(element_of(value))
    if got not in legal:
        raise OpError(
            at.op, f"'{at.op.name}' expected elements {' or '.join(legal)} where the operation is "
            f"{mode}, got {got}; nearest legal: {legal[0]}"
        )  # fmt: skip
