"""How the warps of a CTA share a matrix multiplication: the atom, and the layouts of its operands.

The lanes of a warp and the values of a fragment are where the atom has them; warps lie along M and
N so that what a warp multiplies is as square as may be, or, where the result of one multiplication
becomes A of another, along M, so that it stays in registers; what is left over is registers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, ClassVar, get_args

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaFScaledOp, MmaIOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.dialects.cute_nvgpu.atoms.traits import AnyMmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.frozen import frozen
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS, TileLayout, dim_bits, log2

HALVES = ("f16", "bf16")
"""The element types of 16 bits."""
PTX_NAMES = {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}
"""PTX's names of the element types of 8 bits."""


Multiplication = MmaFOp | MmaIOp | MmaFScaledOp
_MULTIPLICATIONS: frozenset[Any] = frozenset(get_args(Multiplication))


def multiplications(entry: Operation) -> list[Multiplication]:
    """The multiplications of matrices in a kernel."""
    products: Any = [op for op in entry.walk() if type(op) in _MULTIPLICATIONS]
    return products


def atom_of(op: Multiplication) -> MmaAtom | None:
    """The atom of a multiplication; None where tiles are too small for one, or no tensor core
    multiplies their elements."""
    *_, rows, depth = shape_of(op.lhs)
    columns = shape_of(op.rhs)[-1]
    a, c = shown(element_of(op.lhs)), shown(element_of(op.acc))
    if isinstance(op, MmaIOp):
        signs = signs_of(op)
        types, depths = f"s32.{signs[0]}8.{signs[1]}8.s32", (32, 16)
    elif a in HALVES:
        types, depths = f"{c}.{a}.{a}.{c}", (16, 8)
    elif a == "tf32":
        types, depths = f"{c}.{a}.{a}.{c}", (8, 4)
    elif a in PTX_NAMES:
        types, depths = f"f32.{PTX_NAMES[a]}.{PTX_NAMES[a]}.f32", (32,)
    elif a == "f64":
        types, depths = "f64.f64.f64.f64", (4,)
    else:
        return None
    m = 8 if a == "f64" else 16
    fitting = [k for k in depths if k <= depth]
    if rows < m or columns < 8 or not fitting:
        return None
    return _parsed(f"mma.sync.aligned.m{m}n8k{fitting[0]}.row.col.{types}")


def signs_of(op: MmaIOp) -> tuple[str, str]:
    """s or u, of A and of B."""
    left, right = (str(sign.data.value)[0] for sign in (op.signedness_lhs, op.signedness_rhs))  # type: ignore[attr-defined]
    return left, right


def product_types(op: Multiplication) -> tuple[str, str, str] | None:
    """PTX's names of the types of A, B and D of asynchronous MMAs; None where they multiply no such
    types."""
    a, c = shown(element_of(op.lhs)), shown(element_of(op.acc))
    if isinstance(op, MmaIOp):
        left, right = signs_of(op)
        return f"{left}8", f"{right}8", "s32"
    if a in PTX_NAMES:
        return PTX_NAMES[a], PTX_NAMES[a], "f32"
    if a == "f4E2M1FN":
        return "e2m1", "e2m1", "f32"
    return (a, a, c) if a in (*HALVES, "tf32") else None


def extents_along(op: Multiplication) -> dict[str, int]:
    """The extents of a product along the batch, M, N and K."""
    *batch, rows, depth = shape_of(op.lhs)
    return {"b": (batch or [1])[0], "m": rows, "n": shape_of(op.rhs)[-1], "k": depth}


def factors_in(op: Operation) -> Sequence[SSAValue]:
    """The operands of a product but what it adds to: A, B and their scale factors."""
    return [*op.operands[:2], *op.operands[3:]]


def is_chained(op: Multiplication) -> bool:
    """True where A comes of another multiplication in the block, or the result becomes A of one."""
    block = op.parent
    if block is None:
        return False
    products = [other for other in block.ops if isinstance(other, Multiplication)]
    return len(products) > 1 and any(
        other is not op and (comes_of(op.lhs, other) or comes_of(other.lhs, op))
        for other in products
    )


def comes_of(value: SSAValue, product: Operation) -> bool:
    """True where the elements of a tile are computed of those of a product, each of its own."""
    pending, seen = [value], set[Operation]()
    while pending:
        owner = pending.pop().owner
        if owner is product:
            return True
        if owner in seen or not isinstance(owner, Operation) or owner.parent is not product.parent:
            continue
        seen.add(owner)
        if not isinstance(owner, Multiplication):
            pending += [x for x in owner.operands if _has_as_many(x, owner.results)]
    return False


def _has_as_many(value: SSAValue, results: Sequence[SSAValue]) -> bool:
    """True of a tile of as many elements as results."""
    return isinstance(value.type, TileType) and any(
        isinstance(result.type, TileType) and result.type.elements == value.type.elements
        for result in results
    )


@cache
def _parsed(mnemonic: str) -> MmaAtom:
    atom = parse(mnemonic)
    assert isinstance(atom, MmaAtom)
    return atom


Bit = tuple[str, int]
"""A bit of a coordinate along M, N, K or the batch."""


