"""`sm90.mma` and `sm90.sparse_mma`: `wgmma.mma_async` of a warpgroup. PTX ISA 9.7.15.

A row is one K with the element types it takes, for every N: the shapes of a row differ in nothing
else. M is always 64. Integer forms of two signs came with PTX ISA 8.4, the others with 8.0 (dense)
or 8.2 (sparse).
"""

from itertools import product

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.fragments import mma as fragments
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, METADATA, ElementType
from tilewright.dialects.cute_nvgpu.lattice.row import DescriptorMmaRow, Shape
from tilewright.dialects.cute_nvgpu.lattice.targets import NeedingRow, Requirement, needs
from tilewright.dialects.frozen import frozen

WARPGROUP = 128
"""How many threads issue one `wgmma` together. PTX ISA 9.7.15.1."""

WgmmaTypes = tuple[str, str, str]
"""PTX names of the element types of a, b and d."""

_M = 64
_WARPS = WARPGROUP // 32

_EIGHTS = tuple(range(8, 257, 8))
_SIXTEENS = (8, 16, 24, 32, *range(48, 257, 16))
"""Integer and bit forms take N in steps of 16 beyond 32; the shapes table is right where the syntax
block is short (n240 and n256 assemble, and run)."""

_WORD = ("s32",)


@frozen
class WgmmaRow(NeedingRow, DescriptorMmaRow):
    """`wgmma.mma_async` of one K and every N."""

    op: str
    k: int
    multiplicands: tuple[tuple[str, str], ...]
    accumulators: tuple[str, ...]
    needs: Requirement
    section: str
    sparse: bool = False
    bit_op: str | None = None

    def __post_init__(self) -> None:
        """A row whose layouts do not cover its matrices exactly once cannot be built."""
        for types, operand in product(self.element_types(), ("A", "D")):
            rows, columns = self.extents(operand, _M, self.ns[0])
            layout = self.tv_layout(operand, types, self.ns[0])
            assert layout.size() == layout.cosize() == rows * columns, (self, operand)

    @property
    def negates(self) -> bool:
        """True where A and B can be negated: `imm-scale-a`, `imm-scale-b`."""
        return self.accumulators != _WORD

    @property
    def transposes(self) -> bool:
        """True where A and B may lie MN-major in shared memory: `imm-trans-a`, `imm-trans-b`."""
        return self.multiplicand_bits == 16

    @property
    def satfinite(self) -> bool:
        """True where the sums can be clamped."""
        return self.accumulators == _WORD and self.bit_op is None

    @property
    def ns(self) -> tuple[int, ...]:
        """Every N."""
        return _EIGHTS if self.negates else _SIXTEENS

    def shape(self, n: int) -> Shape:
        """(M, N, K)."""
        return _M, n, self.k

    @property
    def chunk(self) -> int:
        """Of how many neighbours in a row of a sparse A half are zeros. PTX ISA 9.7.15.6.1."""
        return 2 if self.multiplicand_bits == 32 else 4

    @property
    def contributors(self) -> int:
        """How many threads of each group of four give sparsity metadata. PTX ISA 9.7.15.6.1."""
        return _M // _WARPS * self.indices // 128

    @property
    def multiplicand_bits(self) -> int:
        """The width of an element of A, which is that of B."""
        return ELEMENT_TYPES[self.multiplicands[0][0]].bits

    def element(self, operand: str, types: WgmmaTypes) -> ElementType:
        """The element type of an operand."""
        return METADATA if operand == "E" else ELEMENT_TYPES[types["ABD".index(operand)]]

    def tv_layout(self, operand: str, types: WgmmaTypes, n: int) -> Layout:
        """The canonical layout `(thread, value) -> index` of what registers hold."""
        rows, columns = self.extents(operand, _M, n)
        if operand == "E":
            across = self.multiplicand_bits == 8
            return fragments.metadata(rows, columns, across=across, warps=_WARPS)
        width = 2 if operand == "D" else self.element(operand, types).per_register
        return fragments.blocks(rows, columns, width, _WARPS)


_F16, _BF16, _TF32 = (((name, name),) for name in ("f16", "bf16", "tf32"))
_FP8 = (("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2"))
_SAME_SIGN = (("s8", "s8"), ("u8", "u8"))
_MIXED_SIGN = (("s8", "u8"), ("u8", "s8"))
_MIXED_SIGN_NEEDS = needs("sm_90a 8.4")

_HALF_OR_SINGLE = ("f16", "f32")
_SINGLE = ("f32",)


def _rows(op: str, needed: Requirement, section: str, *, sparse: bool) -> tuple[WgmmaRow, ...]:
    """The rows that exist dense and, at twice the K, sparse."""
    times = 2 if sparse else 1
    return (
        WgmmaRow(op, 16 * times, _F16, _HALF_OR_SINGLE, needed, section, sparse),
        WgmmaRow(op, 16 * times, _BF16, _SINGLE, needed, section, sparse),
        WgmmaRow(op, 8 * times, _TF32, _SINGLE, needed, section, sparse),
        WgmmaRow(op, 32 * times, _FP8, _HALF_OR_SINGLE, needed, section, sparse),
        WgmmaRow(op, 32 * times, _SAME_SIGN, _WORD, needed, section, sparse),
        WgmmaRow(op, 32 * times, _MIXED_SIGN, _WORD, _MIXED_SIGN_NEEDS, section, sparse),
    )


_DENSE = needs("sm_90a 8.0")
SM90_MMA: tuple[WgmmaRow, ...] = (
    *_rows("sm90.mma", _DENSE, "9.7.15.5.2", sparse=False),
    WgmmaRow("sm90.mma", 256, (("b1", "b1"),), _WORD, _DENSE, "9.7.15.5.2", bit_op="and"),
)

SM90_SPARSE_MMA: tuple[WgmmaRow, ...] = _rows(
    "sm90.sparse_mma", needs("sm_90a 8.2"), "9.7.15.6.3", sparse=True
)
