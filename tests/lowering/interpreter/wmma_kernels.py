"""Kernels that load the matrices of a wmma, multiply and store them; their memory in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from fragment_kernels import LANE, fragment

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wmma import WmmaAccess, find_access
from tilewright.dialects.cute_nvgpu.lattice.row import MatrixOperand

OPERANDS: tuple[MatrixOperand, ...] = ("A", "B", "C", "D")
ITEMS = {"tf32": "f32", "s8": "si8", "u8": "ui8", "s4": "i8", "u4": "i8", "b1": "i32", "s32": "i32"}
"""What a memref is made of, where that is not the element type."""
FLOATS: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32,
                          "f32": np.float32, "f64": np.float64}  # fmt: skip


@dataclass(frozen=True)
class Matrix:
    """An operand in memory: `stride` elements from one row (column) to the next, of which the
    first `before` of each and of all are of other matrices."""

    access: WmmaAccess
    before: int
    stride: int

    @property
    def item(self) -> str:
        """The element type of its memref."""
        name = self.access.element.name
        return ITEMS.get(name, name)

    @property
    def several(self) -> int:
        """How many elements an element of the memref holds."""
        bits = {"i8": 8, "i32": 32}.get(self.item, self.access.element.bits)
        return bits // self.access.element.bits

    @property
    def extents(self) -> tuple[int, int]:
        """Rows and columns of its memref, of which the matrix is the last corner."""
        rows, columns = self.access.row.extents
        gap = self.before // self.several
        if self.access.major == "row":
            return rows + 1, columns // self.several + gap
        return rows // self.several + gap, columns + 1

    @property
    def strides(self) -> tuple[int, int]:
        """The strides of its memref."""
        step = self.stride // self.several
        return (step, 1) if self.access.major == "row" else (1, step)

    @property
    def type_(self) -> str:
        """Its memref."""
        rows, columns = self.extents
        return f"memref<{rows}x{columns}x{self.item}, strided<{list(self.strides)}>>"

    def view(self, name: str) -> str:
        """`%pA`, the memref, of `%qA`, the argument."""
        return (
            f"%p{name} = memref.reinterpret_cast %q{name} to offset: [0], "
            f"sizes: {list(self.extents)}, strides: {list(self.strides)} : "
            f"memref<?x{self.item}> to {self.type_}"
        )

    @property
    def indices(self) -> tuple[int, int]:
        """Where in the memref it begins."""
        gap = self.before // self.several
        return (1, gap) if self.access.major == "row" else (gap, 1)

    def memory(self, values: np.ndarray) -> np.ndarray:
        """The memory that holds values [rows, columns], bytes around it 0x5A: unsigned integers of
        the size of its items."""
        lines, length = self.access.lines
        raw = np.full((lines + 1, self.stride * self.access.element.bits // 8), 0x5A, np.uint8)
        turned = values if self.access.major == "row" else values.T
        raw[1:, self._bytes(length)] = packed(turned, self.access.element.name)
        return raw.ravel().view(f"uint{self.several * self.access.element.bits}")

    def _bytes(self, length: int) -> slice:
        bits = self.access.element.bits
        return slice(self.before * bits // 8, (self.before + length) * bits // 8)


def matrix_of(atom: MmaAtom, operand: MatrixOperand, major: str | None = None) -> Matrix:
    """An operand as it lies in memory: A and B in the atom's layouts."""
    place = "AB".find(operand)
    major = atom.majors[place] if place >= 0 else major or "row"
    op = "wmma.store" if operand == "D" else "wmma.load"
    access = find_access(op, operand.lower(), atom.shape, atom.element(operand).name, major)
    unit = access.alignment("shared") * 8 // access.element.bits
    return Matrix(access, unit, access.lines[1] + 2 * unit)


def packed(values: np.ndarray, element: str) -> np.ndarray:
    """The bytes of elements along the last axis, low bits first: uint8 [..., bytes]."""
    if element in FLOATS:
        return np.ascontiguousarray(values.astype(FLOATS[element])).view(np.uint8)
    if element == "s32":
        return np.ascontiguousarray(values.astype(np.int32)).view(np.uint8)
    bits = int(element[1:])
    masked = (values & ((1 << bits) - 1)).astype(np.uint8)
    each = np.unpackbits(masked[..., None], axis=-1, bitorder="little")[..., :bits]
    return np.packbits(each.reshape(*values.shape[:-1], -1), axis=-1, bitorder="little")


def access_line(matrix: Matrix, name: str, held: str = "") -> str:
    """`%A = cute_nvgpu.wmma.load %pA[...] ...`, or the store of `held`."""
    access, (i, j) = matrix.access, matrix.indices
    type_ = fragment(access.row.values, access.element.mlir)
    place = f"%p{name}[%c{i}, %c{j}] <{access.parameters}>"
    if access.op == "wmma.load":
        return f"%{name} = cute_nvgpu.{access.op} {place} : {matrix.type_} -> {type_}"
    return f"cute_nvgpu.{access.op} {held}, {place} : {type_}, {matrix.type_}"


def product_kernel(atom: MmaAtom, matrices: dict[str, Matrix]) -> str:
    """D = A * B + C, all of them in memory."""
    a, b, c, d = (fragment(atom.values(each), atom.element(each).mlir) for each in OPERANDS)
    places = sorted({place for each in matrices.values() for place in each.indices})
    lines = [
        *(f"%c{place} = arith.constant {place} : index" for place in places),
        *(matrices[name].view(name) for name in OPERANDS),
        *(access_line(matrices[name], name) for name in "ABC"),
        f"%D = cute_nvgpu.wmma.mma %A, %B, %C <{atom.parameters}> : ({a}, {b}, {c}) -> {d}",
        access_line(matrices["D"], "D", "%D"),
    ]
    arguments = ", ".join(f"%q{name}: memref<?x{matrices[name].item}>" for name in OPERANDS)
    return (
        f"func.func @k({arguments}) attributes {{gpu.kernel}} {{\n{LANE}  "
        + "\n  ".join(lines)
        + "\n  func.return\n}"
    )
