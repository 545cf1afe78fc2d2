"""Kernels of one matrix copy each, for one warp, and their inputs: 32 rows of 16 bytes in shared
memory, and 32-bit words in registers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import MatrixCopy, matrix_copies
from tilewright.dialects.cute_nvgpu.lattice import MOVMATRIX
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.tools.instructions.matrix_copy import ir_form

WARP = 32
ROWS = "memref<32x8xf16>"
TILE = "memref<32x8xf16, #cute<space smem>>"


def copies_of(arch: str) -> list[MatrixCopy]:
    """Every ldmatrix and stmatrix, as we emit them, that the target runs."""
    return [
        copy
        for copy in matrix_copies().values()
        if copy.space and target(arch).supports(copy.row.target)
    ]


def inputs(registers: int) -> tuple[NDArray[np.uint16], NDArray[np.uint32]]:
    """The rows, uint16 [32, 8], and the words of each thread, uint32 [32, registers]."""
    rng = np.random.default_rng(registers)
    rows = rng.integers(0, 1 << 16, (WARP, 8), dtype=np.uint16)
    return rows, rng.integers(0, 1 << 32, (WARP, registers), dtype=np.uint32)


def arguments(copy: MatrixCopy | None) -> list[Any]:
    """What the kernel of a copy takes (None is movmatrix); its result is the last one."""
    registers = 1 if copy is None else copy.registers
    rows, words = inputs(registers)
    if copy is None:
        return [words, np.zeros_like(words)]
    return [rows, words] if copy.row.op == "ldmatrix" else [words, rows]


def result(copy: MatrixCopy | None, outputs: list[Any]) -> NDArray[Any]:
    """What the copy wrote: words of every thread, or the rows that it stores."""
    stores = copy is not None and copy.row.op == "stmatrix"
    return outputs[-1][: copy.runs] if stores else outputs[-1]


def kernel(copy: MatrixCopy | None) -> str:
    """The kernel of a copy; None is movmatrix."""
    if copy is None:
        return _movmatrix()
    held = f"!cute_nvgpu.fragment<{2 * copy.registers}xf16>"
    if copy.row.op == "ldmatrix":
        body = f"""{_rows_to_shared()}
  %f = cute_nvgpu.ldmatrix %s[%t, %c0] {ir_form(copy)} : {TILE} -> {held}
{_words_out(copy.registers, held)}"""
        return _function(f"%rows: {ROWS}, %words: memref<32x{copy.registers}xi32>", body)
    body = f"""  %s = memref.alloc() : {TILE}
{_words_in(copy.registers, held)}
  cute_nvgpu.stmatrix %f, %s[%t, %c0] {ir_form(copy)} : {held}, {TILE}
  cute_nvgpu.bar.warp.sync
  %runs = arith.constant {copy.runs} : index
  %used = arith.cmpi ult, %t, %runs : index
  scf.if %used {{
    scf.for %k = %c0 to %c8 step %c1 {{
      %e = memref.load %s[%t, %k] : {TILE}
      memref.store %e, %rows[%t, %k] : {ROWS}
    }}
  }}"""
    return _function(f"%words: memref<32x{copy.registers}xi32>, %rows: {ROWS}", body)


def _movmatrix() -> str:
    held = f"!cute_nvgpu.fragment<{MOVMATRIX.values}xf16>"
    body = f"""{_words_in(1, held)}
  %g = cute_nvgpu.movmatrix %f : {held} -> {held}
{_words_out(1, held).replace("%f", "%g").replace("%words", "%out")}"""
    return _function("%words: memref<32x1xi32>, %out: memref<32x1xi32>", body)


def _function(parameters: str, body: str) -> str:
    return f"""func.func @copy({parameters}) attributes {{gpu.kernel}} {{
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
{body}
  func.return
}}"""


def _rows_to_shared() -> str:
    return f"""  %s = memref.alloc() : {TILE}
  cute_nvgpu.cp.async %rows[%t, %c0] to %s[%t, %c0] size 16 cache cg : {ROWS} to {TILE}
  cute_nvgpu.cp.async.commit_group
  cute_nvgpu.cp.async.wait_group 0
  cute_nvgpu.bar.warp.sync"""


def _words_in(count: int, held: str) -> str:
    memref, words = f"memref<32x{count}xi32>", f"!cute_nvgpu.fragment<{count}xi32>"
    loads = [f"  %w{i} = memref.load %words[%t, %c{i}] : {memref}" for i in range(count)]
    names = ", ".join(f"%w{i}" for i in range(count))
    types = ", ".join(["i32"] * count)
    return "\n".join(
        [
            *loads,
            f"  %w = cute_nvgpu.fragment.from_elements {names} : {types} -> {words}",
            f"  %f = cute_nvgpu.fragment.cast %w : {words} -> {held}",
        ]
    )


def _words_out(count: int, held: str) -> str:
    memref, words = f"memref<32x{count}xi32>", f"!cute_nvgpu.fragment<{count}xi32>"
    lines = [f"  %d = cute_nvgpu.fragment.cast %f : {held} -> {words}"]
    for i in range(count):
        lines.append(f"  %d{i} = cute_nvgpu.fragment.extract %d[{i}] : {words} -> i32")
        lines.append(f"  memref.store %d{i}, %words[%t, %c{i}] : {memref}")
    return "\n".join(lines)