@lru_cache(1 << 10)
def _places(layout: Layout, count: int) -> list[int]:
    """The bits of images that bits of an index become."""
    return [log2(layout(1 << i)) for i in range(count)]


@frozen
class MmaLayouts:
    """The layouts of the operands of a multiplication."""

    atom: AnyMmaAtom
    extents: dict[str, int]
    thread_bits: int
    chained: bool = False

    UNIT_BITS: ClassVar[int] = WARP_BITS
    """The bits of a thread's number among those that multiply together."""
    MODES: ClassVar[Mapping[str, str]] = {"A": "bmk", "B": "bkn", "C": "bmn"}
    """The modes of each operand, outermost first."""

    @classmethod
    def of(cls, op: Multiplication, atom: MmaAtom, thread_bits: int) -> MmaLayouts:
        """Those of an op."""
        return cls(atom, extents_along(op), thread_bits, is_chained(op))

    def layout(self, operand: str) -> TileLayout:
        """The layout of A, B or C."""
        down, along = {"A": "mk", "B": "nk", "C": "mn"}[operand]
        lanes, values = self._fragment(operand, down, along)
        taken = set(lanes) | set(values)
        threads: list[Bit | None] = [*lanes]
        for bit in self.units:
            threads.append(bit if bit is not None and bit[0] in (down, along, "b") else None)
        rest = [
            (mode, bit)
            for mode in (along, down, "b")
            for bit in range(log2(self.extents[mode]))
            if (mode, bit) not in taken and (mode, bit) not in self.units
        ]
        position = self.positions(operand)
        return TileLayout(
            tuple(None if bit is None else position[bit] for bit in threads),
            tuple(position[bit] for bit in (*values, *rest)),
        )

    def positions(self, operand: str) -> dict[Bit, int]:
        """Where each bit of a coordinate is in the number of an operand's element."""
        modes = self.MODES[operand]
        bits = dim_bits([self.extents[mode] for mode in modes])
        return {
            (mode, i): bit
            for mode, own in zip(modes, bits, strict=True)
            for i, bit in enumerate(own)
        }

    def bits(self, operand: str) -> tuple[list[int], list[int], list[int]]:
        """The bits in the number of A's or B's element of K, of its rows or columns, and of the
        batch."""
        position, across = self.positions(operand), "m" if operand == "A" else "n"
        depth, rows, batch = (
            [position[mode, i] for i in range(log2(self.extents[mode]))]
            for mode in ("k", across, "b")
        )
        return depth, rows, batch

    def values(self, operand: str) -> int:
        """The elements of a fragment."""
        return self._tv(operand).size() >> self.UNIT_BITS

    def _tv(self, operand: str) -> Layout:
        return self.atom.tv_layout(operand)  # type: ignore[arg-type]

    def _fragment(self, operand: str, down: str, along: str) -> tuple[list[Bit], list[Bit]]:
        """The bits of lanes and of values of a fragment, whose index is the first coordinate plus
        its extent times the second one."""
        m, n, k = self.atom.shape
        low, count = log2({"m": m, "n": n, "k": k}[down]), log2(self.values(operand))
        bits = [
            (down, place) if place < low else (along, place - low)
            for place in _places(self._tv(operand), self.UNIT_BITS + count)
        ]
        return bits[: self.UNIT_BITS], bits[self.UNIT_BITS :]

    @property
    def units(self) -> list[Bit | None]:
        """The bit that each bit of the warp's number is."""
        m, n, _ = self.atom.shape
        left = {"b": self.extents["b"], "m": self.extents["m"] // m, "n": self.extents["n"] // n}
        bits: list[Bit | None] = []
        for _ in range(self.thread_bits - WARP_BITS):
            mode = "m" if self.chained or left["m"] * m >= left["n"] * n else "n"
            if left["b"] > 1:
                mode = "b"
            elif left[mode] == 1:
                mode = "n" if mode == "m" else "m"
            if left[mode] == 1:
                bits.append(None)
                continue
            bits.append((mode, log2(self.extents[mode] // left[mode])))
            left[mode] //= 2
        return bits

    def fragments(self, operand: str) -> list[tuple[int, int, int, int]]:
        """For each fragment of a thread, in the order of its registers, what its registers say of
        the coordinates along the batch, M, N and K."""
        layout, position = self.layout(operand), self.positions(operand)
        of_bit = {bit: name for name, bit in position.items()}
        width = self.values(operand)
        coordinates: list[tuple[int, int, int, int]] = []
        for place in layout.places[::width]:
            at = dict.fromkeys("bmnk", 0)
            for bit, (mode, i) in of_bit.items():
                at[mode] |= (place >> bit & 1) << i
            coordinates.append((at["b"], at["m"], at["n"], at["k"]))
        return coordinates


@frozen
class AsyncLayouts(MmaLayouts):
    """The layouts of a multiplication whose operands are matrices in shared memory."""

    atom: WgmmaAtom | UmmaAtom

    UNIT_BITS: ClassVar[int] = 7

    def may_be_turned(self, size: int, across: int) -> bool:
        """True where so many rows or columns of elements of `size` bytes need not lie along K."""
        return size == 2
