"""Copy instructions as tiles are made of them: CuTe's Copy_Traits, in elements.

    universal   one thread, some neighbouring elements: what `ld` and `st` of 8 to 128 bits move
    cp_async    the same from global to shared memory, asynchronously
    ldmatrix    a warp, 1, 2 or 4 matrices: thread i names run i, and gets its part of each
    stmatrix    the same backwards
    tmem_load   a warp, a tile of lanes and columns of tensor memory: `tcgen05.ld`
    tmem_store  the same backwards: `tcgen05.st`
    tmem_copy   one thread, rows of shared memory to lanes of tensor memory: `tcgen05.cp`

The reference numbering counts the elements of one `ldmatrix` run by run; `stmatrix` as well. That
of tensor memory is lane + lanes * element of the lane, of `tmem_copy` element + elements * row.
"""

from functools import cache, partial
from typing import Literal, get_args

from tilewright.dialects.cute import Layout, composition, make_layout, recast_layout
from tilewright.dialects.cute.atoms import CopyTraits
from tilewright.dialects.cute.tensor import element_bits
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import (
    MatrixCopy,
    check_trans,
    find_row,
    transposing,
)
from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import (
    PACKED_BITS,
    TmemAccess,
    find_copy_shape,
    find_tmem_shape,
)
from tilewright.dialects.cute_nvgpu.atoms.tmem_layouts import lane_stride
from tilewright.dialects.cute_nvgpu.fragments.mma import mode
from tilewright.dialects.cute_nvgpu.lattice.data_movement import CP_ASYNC
from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import RUN_BYTES, WARP
from tilewright.dialects.cute_nvgpu.lattice.nearest import closest, why_not
from tilewright.dialects.cute_nvgpu.lattice.targets import InstructionFacts
from tilewright.dialects.cute_nvgpu.lattice.tmem import CELL_BITS, why_illegal_group
from tilewright.dialects.cute_nvgpu.lattice.tmem_access import (
    TMEM_COPY,
    TMEM_LOAD,
    TMEM_STORE,
    TmemCopyShape,
)
from tilewright.dialects.frozen import frozen

CopyKind = Literal[
    "universal", "cp_async", "ldmatrix", "stmatrix", "tmem_load", "tmem_store", "tmem_copy"
]
COPY_KINDS: tuple[CopyKind, ...] = get_args(CopyKind)
HALF_CELLS: dict[str, str] = {"tmem_load": "pack", "tmem_store": "unpack"}
"""How an access says that elements of 16 bits have a cell each."""

UNIVERSAL_BITS = (8, 16, 32, 64, 128)
"""The bits that one thread loads or stores at once."""


@frozen
class CopyInstruction:
    """One copy instruction on elements of a type (its MLIR spelling).

    `bits` is what each thread of a universal copy or a `cp.async` moves, `number` how many
    matrices an ldmatrix or stmatrix moves, or how often a tmem_load or tmem_store repeats its
    `shape`; that of a tmem_copy has its multicast. `half_cells`: elements of 16 bits have a cell
    of tensor memory each. Raises AtomError for what the hardware does not have.
    """

    kind: CopyKind
    element: str
    bits: int = 0
    cache: str | None = None
    number: int = 0
    trans: bool = False
    shape: str = ""
    half_cells: bool = False
    cta_group: int = 1

    def __post_init__(self) -> None:
        if self.kind in HALF_CELLS:
            self._check_tensor_memory()
            return
        if self.kind == "tmem_copy":
            find_copy_shape(self.shape)
            self._check_cells()
            _check(why_illegal_group(self.cta_group))
            return
        if self.kind in ("ldmatrix", "stmatrix"):
            self._check_matrices()
            return
        legal = UNIVERSAL_BITS
        if self.kind == "cp_async":
            caches = CP_ASYNC.sizes
            if self.cache not in caches:
                raise AtomError(f"expected a cache of {', '.join(caches)}, got {self.cache}")
            legal = tuple(8 * size for size in caches[self.cache])
        elif self.cache is not None:
            raise AtomError(f"expected a cache with cp_async alone, got {self.cache}")
        legal = tuple(bits for bits in legal if bits % element_bits(self.element) == 0)
        expected = f"{' or '.join(map(str, legal))} bits of {self.element}"
        _check(why_not(self.bits, legal, expected))

    def _check_matrices(self) -> None:
        copy = self.matrices
        if self.number not in copy.row.numbers:
            nearest = closest(self.number, copy.row.numbers)
            raise AtomError(
                f"expected {' or '.join(f'x{number}' for number in copy.row.numbers)}, "
                f"got x{self.number}; nearest legal: x{nearest}"
            )

    def _check_tensor_memory(self) -> None:
        self._check_cells()
        shape = find_tmem_shape(self.shape)
        if shape.halves:
            raise AtomError(
                f"expected a shape of one part, got {shape.name}; nearest legal: 16x64b"
            )
        if self.number not in shape.numbers:
            nearest = closest(self.number, shape.numbers)
            listed = ", ".join(f"x{number}" for number in shape.numbers)
            raise AtomError(
                f"expected {listed} of {shape.name}, got x{self.number}; nearest legal: x{nearest}"
            )

    def _check_cells(self) -> None:
        bits = element_bits(self.element)
        if self.half_cells and bits != PACKED_BITS:
            raise AtomError(
                f"expected elements of {PACKED_BITS} bits with {HALF_CELLS[self.kind]}, got "
                f"{self.element}; nearest legal: f16"
            )
        if CELL_BITS % bits:
            raise AtomError(
                f"expected whole elements to a cell of {CELL_BITS} bits with {self.kind}, got "
                f"{self.element}; nearest legal: f32"
            )

    @property
    def access(self) -> TmemAccess:
        """The access of a tmem_load or tmem_store."""
        return TmemAccess(find_tmem_shape(self.shape), self.number, self.half_cells)

    @property
    def copy_shape(self) -> TmemCopyShape:
        """The shape of a tmem_copy."""
        return find_copy_shape(self.shape)

    @property
    def matrices(self) -> MatrixCopy:
        """The ldmatrix or stmatrix. Raises AtomError for elements that it does not move so."""
        bits = element_bits(self.element)
        if not self.trans:
            # Rows of 16 bytes whatever they are made of: as 16-bit elements.
            if bits > 32:
                raise AtomError(f"expected elements of at most 32 bits, got {self.element}")
            row = find_row(self.kind, (8, 8), None)
        else:
            legal = transposing(self.kind, bits)
            if legal is None:
                raise AtomError(
                    f"expected elements that {self.kind} transposes, of 8 or 16 bits, "
                    f"got {self.element}"
                )
            row = legal
        check_trans(row, self.trans)
        return MatrixCopy(row, self.number, self.trans)

    @property
    def row(self) -> InstructionFacts | None:
        """The row of the instruction; a universal copy is any load and store."""
        match self.kind:
            case "universal":
                return None
            case "cp_async":
                return CP_ASYNC
            case "ldmatrix" | "stmatrix":
                return self.matrices.row
            case "tmem_load":
                return TMEM_LOAD
            case "tmem_store":
                return TMEM_STORE
            case "tmem_copy":
                return TMEM_COPY

    @property
    def traits(self) -> CopyTraits:
        """Its threads and the TV layouts of its source and its destination."""
        return _traits(self)

    @property
    def parameters(self) -> str:
        """The text between angle brackets in IR."""
        if self.kind in ("ldmatrix", "stmatrix"):
            trans = ", trans" if self.trans else ""
            return f"{self.kind}, {self.element}, x{self.number}{trans}"
        if self.kind in HALF_CELLS:
            half = f", {HALF_CELLS[self.kind]}" if self.half_cells else ""
            return f"{self.kind}, {self.element}, {self.shape}, x{self.number}{half}"
        if self.kind == "tmem_copy":
            shape = self.shape.replace("::", "_").replace(".", " ")
            group = f", cta_group = {self.cta_group}" if self.cta_group > 1 else ""
            return f"{self.kind}, {self.element}, {shape}{group}"
        cache = f", cache = {self.cache}" if self.cache is not None else ""
        return f"{self.kind}, {self.element}, {self.bits}{cache}"


