"""A copy instruction tiled over threads and values: CuTe's TiledCopy.

`layout_tv` maps (thread, value) to an element of the tile, whose extents `tiler` has; the atom's
own layouts say how its source and its destination differ from that. A tensor becomes

    tidfrg     (Thr,(FrgV,FrgX),(RestM,RestN,...))
    partition  ((FrgV,FrgX),RestM,RestN,...)          the part of one thread

FrgV being the values of one instruction, FrgX its repetitions within the tile.
"""

from functools import cache
from math import prod
from typing import Any, Literal

from tilewright.dialects.cute.algebra import coalesce, composition
from tilewright.dialects.cute.atoms import CopyAtom, CopyTraits, Operand
from tilewright.dialects.cute.int_tuple import LayoutError, product_each, rank
from tilewright.dialects.cute.inverse import right_inverse
from tilewright.dialects.cute.layout import Layout, make_layout
from tilewright.dialects.cute.recast import upcast
from tilewright.dialects.cute.symbolic import layouts, tiling
from tilewright.dialects.cute.symbolic.check import why_not
from tilewright.dialects.cute.symbolic.layouts import Tile, tile_layouts
from tilewright.dialects.cute.symbolic.text import tile_text
from tilewright.dialects.cute.symbolic.tuples import has_basis
from tilewright.dialects.cute.tiled_mma import TiledMma, covers
from tilewright.dialects.cute.tiling import logical_product, raked_product, zipped_divide
from tilewright.dialects.frozen import frozen

Side = Literal["S", "D"]
"""The source or the destination of a copy."""


@frozen
class TiledCopy:
    """`atom` tiled: `layout_tv` (thread, value) -> index of the tile, `tiler` the tile's extents,
    or layouts that pick its elements, for each mode."""

    atom: CopyAtom
    layout_tv: Layout
    tiler: tuple[Tile, ...]

    def __str__(self) -> str:
        tiler = tile_text(self.tiler)
        return f'{self.atom}, layout_tv = "{self.layout_tv}", tiler_mn = "{tiler}"'

    @property
    def traits(self) -> CopyTraits:
        """The atom's."""
        return self.atom.copy_traits

    @property
    def threads(self) -> int:
        """How many threads the whole takes."""
        return self.layout_tv[0].size()

    @property
    def values(self) -> int:
        """How many elements of a tile each thread moves."""
        return self.layout_tv[1].size()

    @property
    def tile_shape(self) -> tuple[int, ...]:
        """The extents of the tile."""
        sizes = [mode.size() for mode in self.tiler if isinstance(mode, Layout)]
        assert len(sizes) == len(self.tiler)
        return tuple(sizes)

    def tidfrg(self, side: Side, layout: Layout) -> Layout:
        """A layout (M, N, ...) as (Thr,(FrgV,FrgX),(RestM,RestN,...)).

        Raises LayoutError where the tile does not divide it.
        """
        return (_known_dealt if layouts.known(layout) else _dealt)(self, side, layout)

    def partition(self, side: Side, layout: Layout) -> Layout:
        """One thread's part of a layout, wherever it starts: ((FrgV,FrgX),RestM,RestN,...)."""
        whole = self.tidfrg(side, layout)
        return layouts.slice_layout(self.partition_coord(whole, 0), whole)

    def partition_coord(self, whole: Layout, thread: Any) -> Any:
        """The coordinate in `tidfrg`'s layout that slices a thread's part out of it."""
        assert isinstance(whole.shape, tuple)
        return (thread, None, (None,) * rank(whole.shape[2]))

    def retile(self, layout: Layout) -> Layout:
        """A fragment (V, M, N, ...) of an MMA with the tile's values as this copy moves them:
        ((FrgV,FrgX),RestM,RestN,...).

        Raises LayoutError where the fragment's values are not those of the tile.
        """
        return _retiled(self, layout)

    def tv_layout(self, side: Side) -> Layout:
        """(thread, value) -> index of the tile, on one side."""
        return _side_layout(self, side)


