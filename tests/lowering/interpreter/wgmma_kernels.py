"""Kernels of one warpgroup that copy matrices to shared memory and multiply them with wgmma."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

THREADS = 128
SYNC = '  cute_nvgpu.fence.proxy.async\n  "gpu.barrier"() : () -> ()\n'


@dataclass(frozen=True)
class Tile:
    """A matrix in shared memory: the memref's shape, layout and element type, its modes (mn, k)."""

    name: str
    shape: tuple[int, int]
    layout: str
    element: str
    modes: tuple[int, int] = (0, 1)

    @property
    def memref(self) -> str:
        kind = "composed_layout" if "o" in self.layout else "layout"
        shape = "x".join(map(str, self.shape))
        return f'memref<{shape}x{self.element}, !cute.{kind}<"{self.layout}">, 3>'

    def alloc(self) -> str:
        return f"  %{self.name} = memref.alloc() : {self.memref}\n"

    def fill(self) -> str:
        """Copy it from the argument %g<name>, row by row of the memref."""
        rows, columns = self.shape
        name, memref = self.name, self.memref
        return f"""
  %{name}n = arith.constant {rows * columns} : index
  %{name}w = arith.constant {columns} : index
  scf.for %i = %t to %{name}n step %c128 {{
    %r = arith.divui %i, %{name}w : index
    %c = arith.remui %i, %{name}w : index
    %v = memref.load %g{name}[%i] : memref<?x{self.element}>
    memref.store %v, %{name}[%r, %c] : {memref}
  }}
"""

    def desc(self, result: str, view: str, mn: str, k: str) -> str:
        indices = f"{mn}, {k}" if self.modes == (0, 1) else f"{k}, {mn}"
        modes = "" if self.modes == (0, 1) else " modes [1, 0]"
        return (
            f"  %{result} = cute_nvgpu.make_smem_desc %{self.name}[{indices}]{modes} : "
            f"{self.memref} -> {view}\n"
        )


@dataclass(frozen=True)
class Line(Tile):
    """A K-major matrix whose rows lie one after the other in a line of shared memory."""

    @property
    def memref(self) -> str:
        rows, columns = self.shape
        size, swizzle = rows * columns, self.layout.split(" ")[0]
        layout = f'!cute.composed_layout<"{swizzle} o 0 o {size}:1">'
        return f"memref<{size}x{self.element}, {layout}, 3>"

    def fill(self) -> str:
        return super().fill().replace(f"%{self.name}[%r, %c]", f"%{self.name}[%i]")

    def desc(self, result: str, view: str, mn: str, k: str) -> str:
        assert mn == "%c0"
        line = f"make_smem_desc %{self.name}[{k}] : {self.memref}"
        return f"  %{result} = cute_nvgpu.{line} -> {view}\n"


@dataclass(frozen=True)
class Case:
    """One kind of matrices; `types` are those of the atom."""

    name: str
    types: tuple[str, str, str]
    n: int
    k: int
    a: Tile
    b: Tile
    a_view: str
    b_view: str
    majors: tuple[str, str] = ("k", "k")
    a_fragment: bool = False
    steps: int = 4

    @property
    def accumulator(self) -> str:
        return self.types[2]

    @property
    def atom(self) -> str:
        kind = "rs" if self.a_fragment else "ss"
        return (
            f"<64x{self.n}x{self.k}, elem_type = ({', '.join(self.types)}), "
            f"ab_major = ({', '.join(self.majors)}), frag_kind = {kind}>"
        )

    @property
    def values(self) -> int:
        return self.n // 2

    @property
    def c_type(self) -> str:
        return f"!cute_nvgpu.fragment<{self.values}x{self.types[2]}>"

    @property
    def a_type(self) -> str:
        count = 64 * self.k // THREADS
        return f"!cute_nvgpu.fragment<{count}x{self.types[0]}>" if self.a_fragment else self.a_view


_MN64 = "S<3,3,3> o 0 o (64,64):(64,1)"
_MN128 = "S<3,3,3> o 0 o (64,(64,2)):(64,(1,4096))"


def view(rows: int, columns: int, element: str, layout: str) -> str:
    return f'!cute_nvgpu.smem_desc_view<{rows}x{columns}x{element}, "{layout}">'


def k_major(element: str, n: int, k: int, bits: int, held: str | None = None) -> Case:
    """Both matrices K-major under the 128-byte swizzle, four steps of K."""
    per_row, base = 1024 // bits, {8: 4, 16: 3, 32: 2}[bits]
    layout = f"S<3,{base},3> o 0 o ({{}},{{}}):({per_row},1)"
    tiles = [
        Tile(name, (rows, per_row), layout.format(rows, per_row), held or element)
        for name, rows in (("a", 64), ("b", n))
    ]
    views = [view(rows, k, element, layout.format(rows, k)) for rows in (64, n)]
    accumulator = "i32" if bits == 8 else "f32"
    case = Case("", (element, element, accumulator), n, k, tiles[0], tiles[1], *views)
    return replace(case, name=f"{element}-k-k")


def in_lines(case: Case) -> Case:
    """The same matrices in lines of shared memory."""
    a, b = (Line(each.name, each.shape, each.layout, each.element) for each in (case.a, case.b))
    return replace(case, name=f"{case.name}-lines", a=a, b=b)


