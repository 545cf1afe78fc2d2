"""An MMA instruction tiled over threads and values: CuTe's TiledMMA.

The atoms stand side by side as `atom_layout` says, (M, N, K) -> atom, and each mode of the tile is
permuted before it is dealt out. A tensor becomes, for A,

    thrfrg     ((ThrV,(ThrM,ThrK)),(FrgV,(RestM,RestK,...)))
    partition  (FrgV,RestM,RestK,...)                            the part of one thread
"""

from functools import cache
from typing import Any

from tilewright.dialects.cute.algebra import complement, composition
from tilewright.dialects.cute.algebra import filter as filter_
from tilewright.dialects.cute.atoms import OPERAND_MODES, MmaTraits, Operand, TiledAtom
from tilewright.dialects.cute.int_tuple import LayoutError, is_tuple, rank
from tilewright.dialects.cute.inverse import right_inverse
from tilewright.dialects.cute.layout import Layout, append_to_rank, make_layout
from tilewright.dialects.cute.symbolic import layouts, scalar, tiling
from tilewright.dialects.cute.symbolic.check import why_not
from tilewright.dialects.cute.symbolic.layouts import Tile, tile_layouts
from tilewright.dialects.cute.symbolic.text import tile_text
from tilewright.dialects.cute.symbolic.tuples import has_basis
from tilewright.dialects.cute.tiling import tiled_product
from tilewright.dialects.frozen import frozen

MAX_ATOMS = 1024
"""No CTA has more threads."""

DEFAULT_ATOM_LAYOUT = Layout((1, 1, 1))
DEFAULT_PERMUTATION: tuple[Tile, Tile, Tile] = (None, None, None)


@frozen
class TiledMma:
    """`atom` tiled: `atom_layout` (M, N, K) -> which copy of the atom, `permutation` a layout or
    an underscore for each of M, N and K."""

    atom: TiledAtom
    atom_layout: Layout = DEFAULT_ATOM_LAYOUT
    permutation: tuple[Tile, Tile, Tile] = DEFAULT_PERMUTATION

    def __post_init__(self) -> None:
        # Nothing, or one underscore, stands for what is usual.
        object.__setattr__(self, "atom_layout", self.atom_layout or DEFAULT_ATOM_LAYOUT)
        object.__setattr__(self, "permutation", self.permutation or DEFAULT_PERMUTATION)

    def __str__(self) -> str:
        text = str(self.atom)
        if self.atom_layout != DEFAULT_ATOM_LAYOUT:
            text += f', atom_layout_MNK = "{self.atom_layout}"'
        if self.permutation != DEFAULT_PERMUTATION:
            text += f', permutation_MNK = "{tile_text(self.permutation)}"'
        return text

    @property
    def traits(self) -> MmaTraits:
        """The atom's."""
        return self.atom.mma_traits

    @property
    def thread_layout(self) -> Layout:
        """(ThrV, ThrM, ThrN, ThrK) -> thread."""
        return _thread_layout(self.traits.thread_ids, self.atom_layout)

    @property
    def threads(self) -> int:
        """How many threads the whole takes."""
        return self.thread_layout.size()

    def permuted(self, mode: int, unit: int | None = None) -> Layout:
        """The permutation of M, N or K; without one the atoms that stand along it. Of an operand
        that has `unit` elements there for an atom: in its elements, where it is none."""
        given, extent = self.permutation[mode], self.traits.shape[mode]
        if given is None:
            count = self.thread_layout[mode + 1].size()
        else:
            assert isinstance(given, Layout)
            if unit in (None, extent) or given.stride != 1:
                return given
            count = given.size() // extent
        return Layout(count * (unit or extent), 1)

    @property
    def tile_shape(self) -> tuple[int, int, int]:
        """The extents that the atoms compute together, (M, N, K)."""
        m, n, k = (self.permuted(mode).size() for mode in range(3))
        return m, n, k

    def tile_of(self, which: Operand) -> tuple[int, int]:
        """The extents of the tile's operand."""
        rows, columns = (mode.size() for mode in self.permuted_modes(which))
        return rows, columns

    def permuted_modes(self, which: Operand) -> tuple[Layout, ...]:
        """The permutations of the rows and the columns of the tile's operand."""
        modes, extents = OPERAND_MODES[which], self.traits.operand(which).extents
        return tuple(map(self.permuted, modes, extents))

    def thread_coord(self, thread: Any) -> tuple[Any, Any, Any, Any]:
        """Where a thread is: (v, m, n, k)."""
        v, m, n, k = (coord_along(mode, thread) for mode in self.thread_layout)
        return v, m, n, k

    def thrfrg(self, which: Operand, layout: Layout) -> Layout:
        """A layout (rows, columns, ...) as ((ThrV,(ThrRows,ThrColumns)),(FrgV,(Rest...))).

        Raises LayoutError where the tile does not divide it.
        """
        return (_known_dealt if layouts.known(layout) else _dealt)(self, which, layout)

    def partition(self, which: Operand, layout: Layout) -> Layout:
        """One thread's part of a layout, wherever it starts: (FrgV,RestRows,RestColumns,...)."""
        whole = self.thrfrg(which, layout)
        return layouts.slice_layout(self._slice(whole, (0, 0, 0, 0), which), whole)

    def partition_coord(self, which: Operand, whole: Layout, thread: Any) -> Any:
        """The coordinate in `thrfrg`'s layout that slices a thread's part out of it."""
        return self._slice(whole, self.thread_coord(thread), which)

    def _slice(self, whole: Layout, at: tuple[Any, Any, Any, Any], which: Operand) -> Any:
        rows, columns = OPERAND_MODES[which]
        rest = (None,) * rank(whole.shape[1][1])  # type: ignore[index]
        return (at[0], (at[rows + 1], at[columns + 1])), (None, rest)

    def tv_layout(self, which: Operand) -> Layout:
        """(thread, value) -> index of the tile's operand, counted along its rows first."""
        return _tv_layout(self, which)


