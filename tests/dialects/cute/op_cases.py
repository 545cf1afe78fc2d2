"""Operands for every op of the `cute` dialect: `CASES` draws those of an op and the arguments
behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from layout_strategies import injective_layouts, layouts, power_of_two_layouts, shapes

from tilewright.dialects import cute
from tilewright.dialects.cute import (
    ComposedLayout,
    Layout,
    ScaledBasis,
    Swizzle,
    flatten,
    unflatten,
)
from tilewright.dialects.cute.int_tuple import has_underscore
from tilewright.dialects.cute.values import Typed

Drawn = tuple[list[Typed], tuple[Any, ...]]
Draw = Callable[[st.DrawFn], Drawn]
CASES: dict[str, Draw] = {}
STATIC: dict[str, tuple[int, ...]] = {}
"""The operands, by number, that an op wants to know when it is verified."""


def case(*names: str, static: tuple[int, ...] = ()) -> Callable[[Draw], Draw]:
    """Register how the operands of some ops are drawn."""

    def register(draw: Draw) -> Draw:
        for name in names:
            CASES[name] = draw
            STATIC[name] = static
        return draw

    return register


# --- values ---------------------------------------------------------------------------------------


def like(draw: st.DrawFn, profile: Any, leaves: st.SearchStrategy[Any]) -> Any:
    """Other leaves in the same profile."""
    return unflatten(tuple(draw(leaves) for _ in flatten(profile)), profile)


SMALL = st.integers(-9, 9)
POSITIVE = st.integers(1, 9)
BASES = st.builds(ScaledBasis, st.integers(1, 5), st.sampled_from([(0,), (1,)]))
SWIZZLES = st.sampled_from(
    [Swizzle(1, 2, 3), Swizzle(2, 0, 3), Swizzle(2, 1, -3), Swizzle(3, 2, 3)]
)


@st.composite
def int_tuples(draw: st.DrawFn, leaves: st.SearchStrategy[int] = SMALL) -> Any:
    return like(draw, draw(shapes()), leaves)


@st.composite
def strides(draw: st.DrawFn) -> Any:
    return like(draw, draw(shapes()), draw(st.sampled_from([SMALL, BASES])))


@st.composite
def composed(draw: st.DrawFn, outer: st.SearchStrategy[Layout] | None = None) -> ComposedLayout:
    layout = draw(layouts() if outer is None else outer)
    inner = draw(st.one_of(SWIZZLES, power_of_two_layouts()))
    return ComposedLayout(inner, draw(st.integers(1, 40)), layout)


@st.composite
def tiles(draw: st.DrawFn, underscores: bool = True) -> Any:
    modes = [layouts(2), layouts(2), *([st.none()] if underscores else [])]
    return tuple(draw(st.one_of(modes)) for _ in range(draw(st.integers(1, 3))))


@st.composite
def coords(draw: st.DrawFn) -> Any:
    return like(draw, draw(shapes()), st.one_of(SMALL, st.none()))


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "int_tuple": int_tuples(),
    "shape": shapes(),
    "stride": strides(),
    "coord": coords(),
    "tile": tiles(),
    "layout": layouts(),
    "composed_layout": composed(),
    "swizzle": SWIZZLES,
}


LEAVES = ("int_tuple", "shape", "stride", "coord", "tile")


def typed(draw: st.DrawFn, *kinds: str) -> Typed:
    kind = draw(st.sampled_from(kinds))
    return Typed(kind, draw(VALUES[kind]))


def as_layout(layout: Layout | ComposedLayout) -> Typed:
    return Typed("layout" if isinstance(layout, Layout) else "composed_layout", layout)


def any_layout(draw: st.DrawFn, outer: st.SearchStrategy[Layout]) -> Typed:
    return as_layout(draw(st.one_of(outer, composed(outer))))


def modes_of(value: Typed) -> Any:
    return value.value.shape if "layout" in value.kind else value.value


# --- constructors and accessors -------------------------------------------------------------------

INDEXED = ("shape", "int_tuple", "coord", "stride", "tile", "layout", "composed_layout")


def _one_of(*kinds: str) -> Draw:
    """One operand, of any of some kinds."""
    return lambda draw: ([typed(draw, *kinds)], ())


# Made from its leaves, the operand of `make_` is the result.
case("static", *(f"make_{kind}" for kind in LEAVES))(_one_of(*VALUES))
case("make_layout_like", "get_stride")(_one_of("layout"))
case("make_identity_layout")(_one_of("shape"))
case("composed_get_inner", "composed_get_offset", "composed_get_outer")(_one_of("composed_layout"))
case("to_shape", "to_stride", "to_coord")(_one_of("int_tuple"))
case("get_leaves")(_one_of("shape", "stride", "coord", "int_tuple", "tile"))
case("flatten")(_one_of(*INDEXED))
case("tuple_product", "tuple_product_each")(_one_of("int_tuple", "shape"))
case("cosize")(lambda draw: ([typed(draw, "layout")], ((),)))
case("right_inverse", "left_inverse", static=(0,))(
    lambda draw: ([Typed("layout", draw(injective_layouts()))], ())
)


@case("make_layout")
def _(draw: st.DrawFn) -> Drawn:
    layout = draw(layouts())
    return [Typed("shape", layout.shape), Typed("stride", layout.stride)], ()


@case("make_composed_layout")
def _(draw: st.DrawFn) -> Drawn:
    value = draw(composed())
    inner = Typed("layout" if isinstance(value.inner, Layout) else "swizzle", value.inner)
    return [inner, Typed("int_tuple", value.offset), Typed("layout", value.outer)], ()


@case("make_ordered_layout", static=(1,))
def _(draw: st.DrawFn) -> Drawn:
    shape = draw(shapes())
    return [Typed("shape", shape), Typed("int_tuple", like(draw, shape, SMALL))], ()


@case("get_shape")
def _(draw: st.DrawFn) -> Drawn:
    tile = Typed("tile", draw(tiles(underscores=False)))
    return [draw(st.sampled_from([tile, typed(draw, "layout", "composed_layout")]))], ()


@case("to_int_tuple")
def _(draw: st.DrawFn) -> Drawn:
    kind = draw(st.sampled_from(["shape", "stride", "coord", "int_tuple"]))
    return [Typed(kind, draw(int_tuples(POSITIVE)))], ()


@case("get_layouts_from_tile")
def _(draw: st.DrawFn) -> Drawn:
    tile = draw(tiles().filter(lambda tile: any(leaf is not None for leaf in tile)))
    return [Typed("tile", tile)], ()


@case("get_scalars")
def _(draw: st.DrawFn) -> Drawn:
    return [typed(draw, *VALUES)], (draw(st.booleans()),)


@case("get")
def _(draw: st.DrawFn) -> Drawn:
    value = typed(draw, *INDEXED)
    path: list[int] = []
    t = modes_of(value)
    while isinstance(t, tuple) and draw(st.booleans()):
        path.append(draw(st.integers(0, len(t) - 1)))
        t = t[path[-1]]
    return [value], (tuple(path),)


@case("select")
def _(draw: st.DrawFn) -> Drawn:
    value = typed(draw, *INDEXED)
    count = cute.rank(modes_of(value))
    return [value], (tuple(draw(st.permutations(range(count)))[: draw(st.integers(1, count))]),)


# --- layout algebra -------------------------------------------------------------------------------


@case("composition")
def _(draw: st.DrawFn) -> Drawn:
    left = any_layout(draw, power_of_two_layouts())
    right = draw(st.sampled_from(["layout", "shape", "tile"]))
    if right == "layout":
        return [left, Typed("layout", draw(power_of_two_layouts()))], ()
    count = draw(st.integers(1, cute.rank(left.value.shape)))
    columns = tuple(draw(st.sampled_from([1, 2, 4])) for _ in range(count))
    tile = tuple(Layout(n, draw(st.sampled_from([1, 2]))) for n in columns)
    return [left, Typed("shape", columns) if right == "shape" else Typed("tile", tile)], ()


@case("coalesce")
def _(draw: st.DrawFn) -> Drawn:
    source = any_layout(draw, layouts())
    if draw(st.booleans()):
        return [source], ()
    count = draw(st.integers(1, cute.rank(source.value.shape)))
    return [source, Typed("coord", (1,) * count)], ()


@case("complement", static=(0,))
def _(draw: st.DrawFn) -> Drawn:
    source = Typed("layout", draw(injective_layouts()))
    if draw(st.booleans()):
        return [source], ()
    return [source, Typed("shape", draw(st.sampled_from([64, 720, (12, 100)])))], ()


@case("group_modes")
def _(draw: st.DrawFn) -> Drawn:
    source = any_layout(draw, layouts().filter(lambda each: isinstance(each.shape, tuple)))
    begin = draw(st.integers(0, cute.rank(source.value.shape) - 1))
    return [source], (begin, draw(st.integers(begin + 1, cute.rank(source.value.shape))))


@case("recast_layout")
def _(draw: st.DrawFn) -> Drawn:
    # A mode of extent 1 would make two of stride 1, and each of them grows.
    bits = st.sampled_from([8, 16, 32])
    layout = draw(power_of_two_layouts().filter(lambda each: 1 not in flatten(each.shape)))
    return [Typed("layout", layout)], (draw(bits), draw(bits))


@case("slice")
def _(draw: st.DrawFn) -> Drawn:
    source = typed(draw, "shape", "int_tuple", "stride", "layout", "composed_layout")
    modes = modes_of(source)
    coord = like(draw, modes, st.one_of(st.integers(0, 3), st.none()))
    if source.kind == "composed_layout" and not has_underscore(coord):
        coord = like(draw, modes, st.none())
    return [source, Typed("coord", coord)], ()


@case("dice", static=(1,))
def _(draw: st.DrawFn) -> Drawn:
    source = typed(draw, "shape", "int_tuple", "stride", "layout")
    coord = like(draw, modes_of(source), st.one_of(st.integers(0, 3), st.none()))
    return [source, Typed("coord", coord)], ()


# --- sizes and indices ----------------------------------------------------------------------------


@case("size")
def _(draw: st.DrawFn) -> Drawn:
    value = typed(draw, "shape", "layout", "composed_layout")
    count = cute.rank(modes_of(value))
    return [value], (draw(st.sampled_from([(), (draw(st.integers(0, count - 1)),)])),)


def _coordinate(draw: st.DrawFn, shape: Any) -> Any:
    index = draw(st.integers(0, cute.size(shape) - 1))
    return draw(st.sampled_from([index, cute.idx2crd(index, shape)]))


@case("layout_eval")
def _(draw: st.DrawFn) -> Drawn:
    layout = any_layout(draw, layouts())
    return [Typed("coord", _coordinate(draw, layout.value.shape)), layout], ()


@case("crd2idx")
def _(draw: st.DrawFn) -> Drawn:
    shape = draw(shapes())
    return [Typed("coord", _coordinate(draw, shape)), Typed("shape", shape)], ()


@case("idx2crd")
def _(draw: st.DrawFn) -> Drawn:
    shape = draw(shapes())
    index = draw(st.integers(0, cute.size(shape) - 1))
    return [Typed("int_tuple", index), Typed("shape", shape)], ()


@case("increment_coord")
def _(draw: st.DrawFn) -> Drawn:
    shape = draw(shapes())
    coord = cute.idx2crd(draw(st.integers(0, cute.size(shape) - 1)), shape)
    return [Typed("coord", coord), Typed("shape", shape)], ()


@case("append_to_rank", "prepend_to_rank")
def _(draw: st.DrawFn) -> Drawn:
    kind = draw(st.sampled_from(["int_tuple", "shape", "stride", "layout"]))
    if kind == "layout":
        source, element = (Typed(kind, draw(layouts())) for _ in range(2))
    else:
        source, element = (Typed(kind, draw(int_tuples(POSITIVE))) for _ in range(2))
    return [source, element], (cute.rank(modes_of(source)) + draw(st.integers(0, 2)),)


# --- arithmetic -----------------------------------------------------------------------------------


def _pair(draw: st.DrawFn, kind: str, leaves: st.SearchStrategy[int]) -> list[Typed]:
    value = draw(int_tuples(leaves))
    return [Typed(kind, value), Typed(kind, like(draw, value, leaves))]


@case("tuple_add", "tuple_sub")
def _(draw: st.DrawFn) -> Drawn:
    return _pair(draw, draw(st.sampled_from(["int_tuple", "shape"])), SMALL), ()


@case("shape_div")
def _(draw: st.DrawFn) -> Drawn:
    return _pair(draw, "shape", st.sampled_from([1, 2, 4, 8])), ()


@case("ceil_div")
def _(draw: st.DrawFn) -> Drawn:
    source, divisor = _pair(draw, "int_tuple", POSITIVE)
    return [source, draw(st.sampled_from([divisor, Typed("int_tuple", draw(POSITIVE))]))], ()


@case("elem_less")
def _(draw: st.DrawFn) -> Drawn:
    return _pair(draw, draw(st.sampled_from(["int_tuple", "shape", "coord"])), POSITIVE), ()


@case("equal")
def _(draw: st.DrawFn) -> Drawn:
    value = typed(draw, "int_tuple", "shape", "coord", "stride", "layout")
    return [value, draw(st.sampled_from([value, typed(draw, value.kind)]))], ()


# --- tiling ---------------------------------------------------------------------------------------


@case("logical_divide", "zipped_divide", "tiled_divide", "flat_divide", static=(1,))
def _(draw: st.DrawFn) -> Drawn:
    source = any_layout(draw, power_of_two_layouts())
    if draw(st.booleans()):
        return [source, Typed("layout", draw(power_of_two_layouts()))], ()
    count = draw(st.integers(1, cute.rank(source.value.shape)))
    return [
        source,
        Typed("shape", tuple(draw(st.sampled_from([1, 2, 4])) for _ in range(count))),
    ], ()


@case(
    *("logical_product", "zipped_product", "tiled_product", "flat_product"),
    *("blocked_product", "raked_product"),
    static=(0,),
)
def _(draw: st.DrawFn) -> Drawn:
    return [
        Typed("layout", draw(injective_layouts(3))),
        Typed("layout", draw(power_of_two_layouts())),
    ], ()


@case("tile_to_shape", static=(0, 2))
def _(draw: st.DrawFn) -> Drawn:
    count = draw(st.integers(1, 3))
    extents = tuple(draw(st.sampled_from([1, 2, 4])) for _ in range(count))
    block = Layout(extents)
    shape = tuple(extent * draw(st.sampled_from([1, 2, 3])) for extent in extents)
    operands = [Typed("layout", block), Typed("shape", shape)]
    if draw(st.booleans()):
        operands.append(Typed("int_tuple", tuple(draw(st.permutations(range(count))))))
    return operands, ()
