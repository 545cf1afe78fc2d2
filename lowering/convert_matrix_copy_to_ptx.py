"""ldmatrix, stmatrix and movmatrix of `cute_nvgpu` to `ptx`."""

from __future__ import annotations

from tilewright.dialects.cute_nvgpu.ops import matrix_copy
from tilewright.dialects.ptx.matrix_copy import LdmatrixOp, MovmatrixOp, StmatrixOp
from tilewright.lowering.conversion import Conversion, lowers
from tilewright.lowering.convert_memref_to_ptx import locate


@lowers(matrix_copy.LdmatrixOp)
def _ldmatrix(op: matrix_copy.LdmatrixOp, to: Conversion) -> None:
    address, offset = locate(op, to.tile(op.source), op.indices, to)
    to[op.fragment] = to.emit(LdmatrixOp(address, op.matrix_copy, offset))


@lowers(matrix_copy.StmatrixOp)
def _stmatrix(op: matrix_copy.StmatrixOp, to: Conversion) -> None:
    address, offset = locate(op, to.tile(op.dest), op.indices, to)
    to.add(StmatrixOp(address, to[op.fragment], op.matrix_copy, offset))


@lowers(matrix_copy.MovmatrixOp)
def _movmatrix(op: matrix_copy.MovmatrixOp, to: Conversion) -> None:
    to[op.result] = to.emit(MovmatrixOp(to[op.fragment]))