@cache
def _thread_layout(thread_ids: Layout, atom_layout: Layout) -> Layout:
    return tiled_product(thread_ids, append_to_rank(atom_layout, 3))


def coord_along(mode: Layout, thread: Any) -> Any:
    """The coordinate that a thread has along one mode of a compact layout of threads."""
    coord: Any = 0
    before = 1
    for extent, stride in mode.leaves:
        if extent == 1 or stride == 0:
            continue
        place = scalar.mod(scalar.div(thread, stride), extent)
        coord = scalar.add(coord, scalar.mul(place, before))
        before *= extent
    return coord


def _dealt(mma: TiledMma, which: Operand, layout: Layout) -> Layout:
    modes = OPERAND_MODES[which]
    operand = mma.traits.operand(which)
    permuted = tiling.logical_divide(layout, mma.permuted_modes(which))
    atom = tuple(Layout(extent, 1) for extent in operand.extents)
    atoms = tiling.zipped_divide(permuted, atom)
    inside, rest = layouts.modes(atoms)
    values = layouts.composition(inside, operand.tv)
    threads = tuple(Layout(mma.thread_layout[mode + 1].size(), 1) for mode in modes)
    return tiling.zipped_divide(layouts.joined([values, rest]), (None, threads))


_known_dealt = cache(_dealt)


@cache
def _tv_layout(mma: TiledMma, which: Operand) -> Layout:
    whole = mma.thrfrg(which, Layout(mma.tile_of(which)))
    threads = mma.thread_layout
    rows, columns = OPERAND_MODES[which]
    # (ThrV,ThrM,ThrN,ThrK) -> (ThrV,(ThrRows,ThrColumns)): the other mode does not matter.
    kept = whole[0]
    thread_v, (along_rows, along_columns) = kept[0], kept[1]
    along = {rows: along_rows, columns: along_columns}
    by_vmnk = make_layout(
        thread_v, *(along.get(mode, Layout(threads[mode + 1].size(), 0)) for mode in range(3))
    )
    index = make_layout(threads, complement(threads))
    to_vmnk = composition(right_inverse(index), Layout(threads.size(), 1))
    return make_layout(composition(by_vmnk, to_vmnk), whole[1])


def why_no_tiled_mma(mma: TiledMma) -> str | None:
    """Why the parts make no tiled MMA, or None where they do."""
    layout, permutation = mma.atom_layout, mma.permutation
    for kept in (layout, *tile_layouts(permutation)):
        if (reason := why_not("layout", kept)) is not None:
            return reason
    if not layouts.known(layout) or has_basis(layout.stride) or rank(layout.shape) > 3:
        return f"expected atom_layout_MNK to be a static layout of M, N and K, got {layout}"
    if not is_tuple(permutation) or len(permutation) != 3:
        return f"expected permutation_MNK to have three modes, got {tile_text(permutation)}"
    try:
        traits = mma.traits
    except LayoutError as error:
        return str(error)
    if layout.size() > MAX_ATOMS:
        return f"expected at most {MAX_ATOMS} atoms side by side, got {layout}"
    try:
        complement(mma.thread_layout)
    except LayoutError as error:
        return f"expected threads of their own for each atom, got {layout} ({error})"
    if mma.threads % traits.together:
        return (
            f"expected whole groups of {traits.together} threads, which execute the instruction "
            f"together, got {mma.threads}; nearest legal: an atom_layout_MNK of "
            f"{traits.together // traits.thread_ids.size()} atoms or a multiple of that"
        )
    if not covers(mma.thread_layout, mma.threads):
        nearest = layouts.column_major(layout.shape)
        return (
            f"expected atom_layout_MNK to number its {layout.size()} atoms from 0 on, each once, "
            f"got {layout}; nearest legal: {nearest}"
        )
    for name, mode, shape in zip("MNK", range(3), traits.shape, strict=True):
        if (reason := _permutation_fault(mma, mode)) is not None:
            return f"expected the permutation of {name} {reason}"
        unit = shape * mma.thread_layout[mode + 1].size()
        extent = mma.permuted(mode).size()
        if extent % unit:
            return (
                f"expected the permutation of {name} to hold whole atoms of {unit}, got {extent}; "
                f"nearest legal: {max(round(extent / unit), 1) * unit}"
            )
    return None


def _permutation_fault(mma: TiledMma, mode: int) -> str | None:
    given = mma.permutation[mode]
    if given is None:
        return None
    if not isinstance(given, Layout) or not layouts.known(given) or has_basis(given.stride):
        return f"to be a static layout or _, got {tile_text(given)}"
    if not covers(given, given.size()):
        return f"to reach each of its {given.size()} places once, got {given}"
    units = {
        operand.extents[OPERAND_MODES[which].index(mode)]
        for which, operand in mma.traits.operands.items()
        if mode in OPERAND_MODES[which]
    }
    if given.stride != 1 and len(units) > 1:
        return (
            f"to be none (A, B and what belongs to them have {sorted(units)} elements an atom "
            f"there), got {given}; nearest legal: _"
        )
    return None


def covers(layout: Layout, extent: int) -> bool:
    """True where the images of a layout are all integers below `extent`, each from one coordinate
    but for modes of stride 0."""
    once = filter_(layout)
    try:
        complement(once)
    except LayoutError:
        return False
    return once.size() == once.cosize() == extent
