"""`sm100.mma` and its likes: `tcgen05.mma`, which one thread issues for a CTA or a pair of CTAs.

A row is one kind and K with the element types it takes, for every M, N and CTA group. K is 256 bits
of a dense row of A, twice that of a sparse one; elements of 6 and 4 bits count as bytes but with
kind::mxf4 and kind::mxf4nvf4. ptxas sees the mnemonic alone: types, M and N are in the instruction
descriptor. Where CUTLASS asks for more than the PTX ISA, the stricter rule stands.
PTX ISA 9.7.16.2.1, tcgen05.mma, tcgen05.mma.sp, tcgen05.mma.ws and tcgen05.mma.ws.sp.
"""

from typing import Literal

from tilewright.dialects.cute_nvgpu.lattice.elements import (
    ElementType,
)
from tilewright.dialects.cute_nvgpu.lattice.row import (
    BlockScale,
    DescriptorMmaRow,
    Shape,
    element_of,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import (
    Minimum,
    NeedingRow,
    Requirement,
    any_of,
    target,
)
from tilewright.dialects.cute_nvgpu.lattice.tmem import DATACENTER_BLACKWELL, TENSOR_MEMORY
from tilewright.dialects.frozen import frozen

UmmaKind = Literal["f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4"]

UmmaTypes = tuple[str, str, str]
"""PTX names of the element types of a, b and d."""

SCALES_INPUT = target("sm_100f")
"""Who multiplies D by a power of two before the addition: `scale-input-d`."""

LARGEST_INPUT_SCALE = 15
"""D is divided by at most 2 to this."""

LANE_MASK_WORDS = {1: 4, 2: 8}
"""How many 32-bit words a lane mask has, by CTA group."""

_EACH = any_of("sm_100a", "sm_103a", "sm_110a")
_INTEGER = any_of("sm_100a", "sm_110a")
_LONG_K = target("sm_103a")

LONG_K = 96
"""K of a dense kind::mxf4 or kind::mxf4nvf4 where it is not 64."""


@frozen
class Tiles:
    """The N that go with an M, for a CTA group of one or two CTAs; M and N are those of the pair.

    `tmem_ns` are the N where A is in tensor memory, `transposed_ns` those where an 8-bit B lies
    N-major.
    """

    cta_group: int
    m: int
    ns: tuple[int, ...]
    tmem_ns: tuple[int, ...]
    transposed_ns: tuple[int, ...] = ()


@frozen
class Spelling(NeedingRow):
    """How a mnemonic says block scaling, and who takes it so."""

    words: str
    needs: Requirement


@frozen
class UmmaRow(DescriptorMmaRow):
    """`tcgen05.mma` of one kind and K.

    `spellings` are the ways to write its mnemonic, that which IR becomes first. `ws` is the
    weight-stationary form, `scale` the block scaling, its `vector` the scale factors of a row.
    """

    op: str
    kind: UmmaKind
    k: int
    multiplicands: tuple[tuple[str, str], ...]
    accumulators: tuple[str, ...]
    tiles: tuple[Tiles, ...]
    spellings: tuple[Spelling, ...]
    section: str
    sparse: bool = False
    ws: bool = False
    scale: BlockScale | None = None

    def __post_init__(self) -> None:
        """A row whose K is not what its kind reads of a row of A cannot be built."""
        for types in self.element_types():
            bits = self.k * self.element("A", types).bits
            assert self.k == LONG_K or bits == (512 if self.sparse else 256), self
        assert self.scale is None or self.k % self.scale.vector == 0, self

    @property
    def target(self) -> Minimum:
        """The lowest targets that run it."""
        return _LONG_K if self.k == LONG_K else self.spellings[0].target

    @property
    def ptx_version(self) -> tuple[int, int]:
        """The PTX ISA version that introduced what its op becomes."""
        return self.spellings[0].ptx_version

    @property
    def negates(self) -> bool:
        """True where A and B can be negated."""
        return self.kind != "i8"

    @property
    def saturates(self) -> bool:
        """True where the sums of s32 can be clamped."""
        return self.kind == "i8"

    @property
    def scales_input(self) -> bool:
        """True where D can be multiplied by a power of two first."""
        return self.kind in ("f16", "tf32") and not self.ws

    @property
    def scale_block(self) -> int | None:
        """How many stored elements of a row of A share a scale factor: 16 or 32."""
        if self.scale is None:
            return None
        return self.stored_k // self.scale.vector

    @property
    def scale_ids(self) -> tuple[int, ...]:
        """The bytes of a word at which the scale factors of an MMA may start."""
        if self.scale is None:
            return ()
        step = 2 if self.scale.vector == 6 else 1 if self.scale.vector == 3 else self.scale.vector
        return tuple(range(0, 4, step))

    @property
    def selectors(self) -> tuple[int, ...]:
        """The legal sparsity selectors: which of an even pair of columns holds the metadata. What 2
        and 3 mean of 16- and 32-bit types, no source says."""
        if not self.sparse:
            return ()
        return (0, 1) if self.kind in ("f16", "tf32") else (0,)

    @property
    def chunk(self) -> int:
        return {"tf32": 2, "mxf4": 8, "mxf4nvf4": 8}.get(self.kind, 4)

    def shape(self, m: int, n: int) -> Shape:
        """(M, N, K)."""
        return m, n, self.k

    def element(self, operand: str, types: UmmaTypes) -> ElementType:
        """The element type of operand "A", "B", "D", "E", "SFA" or "SFB", in shared memory or in
        tensor memory."""
        return element_of(operand, dict(zip("ABD", types, strict=True)), self.kind, self.scale)


# N


def _steps(first: int, step: int) -> tuple[int, ...]:
    return tuple(range(first, 257, step))


_EIGHTS, _SIXTEENS, _THIRTYTWOS = _steps(8, 8), _steps(16, 16), _steps(32, 32)

_TILES = (
    Tiles(1, 64, _EIGHTS, _EIGHTS, _SIXTEENS),
    Tiles(1, 128, _EIGHTS, _SIXTEENS, _SIXTEENS),
    Tiles(2, 128, _SIXTEENS, _THIRTYTWOS, _THIRTYTWOS),
    Tiles(2, 256, _SIXTEENS, _THIRTYTWOS, _THIRTYTWOS),
)
_SPARSE_BYTES = (
    Tiles(1, 64, _EIGHTS, _EIGHTS, _SIXTEENS),
    Tiles(1, 128, _SIXTEENS, _SIXTEENS, _SIXTEENS),
    Tiles(2, 128, _THIRTYTWOS, _THIRTYTWOS, _THIRTYTWOS),
    Tiles(2, 256, _THIRTYTWOS, _THIRTYTWOS, _THIRTYTWOS),
)
_INTEGERS = (
    *(Tiles(1, m, (8, *_SIXTEENS), (8, *_SIXTEENS), _SIXTEENS) for m in (64, 128)),
    *(Tiles(2, m, _THIRTYTWOS, _THIRTYTWOS, _THIRTYTWOS) for m in (128, 256)),
)
_SCALED = (Tiles(1, 128, _EIGHTS, _SIXTEENS, _SIXTEENS),)
_SCALED_256 = (*_SCALED, Tiles(2, 256, _SIXTEENS, _THIRTYTWOS, _THIRTYTWOS))
_SCALED_PAIR = (
    *_SCALED,
    Tiles(2, 128, _SIXTEENS, _THIRTYTWOS),
    Tiles(2, 256, _SIXTEENS, _THIRTYTWOS),
)
_LONG = (Tiles(2, 256, _SIXTEENS, _THIRTYTWOS),)
"""PTX's table has K=96 for a pair with M=256 alone; CUTLASS has it for M=128 too."""


def _stationary(*ns: int) -> tuple[Tiles, ...]:
    """Where A is in tensor memory with M of 64 or 32, no source says how its rows repeat."""
    return tuple(Tiles(1, m, ns, ns if m == 128 else (), ns) for m in (32, 64, 128))


_STATIONARY, _STATIONARY_SPARSE = _stationary(64, 128, 256), _stationary(64, 128)

# Types

_F16, _BF16, _TF32 = (((name, name),) for name in ("f16", "bf16", "tf32"))
_NARROW = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
_F8F6F4 = tuple((a, b) for a in _NARROW for b in _NARROW)
_INT8 = tuple((a, b) for a in ("s8", "u8") for b in ("s8", "u8"))
_E2M1 = (("e2m1", "e2m1"),)

_HALF_OR_SINGLE = ("f16", "f32")
_SINGLE = ("f32",)
_WORD = ("s32",)

# Mnemonics

_PLAIN = (Spelling("", TENSOR_MEMORY),)
_PLAIN_INTEGER = (Spelling("", Requirement(_INTEGER, TENSOR_MEMORY.version)),)


def _spellings(
    kind: UmmaKind, vector: int, *, sparse: bool, k: int | None = None
) -> tuple[Spelling, ...]:
    """The ways to write the block scaling of a kind: the size of a block, which ptxas of every
    version takes; the number of scale factors; or, where a kind has one size, nothing."""
    block = 16 if vector in (4, 6) else 32
    runs = Requirement(DATACENTER_BLACKWELL if kind == "mxf8f6f4" or not sparse else _EACH, (8, 8))
    spellings = [Spelling(f".block_scale.block{block}", runs)]
    if kind != "mxf4nvf4":
        spellings.append(Spelling(".block_scale", runs))
    if k != LONG_K:
        since = Requirement(_EACH, (8, 7) if kind == "mxf4nvf4" else TENSOR_MEMORY.version)
        spellings.append(Spelling(f".block_scale.scale_vec::{vector}X", since))
    return tuple(spellings)


def _plain_rows(op: str, section: str, *, sparse: bool, ws: bool) -> tuple[UmmaRow, ...]:
    """The kinds without scale factors: dense and, at twice the K, sparse; weight-stationary too."""
    times = 2 if sparse else 1
    wide, narrow, whole = _TILES, _SPARSE_BYTES if sparse else _TILES, _INTEGERS
    if ws:
        wide = narrow = whole = _STATIONARY_SPARSE if sparse else _STATIONARY
    forms: tuple[tuple[UmmaKind, int, tuple[tuple[str, str], ...], tuple[str, ...]], ...] = (
        ("f16", 16, _F16, _HALF_OR_SINGLE),
        ("f16", 16, _BF16, _SINGLE),
        ("tf32", 8, _TF32, _SINGLE),
        ("f8f6f4", 32, _F8F6F4, _HALF_OR_SINGLE),
        ("i8", 32, _INT8, _WORD),
    )
    tiles = {"f8f6f4": narrow, "i8": whole}
    return tuple(
        UmmaRow(op, kind, k * times, multiplicands, accumulators, tiles.get(kind, wide),
                _PLAIN_INTEGER if kind == "i8" else _PLAIN, section, sparse, ws)
        for kind, k, multiplicands, accumulators in forms
    )  # fmt: skip


_SCALINGS: tuple[tuple[UmmaKind, int, str], ...] = (
    ("mxf4", 2, "ue8m0"),
    ("mxf4nvf4", 2, "ue8m0"),
    ("mxf4nvf4", 4, "ue4m3"),
    ("mxf4nvf4", 4, "ue8m0"),
)
"""(kind, scale factors of a row, their type) of K=64."""


def _scaled_rows(op: str, section: str, *, sparse: bool) -> tuple[UmmaRow, ...]:
    """The kinds with scale factors, dense or sparse."""
    times = 2 if sparse else 1
    fours = _SCALED_256 if sparse else _SCALED_PAIR
    return (
        UmmaRow(op, "mxf8f6f4", 32 * times, _F8F6F4, _SINGLE, _SCALED_256,
                _spellings("mxf8f6f4", 1, sparse=sparse), section, sparse,
                scale=BlockScale(1, "ue8m0")),
        *(
            UmmaRow(op, kind, 64 * times, _E2M1, _SINGLE, fours,
                    _spellings(kind, vector, sparse=sparse), section, sparse,
                    scale=BlockScale(vector, type_))
            for kind, vector, type_ in _SCALINGS
        ),
    )  # fmt: skip


def _long_rows(op: str, section: str) -> tuple[UmmaRow, ...]:
    """K=96: half as many scale factors again."""
    return tuple(
        UmmaRow(op, kind, LONG_K, _E2M1, _SINGLE, _LONG,
                _spellings(kind, vector * 3 // 2, sparse=False, k=LONG_K), section,
                scale=BlockScale(vector * 3 // 2, type_))
        for kind, vector, type_ in _SCALINGS
    )  # fmt: skip


_DENSE, _SPARSE = "tcgen05.mma", "tcgen05.mma.sp"
_WS, _WS_SPARSE = "tcgen05.mma.ws", "tcgen05.mma.ws.sp"

SM100_MMA = _plain_rows("sm100.mma", _DENSE, sparse=False, ws=False)
SM100_MMA_SP = _plain_rows("sm100.mma_sp", _SPARSE, sparse=True, ws=False)
SM100_MMA_BS = (
    *_scaled_rows("sm100.mma_bs", _DENSE, sparse=False),
    *_long_rows("sm100.mma_bs", _DENSE),
)
SM100_MMA_BS_SP = _scaled_rows("sm100.mma_bs_sp", _SPARSE, sparse=True)
SM100_MMA_WS = _plain_rows("sm100.mma_ws", _WS, sparse=False, ws=True)
SM100_MMA_WS_SP = _plain_rows("sm100.mma_ws_sp", _WS_SPARSE, sparse=True, ws=True)
