"""Copies of whole matrices between shared memory and the registers of a warp, and in registers.

In registers every matrix M x N lies as fragments do (fragments.py): with w = N/4 elements of a row
to a thread, thread 4*g + t holds columns w*t to w*t + w - 1 of row g, and where M is 16 then those
of row g + 8. In shared memory a matrix is runs of 16 bytes, each on 16 bytes, wherever the threads
say: thread i gives the address of run i, counted through all matrices of the instruction. Plainly
a run is a row of the matrix; with `.trans` it is a column.

        m8n8 .b16     m8n16 .b8x16   m16n16.trans .b8   m16n8.trans .b8
        8 rows of 8   8 rows of 16   16 columns of 16   8 columns of 16

So an m16n16 takes the addresses of 16 threads, and two of them those of the whole warp. PTX ISA
9.7.14.5.15 and 9.7.14.5.16 give the fragments as figures; their text and CuTe's traits of the same
instructions (SM75_U32x1_LDSM_N, SM75_U16x2_LDSM_T, SM100_SU4_DU8x16_x1_LDSM_N, SM100_U8x8_LDSM_T
before its shuffle of bytes, SM100_U8x4_STSM_T) say the above.
"""

from tilewright.dialects.cute import Layout, append, composition, make_layout
from tilewright.dialects.cute_nvgpu.fragments.mma import blocks
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm, Register
from tilewright.dialects.cute_nvgpu.lattice.targets import NeedingRow, Requirement, needs
from tilewright.dialects.frozen import frozen

WARP = 32
WANTS_ALL_ADDRESSES = 75
"""The last target on which `ldmatrix` wants valid addresses of all threads, those that name no row
too. PTX ISA 9.7.14.5.15."""

RUN_BYTES = 16
"""The bytes that one address stands for: a row of a matrix, or a column with `.trans`."""

SPACES: dict[str, tuple[int, int] | None] = {"shared": None, "shared::cta": (7, 8), "": None}
"""State spaces of an address, and the PTX ISA version of those that came later than the
instruction; none means a generic address into shared memory."""


@frozen
class SourceFormat:
    """Sixteen elements packed into a run, low bits first, and `padding` bits that nobody reads.

    Loading puts each element into the low bits of a byte, with zeros above: b4x16_p64 as well,
    although the MMAs on e2m1 want it two bits further up, so that its bytes are no fragment of
    e2m1. `elements` are the types that fragments may have.
    """

    name: str
    bits: int
    padding: int
    elements: tuple[str, ...] = ("u8",)

    def __post_init__(self) -> None:
        assert 16 * self.bits + self.padding == 8 * RUN_BYTES, self

    @property
    def data_bytes(self) -> int:
        """The bytes of a run that hold elements."""
        return RUN_BYTES - self.padding // 8


SOURCE_FORMATS: dict[str, SourceFormat] = {
    row.name: row
    for row in (
        SourceFormat("b6x16_p32", 6, 32, ("u8", "e3m2", "e2m3")),
        SourceFormat("b4x16_p64", 4, 64),
    )
}
"""PTX ISA 9.7.14.5.15, table of `.src_fmt`."""

Shape = tuple[int, int]


@frozen
class MatrixCopyRow(NeedingRow):
    """`ldmatrix` or `stmatrix` of 1, 2 or 4 matrices of one shape (M, N) and element type.

    `type` is what the mnemonic ends with, `trans` whether `.trans` may be written (both), must be
    or must not, `source` the packed form of what is loaded.
    """

    op: str
    shape: Shape
    type: str
    numbers: tuple[int, ...]
    trans: tuple[bool, ...]
    needs: Requirement
    section: str
    source: SourceFormat | None = None

    def __post_init__(self) -> None:
        """A row whose layouts do not cover its matrices exactly once cannot be built."""
        for trans in self.trans:
            assert self.run(trans) * self.bits == 8 * RUN_BYTES, self
            for number in self.numbers:
                assert self.runs(trans) * number <= WARP, self
                layout = self.tv_layout(number, trans)
                elements = number * self.shape[0] * self.shape[1]
                assert layout.size() == layout.cosize() == elements, self
                assert WARP * 32 * self.registers * number == elements * self.bits, self

    @property
    def bits(self) -> int:
        """The width of one element in a register."""
        return 16 if self.type == "b16" else 8

    @property
    def registers(self) -> int:
        """How many 32-bit registers of a thread hold its part of one matrix."""
        m, n = self.shape
        return m * n * self.bits // (WARP * 32)

    @property
    def values(self) -> int:
        """How many elements of one matrix a thread holds."""
        m, n = self.shape
        return m * n // WARP

    @property
    def neighbours(self) -> int:
        """How many elements of one row of the matrix lie side by side in a thread."""
        return self.shape[1] // 4

    @property
    def form(self) -> str:
        """Shape and type as the mnemonic has them: `m16n16.b8`."""
        return f"{self.ptx_shape}.{self.type}"

    @property
    def ptx_shape(self) -> str:
        """`m16n16`."""
        return "m{}n{}".format(*self.shape)

    def run(self, trans: bool) -> int:
        """How many elements of a matrix lie in one run of shared memory."""
        return self.shape[0] if trans else self.shape[1]

    def runs(self, trans: bool) -> int:
        """How many runs a matrix is in shared memory: as many threads give its addresses."""
        return self.shape[1] if trans else self.shape[0]

    def tv_layout(self, number: int, trans: bool) -> Layout:
        """`(T32, V) -> run + runs*place + runs*places*matrix`: where each element lies in memory.

        `place` counts the elements of a run; values are in register order, low bits first.
        """
        m, n = self.shape
        fragment = blocks(m, n, self.neighbours)
        matrix = composition(Layout((m, n), (n, 1)), fragment) if trans else fragment
        if number == 1:
            return matrix
        return make_layout(matrix[0], append(matrix[1], Layout(number, m * n)))

    def mnemonic(self, number: int, trans: bool, space: str = "shared") -> str:
        """`ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8`."""
        words = [f"{self.op}.sync.aligned", self.ptx_shape, f"x{number}"]
        words += [word for word, wanted in (("trans", trans), (space, space)) if wanted]
        return ".".join([*words, self.type])


