"""How the instructions of tensor memory are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.ptx import tcgen05_access as access
from tilewright.dialects.ptx import tcgen05_memory as memory
from tilewright.dialects.ptx import tcgen05_sync as sync
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.dialects.ptx.tcgen05_mma import Tcgen05MmaOp
from tilewright.dialects.ptx.types import reg
from tilewright.lowering.ptx.instructions import braced, bracketed, emits

if TYPE_CHECKING:
    from xdsl.dialects.builtin import IntegerAttr
    from xdsl.ir import SSAValue

    from tilewright.lowering.ptx.text import KernelText


def _at(base: SSAValue, offset: IntegerAttr, out: KernelText) -> str:
    return bracketed(out.register(base), offset.value.data)


def _half(op: access.AccessOp) -> list[str]:
    return [] if op.half is None else [str(op.half.value.data)]


@emits(memory.AllocOp)
def _alloc(op: memory.AllocOp, out: KernelText) -> None:
    out.line(f"{op.mnemonic} {_at(op.slot, op.offset, out)}, {op.columns.value.data};", op)


@emits(memory.DeallocOp)
def _dealloc(op: memory.DeallocOp, out: KernelText) -> None:
    out.line(f"{op.mnemonic} {out.register(op.address)}, {op.columns.value.data};", op)


@emits(
    memory.RelinquishAllocPermitOp,
    sync.WaitLdOp,
    sync.WaitStOp,
    sync.FenceBeforeThreadSyncOp,
    sync.FenceAfterThreadSyncOp,
)
def _plain(op: PtxOp, out: KernelText) -> None:
    out.line(f"{op.mnemonic};", op)


@emits(access.LdOp)
def _ld(op: access.LdOp, out: KernelText) -> None:
    registers = braced(out.registers.names(op.result))
    operands = [registers, _at(op.address, op.offset, out), *_half(op)]
    out.line(f"{op.mnemonic} {', '.join(operands)};", op)


@emits(access.LdRedOp)
def _ld_red(op: access.LdRedOp, out: KernelText) -> None:
    results = [braced(out.registers.names(op.result)), out.register(op.reduced)]
    operands = [*results, _at(op.address, op.offset, out), *_half(op)]
    out.line(f"{op.mnemonic} {', '.join(operands)};", op)


@emits(access.StOp)
def _st(op: access.StOp, out: KernelText) -> None:
    registers = braced(out.registers.names(op.value))
    operands = [_at(op.address, op.offset, out), *_half(op), registers]
    out.line(f"{op.mnemonic} {', '.join(operands)};", op)


@emits(memory.CpOp)
def _cp(op: memory.CpOp, out: KernelText) -> None:
    target = _at(op.address, op.offset, out)
    out.line(f"{op.mnemonic} {target}, {out.register(op.descriptor)};", op)


@emits(memory.ShiftOp)
def _shift(op: memory.ShiftOp, out: KernelText) -> None:
    out.line(f"{op.mnemonic} {_at(op.address, op.offset, out)};", op)


@emits(sync.CommitOp)
def _commit(op: sync.CommitOp, out: KernelText) -> None:
    mask = "" if op.mask is None else f", {out.register(op.mask)}"
    out.line(f"{op.mnemonic} {_at(op.address, op.offset, out)}{mask};", op)


@emits(Tcgen05MmaOp)
def _mma(op: Tcgen05MmaOp, out: KernelText) -> None:
    a = out.register(op.a)
    operands = [f"[{out.register(op.d)}]", a if op.a.type == reg("b64") else f"[{a}]"]
    operands.append(out.register(op.b))
    if op.metadata is not None:
        operands.append(f"[{out.register(op.metadata)}]")
    known = op.known_idesc
    operands.append(out.register(op.idesc) if known is None else f"{known:#010x}")
    if op.lanes is not None:
        operands.append(braced(out.registers.names(op.lanes)))
    operands += [f"[{out.register(each)}]" for each in (op.sfa, op.sfb) if each is not None]
    if op.enable_input_d is not None:
        operands.append(out.register(op.enable_input_d))
    else:
        operands.append("1" if op.zero is None else "0")
    if op.scale_input_d is not None:
        operands.append(str(op.input_scale))
    if op.zero_column_mask is not None:
        operands.append(out.register(op.zero_column_mask))
    out.line(f"{op.mnemonic} {', '.join(operands)};", op)