def _check(why: str | None) -> None:
    if why is not None:
        raise AtomError(why)


@cache
def _traits(copy: CopyInstruction) -> CopyTraits:
    bits = element_bits(copy.element)
    if copy.kind in ("ldmatrix", "stmatrix"):
        memory, registers = _matrix_layouts(copy.matrices, bits)
        if copy.kind == "ldmatrix":
            spaces = ("smem", "rmem")
            layouts = (memory, registers)
        else:
            spaces = ("rmem", "smem")
            layouts = (registers, memory)
        return CopyTraits(copy.element, *spaces, *layouts, registers, RUN_BYTES)
    if copy.kind in HALF_CELLS:
        return _tensor_memory_traits(copy)
    if copy.kind == "tmem_copy":
        return _tensor_copy_traits(copy)
    one = Layout((1, copy.bits // bits), (0, 1))
    spaces = ("gmem", "smem") if copy.kind == "cp_async" else (None, None)
    return CopyTraits(copy.element, *spaces, one, one, one, copy.bits // 8)


def _tensor_memory_traits(copy: CopyInstruction) -> CopyTraits:
    """All threads of the warp name the whole tile, and each has its part."""
    bits = element_bits(copy.element)
    lanes, columns = copy.access.extents(bits)
    registers = copy.access.tile(bits)
    named = Layout((WARP, (lanes, columns)), (0, (1, lanes)))
    apart = CELL_BITS // bits if copy.half_cells else 1
    cells = Layout((lanes, columns), (lane_stride(bits), apart))
    element, size = copy.element, CELL_BITS // 8
    if copy.kind == "tmem_store":
        return CopyTraits(element, "rmem", "tmem", registers, named, registers, size, cells)
    return CopyTraits(element, "tmem", "rmem", named, registers, registers, size, cells)


def _tensor_copy_traits(copy: CopyInstruction) -> CopyTraits:
    """One thread names all rows, and the lanes of tensor memory where they go first."""
    bits, shape = element_bits(copy.element), copy.copy_shape
    columns = shape.bits // bits
    both = Layout((1, (columns, shape.rows)), (0, (1, columns)))
    rows = mode(*((extent, lanes * lane_stride(bits)) for extent, lanes in shape.lanes))
    cells = make_layout(Layout(columns, 1), rows)
    return CopyTraits(copy.element, "smem", "tmem", both, both, both, RUN_BYTES, cells)


def _matrix_layouts(copy: MatrixCopy, bits: int) -> tuple[Layout, Layout]:
    """(T32,V) -> element, on the side of memory and on that of registers, elements counted run by
    run through all matrices."""
    places = 8 * RUN_BYTES // copy.row.bits
    runs = copy.row.runs(copy.trans)
    # The row's layout counts runs first: run + runs*place + runs*places*matrix.
    by_run = Layout((runs, places, copy.number), (places, 1, runs * places))
    registers = composition(by_run, copy.tv_layout)
    given = copy.runs
    repeated = Layout(((given, WARP // given), places), ((places, 0), 1))
    recast = partial(recast_layout, bits, copy.row.bits)
    return recast(repeated), recast(registers)
