"""The layout algebra: coalesce, composition and complement, and what follows from them.

    coalesce     the same function in its shortest spelling
    composition  A after B
    complement   what a layout leaves out, so that (L, complement(L)) covers its codomain

Layouts are functions on all indices from 0; the last mode goes on beyond the size. Functions that
take a ComposedLayout act on its `outer`, where its modes are.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias, cast

from tilewright.dialects.cute.int_tuple import LayoutError, Shape, flatten, is_tuple
from tilewright.dialects.cute.layout import Layout, make_layout, make_unchecked
from tilewright.dialects.cute.swizzle import AnyLayout, ComposedLayout, Same, on_outer

# What tiles: a layout, an extent, None for "leave as it is", or one of these for each mode.
Tiler: TypeAlias = Layout | int | tuple["Tiler", ...] | None


# --- coalesce and filter --------------------------------------------------------------------------


def coalesce(layout: Same, profile: Any = None) -> Same:
    """The same function with the fewest modes: (2,(1,6)):(1,(6,2)) -> 12:1.

    coalesce(L)(i) = L(i) for all i < size(L). This spelling is unique, up to which of them is
    `equivalent`. With a profile its leaves are coalesced one by one; further modes stay.
    Raises LayoutError when the profile has more modes than the layout.
    """
    if isinstance(layout, ComposedLayout):
        return layout.with_outer(coalesce(layout.outer, profile))
    if type(profile) is tuple:
        return _by_mode(layout, cast("tuple[Any, ...]", profile), coalesce)
    return from_modes(*merge_modes(layout.leaves))


@on_outer
def filter(layout: Layout, profile: Any = None) -> Layout:
    """`coalesce` without the modes of stride 0: (2,4,8):(8,1,0) -> (2,4):(8,1).

    The images are the same, without their repetitions along such modes. Raises LayoutError when the
    profile has more modes than the layout.
    """
    if type(profile) is tuple:
        return _by_mode(layout, cast("tuple[Any, ...]", profile), filter)
    return from_modes(*merge_modes([(s, d) for s, d in layout.leaves if d]))


def _by_mode(layout: Layout, profile: tuple[Any, ...], operation: Any) -> Layout:
    """`operation` on each mode with its part of the profile; further modes stay as they are."""
    modes = list(layout)
    if len(profile) > len(modes):
        raise LayoutError(f"expected a profile of rank at most {len(modes)}, got {profile}")
    return make_layout(*map(operation, modes, profile), *modes[len(profile) :])


def merge_modes(leaves: Iterable[tuple[int, Any]]) -> tuple[list[int], list[Any]]:
    """The modes without extents of 1, neighbours s:d and t:(s d) joined to (s t):d."""
    extents: list[int] = []
    strides: list[Any] = []
    reached: Any = None  # the stride at which a next mode continues the last one
    for s, d in leaves:
        if s != 1:
            if d == reached:
                extents[-1] *= s
            else:
                extents.append(s)
                strides.append(d)
            reached = s * d
    return extents, strides


def from_modes(extents: list[int], strides: list[Any]) -> Layout:
    """No modes are 1:0, one is an integer, more are a flat tuple."""
    if len(extents) == 1:
        return make_unchecked(extents[0], strides[0])
    if not extents:
        return make_unchecked(1, 0)
    return make_unchecked(tuple(extents), tuple(strides))


def equivalent(a: AnyLayout, b: AnyLayout) -> bool:
    """Equal as functions: the same size and the same value at every index below it.

    Layouts are compared by their coalesced form, which is unique: its first stride is the value at
    1, its first extent the first index where the value leaves that line, and so on for the rest.
    Two forms that pass through a swizzle are compared value by value.
    """
    if isinstance(a, Layout) and isinstance(b, Layout):
        return coalesce(a) == coalesce(b)
    if isinstance(a, ComposedLayout) and isinstance(b, ComposedLayout):
        same = a.inner == b.inner and a.offset == b.offset and equivalent(a.outer, b.outer)
        if same:
            return True
    return a.size() == b.size() and all(a(i) == b(i) for i in range(a.size()))


# --- composition ----------------------------------------------------------------------------------


def composition(a: Same, b: Tiler) -> Same:
    """A after B: composition(A, B)(c) = A(B(c)) for every coordinate c of B, in the shape of B.

    (20):(2) after (5,4):(4,1) -> (5,4):(8,2). Strides of B that are bases pick modes of A. A tuple
    composes mode by mode, dropping the modes of A beyond it; an integer n stands for n:1, None for
    the whole mode. Raises LayoutError where the function is no layout: a stride of B has to divide
    the extents it steps over or into, B's extents have to break where A's modes do, and modes of B
    that meet in one of A must not add up to more than it holds.
    """
    if isinstance(a, ComposedLayout):
        return a.with_outer(composition(a.outer, b))
    if not isinstance(b, Layout):
        if isinstance(b, tuple):
            if len(b) > a.rank():
                raise LayoutError(
                    f"composition: expected at most {a.rank()} tilers for {a}, got {len(b)}"
                )
            return make_layout(*(composition(mode, x) for mode, x in zip(a, b, strict=False)))
        if b is None:
            return a
        b = Layout(b, 1)
    return make_unchecked(*_compose(a, {(): _target(a)}, b.shape, b.stride))


def _merge_unbounded(layout: Layout) -> tuple[list[int], list[Any]]:
    """`merge_modes`, but keeping the last mode, whose values go on beyond the size."""
    leaves = layout.leaves
    if not leaves:
        return [1], [0]
    if leaves[-1][0] == 1:
        leaves = (*leaves[:-1], (2, leaves[-1][1]))
    return merge_modes(leaves)


# A left-hand side to step through: its merged extents and strides, the last extent unbounded, and
# how many steps the modes of the right-hand side may still take in each before they carry.
_Target: TypeAlias = tuple[list[int], list[Any], list[int]]


def _target(layout: Layout) -> _Target:
    extents, strides = _merge_unbounded(layout)
    return extents, strides, [extent - 1 for extent in extents]


def _compose(a: Layout, targets: dict[Any, _Target], shape: Any, stride: Any) -> tuple[Any, Any]:
    """Composition distributes over the modes of the right-hand side, as long as they do not carry.

    An integer stride steps through A, one that is a basis through the mode of A it names.
    """
    if type(stride) is int:
        return _compose_mode(targets[()], shape, stride)
    if not is_tuple(stride):
        if stride.modes not in targets:
            try:
                targets[stride.modes] = _target(a.mode(*stride.modes))
            except IndexError:
                raise LayoutError(f"composition: {a} has no mode for stride {stride}") from None
        return _compose_mode(targets[stride.modes], shape, stride.value)
    shapes: list[Any] = []
    strides: list[Any] = []
    target = targets[()]
    for s, d in zip(shape, stride, strict=True):
        if type(d) is int:
            s, d = _compose_mode(target, s, d)
        else:
            s, d = _compose(a, targets, s, d)
        shapes.append(s)
        strides.append(d)
    return tuple(shapes), tuple(strides)


def _compose_mode(target: _Target, rest: int, step: int) -> tuple[Any, Any]:
    """The target after rest:step, where that takes no thought."""
    extents, strides, _ = target
    if len(extents) == 1 or step == 0:
        return rest, strides[0] * step if step else 0
    if rest == 1:
        for extent in extents[:-1]:
            step = -(-step // extent)
        return 1, step * strides[-1]
    if step < 0:
        raise LayoutError(f"composition: {rest}:{step} leaves the domain of {len(extents)} modes")
    return _step_through(target, rest, step)


def _step_through(target: _Target, rest: int, step: int) -> tuple[Any, Any]:
    """The target after rest:step.

    The steps first pass whole modes over, then take every step-th element of the one they fall
    into, and from there on all elements of the following modes, until `rest` is used up.
    """
    extents, strides, _ = target
    last = len(extents) - 1
    shapes: list[int] = []
    results: list[Any] = []
    i = 0
    while i < last:
        extent = extents[i]
        if step >= extent:
            if step % extent:
                raise _indivisible("stride", step, i, extent, strides[i])
            step //= extent
        else:
            taken = -(-extent // step)
            if taken >= rest:
                break
            if extent % step:
                raise _indivisible("stride", step, i, extent, strides[i])
            if rest % taken:
                raise _indivisible("extent", rest, i, extent, strides[i])
            _take(target, i, (taken - 1) * step)
            shapes.append(taken)
            results.append(step * strides[i])
            rest //= taken
            step = 1
        i += 1
    if i < last:
        _take(target, i, (rest - 1) * step)
    if not shapes:
        return rest, step * strides[i]
    return (*shapes, rest), (*results, step * strides[i])


def _take(target: _Target, i: int, steps: int) -> None:
    """Use up room in mode i: two modes that meet in it must not add up to a carry."""
    extents, strides, room = target
    room[i] -= steps
    if room[i] < 0:
        raise LayoutError(
            f"composition: the right-hand modes together leave mode {i} of the coalesced left-hand "
            f"side, {extents[i]}:{strides[i]}, by {-room[i]}"
        )


def _indivisible(what: str, value: int, mode: int, extent: int, stride: Any) -> LayoutError:
    return LayoutError(
        f"composition: the right-hand {what}, {value} on reaching mode {mode} of the coalesced "
        f"left-hand side, does not divide with that mode, {extent}:{stride}"
    )


# --- complement -----------------------------------------------------------------------------------


def complement(layout: AnyLayout, cotarget: Shape | Layout = 1) -> Layout:
    """The indices of its codomain that a layout leaves out, in increasing order.

    With R = complement(L, n): R increases from 0, and shares no other value with L. Where every
    stride of L is a multiple of what lies below it, (L, R) reaches each value below n exactly once.
    4:2 in 16 -> (2,2):(1,8).
    Raises LayoutError when L is not injective (strides of 0 aside), or has negative strides or
    strides that are bases.
    """
    if isinstance(layout, ComposedLayout):
        layout = layout.outer
    modes = [(d, s) for s, d in layout.leaves if d and s != 1]
    if modes and type(modes[0][0]) is not int:
        raise LayoutError(f"complement: expected integer strides, got {layout}")
    modes.sort()
    extents: list[int] = []
    strides: list[int] = []
    covered = 1
    for d, s in modes:
        if d < covered:
            raise LayoutError(
                f"complement: expected an injective layout of positive strides, got {layout}, "
                f"whose mode {s}:{d} falls among the {covered} indices below it"
            )
        if d >= 2 * covered:
            extents.append(d // covered)
            strides.append(covered)
        covered = d * s
    rest = _ceil_quotient(cotarget, covered)
    if rest != 1:
        extents.append(rest)
        strides.append(covered)
    return from_modes(extents, strides)


def _ceil_quotient(target: Shape | Layout, divisor: int) -> int:
    """The size of ceil_div(target, divisor)."""
    if type(target) is int:
        return -(-target // divisor)
    result = 1
    for extent in flatten(target.shape if isinstance(target, Layout) else target):
        result *= -(-extent // divisor)
        divisor = -(-divisor // extent)
    return result
