"""What every function of the layout algebra gives, on numbers and on leaves that are known later,
as one digest a function: equal before and after a change that means to change nothing.

    python tests/dialects/cute/algebra_digests.py --count 100000 > before
    python tests/dialects/cute/algebra_digests.py --count 100000 | diff before -

An error counts as a result, with its words; the second digest of a line leaves the words out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Any

from tilewright.dialects import cute
from tilewright.dialects.cute import ComposedLayout, Layout, ScaledBasis, Swizzle
from tilewright.dialects.cute.int_tuple import flatten, rank, repeat_like, unflatten
from tilewright.dialects.cute.layout import make_unchecked
from tilewright.dialects.cute.recast import recast
from tilewright.dialects.cute.symbolic import (
    complements,
    composed,
    evaluate,
    layouts,
    tiling,
    tuples,
)
from tilewright.dialects.cute.symbolic.scalar import Dynamic, Multiple

EXTENTS = (1, 1, 2, 2, 3, 4, 4, 5, 6, 8, 16)
DIVISORS = (1, 2, 4, 8)

# --- random operands ------------------------------------------------------------------------------


def shape(random: Random, depth: int = 0) -> Any:
    if depth == 2 or random.random() < (0.2 if depth == 0 else 0.6):
        return random.choice(EXTENTS)
    return tuple(shape(random, depth + 1) for _ in range(random.randint(1, 3)))


def layout(random: Random, bases: bool = False) -> Layout:
    """Compact in some order, padded, broadcast, of any strides, or of bases."""
    given = shape(random)
    extents = flatten(given)
    kind = random.choice(("compact", "compact", "padded", "broadcast", "free"))
    if bases and random.random() < 0.2:
        return _of_bases(random, given)
    strides = [0] * len(extents)
    reached = 1
    for i in random.sample(range(len(extents)), len(extents)):
        reached *= random.choice((1, 1, 2, 3)) if kind == "padded" else 1
        strides[i] = reached
        reached *= extents[i]
        if kind == "broadcast" and random.random() < 0.4:
            strides[i] = 0
        if kind == "free":
            strides[i] = random.randint(-4, 24)
    return Layout(given, unflatten(tuple(strides), given))


def _of_bases(random: Random, given: Any) -> Layout:
    strides: list[Any] = []
    for _ in flatten(given):
        basis = ScaledBasis(random.choice((1, 2, 4)), (random.randrange(3),))
        strides.append(0 if random.random() < 0.1 else basis)
    return Layout(given, unflatten(tuple(strides), given))


def tiler(random: Random, whole: Layout) -> Any:
    """A layout, a shape, None, or one of these for some of the modes."""
    choice = random.random()
    if choice < 0.5:
        return layout(random)
    if choice < 0.6:
        return random.choice((None, *EXTENTS))
    count = random.randint(1, rank(whole.shape) + (random.random() < 0.1))
    return tuple(
        random.choice((None, random.choice(EXTENTS), layout(random))) for _ in range(count)
    )


def tile(t: Any) -> Any:
    """A tiler as the algebra of dynamic leaves takes it: layouts and underscores alone."""
    if isinstance(t, tuple):
        return tuple(map(tile, t))
    return Layout(t, 1) if isinstance(t, int) else t


def hidden(random: Random, t: Any) -> Any:
    """A value with some of its numbers for the run to know."""
    if isinstance(t, Layout):
        # Among bases a number is 0, which is known.
        stride = t.stride if tuples.has_basis(t.stride) else hidden(random, t.stride)
        return make_unchecked(hidden(random, t.shape), stride)
    if isinstance(t, tuple):
        return tuple(hidden(random, x) for x in t)
    if not isinstance(t, int) or random.random() < 0.7:
        return t
    kind = random.choice((Dynamic, Dynamic, Multiple))
    return kind(random.choice((32, 32, 64)), random.choice(DIVISORS))


def coord(random: Random, of: Any) -> Any:
    """A coordinate of a shape, some of its leaves underscores, some modes by their index."""
    if isinstance(of, tuple) and random.random() < 0.8:
        return tuple(coord(random, x) for x in of)
    return random.choice((None, 0, random.randrange(12)))


def through_swizzle(random: Random, outer: Layout) -> ComposedLayout:
    bits = random.randrange(4)
    swizzle = Swizzle(bits, random.randrange(5), bits + random.randrange(2))
    return ComposedLayout(swizzle, random.choice((0, 0, 8, 24)), outer)


# --- functions ------------------------------------------------------------------------------------


def on_numbers(random: Random) -> dict[str, Callable[[], Any]]:
    """Calls of `tilewright.dialects.cute`."""
    a, b = layout(random, bases=True), layout(random, bases=True)
    plain, by, profile = layout(random), tiler(random, a), shape(random)
    any_ = through_swizzle(random, plain) if random.random() < 0.3 else a
    s, t, number = shape(random), shape(random), random.randint(1, 40)
    at, place = coord(random, a.shape), random.randrange(60)
    order = unflatten(tuple(random.sample(range(9), len(flatten(s)))), s)
    divides = ("logical_divide", "zipped_divide", "tiled_divide", "flat_divide")
    products = ("logical_product", "zipped_product", "tiled_product", "flat_product")
    return {
        "call": lambda: any_(at),
        "coshape": lambda: (a.coshape(), a.cosize(), a.size(), a.depth(), a.rank()),
        "modes": lambda: [(str(mode), mode.mode(0)) for mode in any_],
        "flatten": lambda: a.flatten(),
        "coalesce": lambda: cute.coalesce(any_, random.choice((None, profile, a.shape))),
        "filter": lambda: cute.filter(any_, random.choice((None, profile))),
        "equivalent": lambda: cute.equivalent(a, cute.coalesce(a)) and cute.equivalent(a, b),
        "composition": lambda: cute.composition(any_, random.choice((b, by))),
        "complement": lambda: cute.complement(any_, random.choice((1, number, s, b))),
        "right_inverse": lambda: cute.right_inverse(a),
        "left_inverse": lambda: cute.left_inverse(a),
        "max_common_layout": lambda: cute.max_common_layout(a, b),
        "nullspace": lambda: cute.nullspace(a),
        **{name: lambda name=name: getattr(cute, name)(any_, by) for name in divides},
        **{name: lambda name=name: getattr(cute, name)(any_, by) for name in products},
        "blocked_product": lambda: cute.blocked_product(any_, b),
        "raked_product": lambda: cute.raked_product(any_, b),
        "tile_to_shape": lambda: cute.tile_to_shape(any_, s, random.choice((None, order))),
        "recast_layout": lambda: cute.recast_layout(
            random.choice((4, 8, 16, 32)), random.choice((4, 8, 16)), random.choice((a, any_))
        ),
        "make_layout": lambda: cute.make_layout(a, b),
        "make_identity_layout": lambda: cute.make_identity_layout(s),
        "make_ordered_layout": lambda: cute.make_ordered_layout(s, random.choice((order, t))),
        "make_layout_like": lambda: cute.make_layout_like(a),
        "append_to_rank": lambda: cute.append_to_rank(a, number % 5, random.choice((None, b))),
        "prepend_to_rank": lambda: cute.prepend_to_rank(a, number % 5, random.choice((None, b))),
        "group_modes": lambda: cute.group_modes(a, number % 3, place % 4),
        "select": lambda: cute.select(a, number % 3, place % 4),
        "slice_and_offset": lambda: cute.slice_and_offset(at, a),
        "dice_layout": lambda: cute.dice_layout(at, a),
        "slice": lambda: (cute.slice_(at, a.shape), cute.dice(at, a.shape)),
        "crd2idx": lambda: cute.crd2idx(at, a.shape),
        "idx2crd": lambda: cute.idx2crd(random.choice((place, s)), t),
        "crd2crd": lambda: cute.crd2crd(place, s, t),
        "coprofile": lambda: cute.coprofile(a.stride),
        "product": lambda: (cute.product(s), cute.product_each(s), cute.tuple_max(s)),
        "prefix_product": lambda: cute.prefix_product(s, number),
        "ceil_div": lambda: cute.ceil_div(s, random.choice((number, t))),
        "shape_div": lambda: cute.shape_div(s, random.choice((number, t, s))),
        "elem_scale": lambda: cute.elem_scale(s, t),
        "inner_product": lambda: cute.inner_product(s, repeat_like(s, number)),
        "weakly_congruent": lambda: (cute.weakly_congruent(s, t), cute.compatible(s, t)),
    }


def on_leaves(random: Random) -> dict[str, Callable[[], Any]]:
    """Calls of `tilewright.dialects.cute.symbolic`, half of them on numbers alone."""
    later = random.random() < 0.5

    def maybe(t: Any) -> Any:
        return hidden(random, t) if later else t

    a, b = (maybe(layout(random, bases=True)) for _ in range(2))
    plain, by = maybe(layout(random)), tile(tiler(random, a))
    any_ = through_swizzle(random, layout(random)) if random.random() < 0.5 else a
    s, t, number = maybe(shape(random)), maybe(shape(random)), random.randint(1, 40)
    at = maybe(coord(random, any_.shape))
    order = unflatten(tuple(random.sample(range(9), len(flatten(s)))), s)
    profile, path = shape(random), tuple(random.randrange(3) for _ in range(random.randrange(3)))
    shaped = unflatten(tuple(random.choice((1, 2, 6)) for _ in flatten(s)), s)
    divides = ("logical_divide", "zipped_divide", "tiled_divide", "flat_divide")
    products = ("logical_product", "tiled_product", "flat_product", "blocked_product",
                "raked_product")  # fmt: skip
    return {
        "evaluated": lambda: composed.evaluated(at, any_),
        "slice_any": lambda: composed.slice_any(at, any_),
        "dice_any": lambda: composed.dice_any(at, any_),
        "image": lambda: evaluate.image(a, random.choice((number, at))),
        "coshape": lambda: (evaluate.coshape(a), evaluate.cosize(a)),
        "coprofile": lambda: evaluate.coprofile(a),
        "crd2idx": lambda: evaluate.crd2idx(at, s),
        "idx2crd": lambda: evaluate.idx2crd(random.choice((number, t)), s),
        "increment_coord": lambda: evaluate.increment_coord(shaped, s),
        "modes": lambda: (list(layouts.modes(a)), layouts.mode(a, path)),
        "joined": lambda: layouts.joined([a, b]),
        "coalesce": lambda: layouts.coalesce(a, random.choice((None, profile))),
        "coalesce_open": lambda: layouts.coalesce_open(a, random.choice((None, profile))),
        "coalesce_shape": lambda: layouts.coalesce_shape(s),
        "filter_layout": lambda: layouts.filter_layout(a),
        "composition": lambda: layouts.composition(a, random.choice((b, by))),
        "flatten_layout": lambda: layouts.flatten_layout(a),
        "group_modes": lambda: layouts.group_modes(a, 0, number % rank(a.shape) + 1),
        "select": lambda: layouts.select(a, number % rank(a.shape), 0),
        "append_layout": lambda: layouts.append_layout(a, number % 5, b),
        "prepend_layout": lambda: layouts.prepend_layout(a, number % 5, b),
        "make_ordered_layout": lambda: layouts.make_ordered_layout(s, random.choice((order, t))),
        "make_layout_like": lambda: layouts.make_layout_like(a),
        "make_identity_layout": lambda: layouts.make_identity_layout(s),
        "tiler_to_layout": lambda: layouts.tiler_to_layout(tuple(x for x in (a, plain))),
        "complement": lambda: complements.complement(a),
        "complement_within": lambda: complements.complement_within(a, s),
        "complement_in": lambda: complements.complement_in(a, s),
        "right_inverse": lambda: complements.right_inverse(a),
        "left_inverse": lambda: complements.left_inverse(a),
        **{name: lambda name=name: getattr(tiling, name)(a, by) for name in divides},
        **{name: lambda name=name: getattr(tiling, name)(a, b) for name in products},
        "tile_to_shape": lambda: tiling.tile_to_shape(a, s, random.choice((None, order))),
        "ceil_div_by_tile": lambda: tiling.ceil_div_by_tile(s, by),
        "recast": lambda: recast(
            random.choice((4, 8, 16, 32)), random.choice((4, 8, 16)), random.choice((a, any_))
        ),
        "product": lambda: (tuples.product(s), tuples.product_each(s), tuples.size(s)),
        "prefix_products": lambda: tuples.prefix_products(s, random.choice((number, t))),
        "compact_col_major": lambda: tuples.compact_col_major(s, number),
        "ceil_div": lambda: tuples.ceil_div(s, random.choice((number, t))),
        "shape_div": lambda: tuples.shape_div(s, random.choice((number, t, s))),
        "tuple_sum": lambda: (tuples.tuple_sum(s, s), tuples.tuple_sum(s, t)),
        "tuple_difference": lambda: tuples.tuple_difference(s, random.choice((s, t))),
    }


FAMILIES = {"numbers": on_numbers, "leaves": on_leaves}


def digests(count: int) -> dict[str, tuple[str, str]]:
    """Of each function the digest of its results on so many operands, with errors' words and
    without."""
    hashes: dict[str, tuple[Any, Any]] = {}
    for family, calls in FAMILIES.items():
        for seed in range(count):
            random = Random(f"{family} {seed}")
            for name, call in calls(random).items():
                random.seed(f"{family} {seed} {name}")
                try:
                    result = words = repr(call())
                except Exception as error:  # whatever it is: it must stay
                    result, words = type(error).__name__, f"{type(error).__name__}: {error}"
                both = hashes.setdefault(f"{family}.{name}", (sha256(), sha256()))
                for digest, text in zip(both, (words, result), strict=True):
                    digest.update(text.encode() + b"\n")
    return {name: (a.hexdigest()[:16], b.hexdigest()[:16]) for name, (a, b) in hashes.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000)
    for name, both in digests(parser.parse_args().count).items():
        print(name, *both)


if __name__ == "__main__":
    main()
