"""How the instructions of clusters are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.ptx import cluster
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.lowering.ptx.instructions import bracketed, emits

if TYPE_CHECKING:
    from tilewright.lowering.ptx.text import KernelText


@emits(cluster.RankOp)
def _rank(op: cluster.RankOp, out: KernelText) -> None:
    out.line(f"{op.mnemonic} {out.register(op.result)}, %cluster_ctarank;", op)


@emits(cluster.ArriveOp, cluster.WaitOp)
def _plain(op: PtxOp, out: KernelText) -> None:
    out.line(f"{op.mnemonic};", op)


@emits(cluster.MapaOp)
def _mapa(op: cluster.MapaOp, out: KernelText) -> None:
    operands = out.register(op.result), out.register(op.address), out.operand(op, 1, "u32")
    out.line(f"{op.mnemonic} {', '.join(operands)};", op)


@emits(cluster.MbarrierArriveOp)
def _arrive(op: cluster.MbarrierArriveOp, out: KernelText) -> None:
    address = bracketed(out.register(op.address), op.offset.value.data)
    out.line(f"{op.mnemonic} _, {address};", op)
