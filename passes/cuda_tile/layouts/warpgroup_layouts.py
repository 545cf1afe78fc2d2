"""How the warpgroups of a CTA share a matrix multiplication by `wgmma`.

A warpgroup multiplies 64 rows by up to 256 columns at once. Warpgroups lie along M as far as it
goes, so that each reads A once, then along N; what is left over is registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops.core import ConstantOp
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaFScaledOp, MmaIOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import find_wgmma
from tilewright.dialects.cute_nvgpu.lattice.targets import Target, target
from tilewright.dialects.frozen import frozen
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, log2
from tilewright.passes.cuda_tile.layouts.mma_layouts import (
    PTX_NAMES,
    AsyncLayouts,
    Bit,
    Multiplication,
    extents_along,
    product_types,
)
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    bytes_of_name,
    in_tensor_memory,
)

WARPGROUP_BITS = 7
_QUAD_BITS = 2
"""The bits of a lane's number among the lanes that have a row of a fragment."""
_ROWS, _COLUMNS, _MOST_COLUMNS, _DEPTH = 64, 8, 256, 32
"""The rows, the fewest and the most columns of a wgmma, and the bytes of K."""
_ADDED_COLUMNS, ADDED_DEPTH = 128, 128
"""The columns that are multiplied at once, and how much of K, where sums are added in f32."""
_TARGET = target("sm_90a")


TRANSPOSED = "cute.transposed"
"""The attribute of multiplications whose result is computed as C' = B' A': B' comes through
registers, where any order is as good."""

PERMUTED = "cute.permuted"
"""The attribute of multiplications whose columns are those of A of 8 bits of another one: in an
order in which each lane computes what it multiplies there."""


def operands_of(op: Multiplication) -> dict[str, SSAValue]:
    """A and B of the MMAs."""
    names = "BA" if TRANSPOSED in op.attributes else "AB"
    return dict(zip(names, op.operands[:2], strict=True))


@frozen
class WarpgroupLayouts(AsyncLayouts):
    """The layouts of the operands of a multiplication by warpgroups."""

    @property
    def units(self) -> list[Bit | None]:
        """The bit that each bit of the warpgroup's number is."""
        left = {mode: log2(self.extents[mode] // size) for mode, size in zip(
            "mn", self.atom.shape[:2], strict=True
        )}  # fmt: skip
        bits: list[Bit | None] = []
        for _ in range(self.thread_bits - WARPGROUP_BITS):
            mode = next((mode for mode in "mn" if left[mode]), None)
            if mode is None:
                bits.append(None)
                continue
            bits.append((mode, log2(self.extents[mode]) - left[mode]))
            left[mode] -= 1
        return bits

    @property
    def is_added_once(self) -> bool:
        """True of a product that, where sums are added in f32, is one fragment, added once."""
        return len(self.fragments("C")) == 1 and self.extents["k"] <= ADDED_DEPTH

    def takes(self, layout: TileLayout) -> bool:
        """True of a layout in which A is taken from registers: the lanes that have its rows have
        all they need of them, or, where warpgroups would wait for each other in front of shared
        memory, four that have a row exchange words of it."""
        own = self.layout("A")
        rows = own.threads[_QUAD_BITS:] if self.thread_bits > WARPGROUP_BITS else None
        near = layout.threads == own.threads or layout.threads[_QUAD_BITS:] == rows
        return near and None not in layout.threads[:WARPGROUP_BITS]


@dataclass(frozen=True)
class TransposedLayouts(WarpgroupLayouts):
    """Those of one whose A is the transpose of what it multiplies by, as rows of N lie, through the
    widest swizzle. A warp reads 8 rows of A at 4 of K: two chunks of N, which lie half a row apart,
    so that all of them are in other banks."""

    MODES: ClassVar[Mapping[str, str]] = {"A": "bkm", "B": "bnk", "C": "bnm"}

    def positions(self, operand: str) -> dict[Bit, int]:
        """Where each bit of a coordinate is in the number of an operand's element."""
        position = super().positions(operand)
        if operand != "B":
            lane, warp = ("m", 2), ("m", 4)
            position[lane], position[warp] = position[warp], position[lane]
        return position