def make_tiled_copy(atom: CopyAtom, threads: Layout, values: Layout) -> TiledCopy:
    """From where threads stand, (m, n) -> thread, and which values each of them moves there,
    (m, n) -> value.

    Raises LayoutError where one of the two is not injective.
    """
    places = raked_product(threads, values)
    layout_tv = composition(right_inverse(places), Layout((threads.size(), values.size())))
    tiler = tuple(Layout(extent, 1) for extent in product_each(places.shape))
    return TiledCopy(atom, layout_tv, tiler)


def make_tiled_copy_of(which: Operand, atom: CopyAtom, mma: TiledMma) -> TiledCopy:
    """The copy that moves what the MMA's threads hold of an operand: make_tiled_copy_A, B, C."""
    tiler = tuple(Layout(extent, 1) for extent in mma.tile_of(which))
    return TiledCopy(atom, mma.tv_layout(which), tiler)


# --- source and destination -----------------------------------------------------------------------


@cache
def _side_layout(copy: TiledCopy, side: Side) -> Layout:
    """((trg_tid,rest_tid),(trg_val,rest_val)) -> index of the tile."""
    traits = copy.traits
    atoms = zipped_divide(copy.layout_tv, (traits.threads, traits.values))
    target = composition(atoms[0], traits.to_reference(side))
    paired = make_layout(*(make_layout(target[i], atoms.mode(1, i)) for i in range(2)))
    return coalesce(paired, (1, (1, 1)))


def _dealt(copy: TiledCopy, side: Side, layout: Layout) -> Layout:
    tiles = tiling.zipped_divide(layout, copy.tiler)
    inside, rest = layouts.modes(tiles)
    threads, values = layouts.modes(layouts.composition(inside, copy.tv_layout(side)))
    return layouts.joined([threads, values, rest])


_known_dealt = cache(_dealt)


# --- retile ---------------------------------------------------------------------------------------


@cache
def _retiled(copy: TiledCopy, layout: Layout) -> Layout:
    values = layout[0].size()
    places = composition(right_inverse(copy.layout_tv), Layout(copy.tile_shape))
    # (m, n) -> value, in units of the fragment's first mode
    by_tile = upcast(copy.threads * values, places)
    per_mode = product_each(by_tile.shape)
    every = logical_product(Layout(values, 1), right_inverse(by_tile))
    order = zipped_divide(every, Layout(copy.traits.values, 1))
    for i, wanted in enumerate(per_mode, 1):
        if i >= rank(layout.shape) or layout[i].size() % wanted:
            raise LayoutError(f"expected a fragment with a multiple of {wanted} in mode {i}")
    tiles = zipped_divide(layout, (values, *per_mode))
    retiled = composition(tiles[0], order)
    return make_layout(retiled, *(tiles.mode(1, i) for i in range(1, layout.rank())))


def why_no_tiled_copy(copy: TiledCopy) -> str | None:
    """Why the parts make no tiled copy, or None where they do."""
    layout, traits = copy.layout_tv, copy.traits
    for kept in (layout, *tile_layouts(copy.tiler)):
        if (reason := why_not("layout", kept)) is not None:
            return reason
    if rank(layout.shape) != 2 or not layouts.known(layout) or has_basis(layout.stride):
        return f"expected layout_tv to be a static layout of (thread, value), got {layout}"
    if not all(isinstance(mode, Layout) and layouts.known(mode) for mode in copy.tiler):
        return (
            f"expected tiler_mn to have a static layout for each mode, got {tile_text(copy.tiler)}"
        )
    for what, has, of_atom in (
        ("threads", copy.threads, traits.threads),
        ("values", copy.values, traits.values),
    ):
        if has % of_atom:
            nearest = max(round(has / of_atom), 1) * of_atom
            return (
                f"expected {what} for whole atoms of {of_atom}, got {has} in {layout}; "
                f"nearest legal: {nearest}"
            )
    tile = prod(copy.tile_shape)
    if not covers(layout, tile):
        return (
            f"expected layout_tv to cover the tile of {tile} elements, each once, got {layout} "
            f"on a tile of {'x'.join(map(str, copy.tile_shape))}"
        )
    return None