_EITHER, _ALWAYS, _NEVER = (False, True), (True,), (False,)
_BLACKWELL = needs("sm_100f|sm_110f|sm_120f 8.6")
_LOAD, _STORE = "9.7.14.5.15", "9.7.14.5.16"


def _unpacking(source: SourceFormat) -> tuple[MatrixCopyRow, ...]:
    """The rows of `ldmatrix` that unpack a format."""
    type_ = f"b8x16.{source.name}"
    return (
        MatrixCopyRow("ldmatrix", (8, 16), type_, (1, 2, 4), _NEVER, _BLACKWELL, _LOAD, source),
        MatrixCopyRow("ldmatrix", (16, 16), type_, (1, 2), _ALWAYS, _BLACKWELL, _LOAD, source),
    )


LDMATRIX: tuple[MatrixCopyRow, ...] = (
    MatrixCopyRow("ldmatrix", (8, 8), "b16", (1, 2, 4), _EITHER, needs("sm_75 6.5"), _LOAD),
    MatrixCopyRow("ldmatrix", (16, 16), "b8", (1, 2), _ALWAYS, _BLACKWELL, _LOAD),
    *(row for source in SOURCE_FORMATS.values() for row in _unpacking(source)),
)

STMATRIX: tuple[MatrixCopyRow, ...] = (
    MatrixCopyRow("stmatrix", (8, 8), "b16", (1, 2, 4), _EITHER, needs("sm_90 7.8"), _STORE),
    MatrixCopyRow("stmatrix", (16, 8), "b8", (1, 2, 4), _ALWAYS, _BLACKWELL, _STORE),
)


@frozen
class MatrixMoveRow(NeedingRow):
    """`movmatrix`: a matrix in registers, transposed across the warp.

    A thread holds of the result what it held of the source, rows and columns exchanged.
    """

    shape: Shape
    type: str
    needs: Requirement
    section: str

    def __post_init__(self) -> None:
        """A row whose layouts do not cover its matrix exactly once cannot be built."""
        m, n = self.shape
        for layout in (self.source_layout, self.result_layout):
            assert layout.size() == layout.cosize() == m * n, self

    @property
    def mnemonics(self) -> tuple[str, ...]:
        """Its one mnemonic."""
        return (self.mnemonic,)

    @property
    def operands(self) -> tuple[OperandForm, ...]:
        """The registers, in PTX's order."""
        return Register("d"), Register("a")

    @property
    def bits(self) -> int:
        """The width of one element."""
        return int(self.type[1:])

    @property
    def values(self) -> int:
        """How many elements a thread holds."""
        m, n = self.shape
        return m * n // WARP

    @property
    def source_layout(self) -> Layout:
        """`(T32, V) -> row + M*column` of the source."""
        return blocks(*self.shape, self.shape[1] // 4)

    @property
    def result_layout(self) -> Layout:
        """`(T32, V) -> row + M*column` of the source, for what a thread holds of the result."""
        m, n = self.shape
        return composition(Layout((n, m), (m, 1)), blocks(n, m, m // 4))

    @property
    def mnemonic(self) -> str:
        return "movmatrix.sync.aligned.m{}n{}.trans.".format(*self.shape) + self.type


MOVMATRIX = MatrixMoveRow((8, 8), "b16", needs("sm_75 7.8"), "9.7.14.5.17")