@dataclass(frozen=True)
class PermutedLayouts(WarpgroupLayouts):
    """Those of one whose columns c and the keys that they are have other bits, here of 32:

        column   key 1  key 4  key 3  key 2  key 0

    A lane of a quad has two neighbours of each eight columns, and of A of 8 bits four neighbours of
    each sixteen of K.
    """

    def positions(self, operand: str) -> dict[Bit, int]:
        """Where each bit of a coordinate is in the number of an operand's element."""
        position = super().positions(operand)
        if operand != "A":
            low, moved, *high = [position["n", i] for i in range(log2(self.extents["n"]))]
            position |= {("n", i): bit for i, bit in enumerate((low, *high, moved))}
        return position


def multiplies_by_warpgroups(op: Multiplication, arch: Target | None) -> bool:
    """True where `wgmma` multiplies tiles of these shapes and types."""
    if isinstance(op, MmaFScaledOp):
        return False
    return _types(op) is not None and arch is not None and arch.supports(_TARGET)


def warpgroup_layouts(
    op: MmaFOp | MmaIOp, thread_bits: int, arch: Target | None
) -> WarpgroupLayouts | None:
    """The layouts of a multiplication by `wgmma`, both operands K-major; None where it is none."""
    types = _types(op)
    if types is None or thread_bits < WARPGROUP_BITS or not multiplies_by_warpgroups(op, arch):
        return None
    extents, kind = extents_along(op), WarpgroupLayouts
    if TRANSPOSED in op.attributes:
        extents |= {"m": extents["n"], "n": extents["m"]}
        kind = TransposedLayouts
    elif PERMUTED in op.attributes:
        kind = PermutedLayouts
    rows, columns = extents["m"], extents["n"]
    groups = 1 << (thread_bits - WARPGROUP_BITS)
    across = max(groups * _ROWS // rows, 1)
    most = _ADDED_COLUMNS if is_added(op) else _MOST_COLUMNS
    own = min(max(columns // across, _COLUMNS), most)
    size = bytes_of_name(types[0])
    try:
        atom = find_wgmma("sm90.mma", (_ROWS, own, _DEPTH // size), types)
    except AtomError:
        return None
    return kind(atom, extents, thread_bits)


def _types(op: MmaFOp | MmaIOp) -> tuple[str, str, str] | None:
    """PTX's names of the types of A, B and D; None where the tiles are too small for `wgmma`, or
    it multiplies no such types."""
    types = product_types(op)
    if types is None:
        return None
    *_, rows, depth = shape_of(op.lhs)
    columns = shape_of(op.rhs)[-1]
    if rows < _ROWS or columns < _COLUMNS or depth * bytes_of_name(types[0]) < _DEPTH:
        return None
    return types


def is_added(op: Multiplication) -> bool:
    """True of a product of floats of 8 bits, whose sums `wgmma` keeps in 14 bits: it is computed by
    itself, and added in f32, to more than zero, unless 14 bits are enough (`fast_acc`)."""
    if not isinstance(op, MmaFOp) or op.fast_acc or shown(element_of(op.lhs)) not in PTX_NAMES:
        return False
    acc, depth = op.acc.owner, shape_of(op.lhs)[-1]
    fresh = isinstance(acc, ConstantOp) and not acc.elements.array().any()
    return not ((fresh and depth <= ADDED_DEPTH) or in_tensor_memory(op))


def atom_of_majors(layouts: WarpgroupLayouts, a: str, b: str, *, registers: bool) -> WgmmaAtom:
    """The atom whose operands lie K-major ("k") or not ("mn"), A in registers or in memory."""
    assert isinstance(layouts.atom, WgmmaAtom)
    atom = layouts.atom
    return find_wgmma(
        "sm90.mma", atom.shape, atom.types, majors=(a, b),  # type: ignore[arg-type]
        frag_kind="rs" if registers else "ss",
    )  # fmt: skip
