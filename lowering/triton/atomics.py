"""Atomic operations, in the order of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue

from tilewright.dialects import triton
from tilewright.dialects.accepts import one_of
from tilewright.dialects.cuda_tile.enums import AtomicRMWMode
from tilewright.dialects.cuda_tile.ops.memory import (
    WIDER,
    AtomicCASTkoOp,
    AtomicRMWTkoOp,
    legal_elements,
)
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.lowering.triton.memory import load, store
from tilewright.lowering.triton.order import ProgramOrder
from tilewright.passes.cuda_tile.layouts.elements import element_of
from tilewright.source.diagnostic import OpError

SCOPES = {"gpu": "device", "cta": "tl_blk", "sys": "sys"}
_MODES = {"fadd": "addf", "exch": "xchg"}
"""The names of Tile IR, where they are others."""


@converts(triton.AtomicRMWOp)
def _rmw(op: Any, at: TritonConversion) -> SSAValue:
    mode: str = op.word("atomic_rmw_op")
    mask = at.given(op.mask)
    return update(at, at[op.ptr], _MODES.get(mode, mode), at[op.val], mask, op.word("sem"),
                  SCOPES[op.word("scope")])  # fmt: skip


def update(
    at: TritonConversion, pointers: SSAValue, mode: str, value: SSAValue,
    mask: SSAValue | None = None, semantics: str = "relaxed", scope: str = "device",
) -> SSAValue:  # fmt: skip
    """An operation of atomics on memory, behind all accesses so far; what memory had."""
    return _ordered(at, mode, value, lambda token: AtomicRMWTkoOp(
        pointers, value, value.type, semantics, scope, mode, mask=mask, token=token
    ))  # fmt: skip


@converts
def _cas(op: triton.AtomicCASOp, at: TritonConversion) -> SSAValue:
    pointers, compared, value = at.all(op.operands)
    return _ordered(at, "xchg", value, lambda token: AtomicCASTkoOp(
        pointers, compared, value, value.type, op.word("sem"), SCOPES[op.word("scope")],
        token=token,
    ))  # fmt: skip


def _ordered(
    at: TritonConversion, mode: str, value: SSAValue,
    make: Callable[[SSAValue | None], AtomicRMWTkoOp | AtomicCASTkoOp],
) -> SSAValue:  # fmt: skip
    """An op in the order of the program. Raises OpError where the chip has no such operation on
    the elements of a value; those that Tile IR lacks are marked."""
    if mode not in list(AtomicRMWMode):
        raise OpError(
            at.op, f"'{at.op.name}' expected {one_of(list(AtomicRMWMode))}, got {mode}; nearest "
            f"legal: {AtomicRMWMode.ADD}"
        )  # fmt: skip
    tiles, chip = (legal_elements(AtomicRMWMode(mode), wider=wider) for wider in (False, True))
    if (got := shown(element_of(value))) not in chip:
        raise OpError(
            at.op, f"'{at.op.name}' expected elements {one_of(chip)} where the operation is "
            f"{mode}, got {got}; nearest legal: {chip[0]}"
        )  # fmt: skip
    new = at.insert(make(at.order.before_write(at)))
    if got not in tiles:
        new.attributes[WIDER] = UnitAttr()
    at.order.after_write(new.result_token)
    return new.result


@converts(triton.AtomicLoadOp)
def _load(op: Any, at: TritonConversion) -> SSAValue:
    """Accesses behind it stay there, as behind a write."""
    at.order = ProgramOrder(at.order.before_write(at))
    mask = at.given(op.mask)
    loaded = load(at, at[op.ptr], mask, None, op.word("sem"), SCOPES[op.word("scope")])
    at.order.after_write(*at.order.read)
    return loaded


@converts(triton.AtomicStoreOp)
def _store(op: Any, at: TritonConversion) -> None:
    mask = at.given(op.mask)
    order = op.word("sem"), SCOPES[op.word("scope")]
    store(at, at[op.ptr], at[op.val], mask, *order)