BF16 = k_major("bf16", 128, 16, 16)
MN_A = Tile("a", (64, 64), _MN64, "bf16", (1, 0))
MN_B = Tile("b", (64, 128), _MN128, "bf16", (1, 0))
MN_A_VIEW = view(64, 16, "bf16", "S<3,3,3> o 0 o (64,16):(1,64)")
MN_B_VIEW = view(128, 16, "bf16", "S<3,3,3> o 0 o ((64,2),16):((1,4096),64)")
CASES = (
    BF16,
    replace(BF16, name="bf16-k-mn", b=MN_B, b_view=MN_B_VIEW, majors=("k", "mn")),
    replace(BF16, name="bf16-mn-mn", a=MN_A, a_view=MN_A_VIEW, b=MN_B, b_view=MN_B_VIEW,
            majors=("mn", "mn")),
    replace(BF16, name="bf16-registers", a_fragment=True),
    k_major("f16", 64, 16, 16),
    k_major("tf32", 32, 8, 32, "f32"),
    k_major("si8", 16, 32, 8, "i8"),
    in_lines(BF16),
    in_lines(k_major("si8", 16, 32, 8, "i8")),
)  # fmt: skip


def head(case: Case, attributes: str = "") -> str:
    held = case.a.element
    return f"""
func.func @k(%ga: memref<?x{held}>, %gb: memref<?x{held}>, %out: memref<?x{case.accumulator}>)
    attributes {{gpu.kernel{attributes}}} {{
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant {"0.0 : f32" if case.accumulator == "f32" else "0 : i32"}
  %yes = arith.constant true
{case.a.alloc()}{case.b.alloc()}"""


def store_result(case: Case, result: str) -> str:
    """Every thread's values, one after the other: out[thread * values + value]."""
    lines = [
        f"  %w = arith.constant {case.values} : index",
        "  %base = arith.muli %t, %w : index",
    ]
    for value in range(case.values):
        lines += [
            f"  %x{value} = cute_nvgpu.fragment.extract {result}[{value}] : {case.c_type} -> "
            f"{case.accumulator}",
            f"  %o{value} = arith.constant {value} : index",
            f"  %q{value} = arith.addi %base, %o{value} : index",
            f"  memref.store %x{value}, %out[%q{value}] : memref<?x{case.accumulator}>",
        ]
    return "\n".join(lines) + "\n"


def load_fragment(case: Case, step: int) -> str:
    """A of one step: the argument %ga is [steps, threads, values] then."""
    count = 64 * case.k // THREADS
    lines = [
        f"  %fw{step} = arith.constant {count} : index",
        f"  %fs{step} = arith.constant {step * THREADS * count} : index",
        f"  %ft{step} = arith.muli %t, %fw{step} : index",
        f"  %fb{step} = arith.addi %ft{step}, %fs{step} : index",
    ]
    for value in range(count):
        lines += [
            f"  %fo{step}_{value} = arith.constant {value} : index",
            f"  %fi{step}_{value} = arith.addi %fb{step}, %fo{step}_{value} : index",
            f"  %fv{step}_{value} = memref.load %ga[%fi{step}_{value}] : memref<?xbf16>",
        ]
    parts = ", ".join(f"%fv{step}_{value}" for value in range(count))
    lines.append(
        f"  %a{step} = cute_nvgpu.fragment.from_elements {parts} : "
        f"{', '.join(['bf16'] * count)} -> {case.a_type}"
    )
    return "\n".join(lines) + "\n"


def mma(case: Case, step: int, c: str, d: str, mark: str = "") -> str:
    return (
        f"  {d} = cute_nvgpu.sm90.mma %a{step}, %b{step}, {c} {case.atom} : "
        f"({case.a_type}, {case.b_view}, {case.c_type}) -> {case.c_type} {mark}\n"
    )


def descriptors(case: Case, step: int) -> str:
    k = f"  %k{step} = arith.constant {step * case.k} : index\n"
    a = load_fragment(case, step) if case.a_fragment else case.a.desc(
        f"a{step}", case.a_view, "%c0", f"%k{step}")  # fmt: skip
    return k + a + case.b.desc(f"b{step}", case.b_view, "%c0", f"%k{step}")


def splat(case: Case) -> str:
    scalar = case.accumulator
    return f"  %d_0 = cute_nvgpu.fragment.splat %zero : {scalar} -> {case.c_type}\n"


def product_kernel(case: Case, *, ordered: bool = True) -> str:
    """D = A * B over all steps; with `ordered` as a person would order it, otherwise bare."""
    fill = ("" if case.a_fragment else case.a.fill()) + case.b.fill()
    sync = SYNC if ordered else SYNC.split("\n", 1)[1]
    chain = "".join(mma(case, step, f"%d_{step}", f"%d_{step + 1}") for step in range(case.steps))
    before, after = (
        ("  cute_nvgpu.wgmma.fence\n",
         "  cute_nvgpu.wgmma.commit_group\n  cute_nvgpu.wgmma.wait_group 0\n")
        if ordered
        else ("", "")
    )  # fmt: skip
    made = "".join(descriptors(case, step) for step in range(case.steps))
    return (
        head(case) + fill + sync + splat(case) + made + before + chain + after
        + store_result(case, f"%d_{case.steps}") + "  func.return\n}\n"
    )  # fmt: skip


def as_stored(tile: Tile, matrix: NDArray[Any]) -> NDArray[Any]:
    """A matrix [mn, k] as the memref's rows hold it."""
    return np.ascontiguousarray(matrix if tile.modes == (0, 1) else matrix.T)
