"""`memref.atomic_rmw` to `ptx.atom`."""

from __future__ import annotations

from xdsl.dialects import memref

from tilewright.diagnostic import OpError
from tilewright.dialects.cute_nvgpu.lattice.atomics import ATOMICS, form_of
from tilewright.dialects.ptx.atomics import AtomOp
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_memref import check_space, locate


@lowers(memref.AtomicRMWOp)
def _atomic(op: memref.AtomicRMWOp, to: Conversion) -> None:
    check_space(op, op.memref.type)
    form = form_of(op.kind.value.data, str(op.value.type))
    if form not in ATOMICS:
        raise OpError(op, f"'{op.name}' expected {LEGAL}, got kind {op.kind.value.data} of "
                      f"{op.value.type}")  # fmt: skip
    tile = to.tile(op.memref)
    address, offset = locate(op, tile, op.indices, to)
    to[op.result] = to.emit(AtomOp(tile.ptx_space, form, address, [to[op.value]], offset))


LEGAL = "addf (0) of f32 or f64, or addi (1), assign (2), maxs (4), maxu (5), mins (7), minu (8), \
ori (11), andi (12) or xori (15) of i32 or i64"
