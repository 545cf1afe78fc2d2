"""Where the elements of a tensor are, one after the other: in a memory, by an image.

The image of an element is linear in its coordinates: each mode of a flat layout gives a step.
"""

from functools import cache
from itertools import product
from typing import Any

from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute.int_tuple import flatten, is_tuple
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.evaluate import image
from tilewright.dialects.cute.symbolic.scalar import Scalar
from tilewright.dialects.cute.symbolic.tuples import tuple_sum
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.types.tensors import element_type
from tilewright.dialects.frozen import frozen


@frozen
class Memory:
    """A line of elements: `memref<?xT>` in global memory, in shared memory with its swizzle; of
    bytes, where elements are less."""

    value: SSAValue
    space: str


_BYTE = 8


def per_item(tensor: Tensor) -> int:
    """How many elements of a tensor an item of its line holds."""
    return max(_BYTE // tensor.bits, 1)


def item_type(tensor: Tensor) -> Attribute:
    """The type of the items of a tensor's line."""
    return i8 if tensor.bits < _BYTE else element_type(tensor.element)


Coordinates = tuple[tuple[int, ...], ...]


@cache
def coordinates(extents: tuple[int, ...]) -> Coordinates:
    """The coordinates of a flat shape, the first mode running fastest."""
    ranges = [range(extent) for extent in reversed(extents)]
    return tuple(at[::-1] for at in product(*ranges))


class Places:
    """The images of a layout of static shape and integer strides, some of them not known."""

    def __init__(self, layout: Layout):
        self._modes: list[tuple[int, Any]] = [
            (extent, step)
            for extent, step in layout.leaves
            if isinstance(extent, int) and extent != 1
        ]

    def __getitem__(self, place: int) -> Scalar:
        known = 0
        rest: list[Scalar] = []
        for extent, step in self._modes:
            place, at = divmod(place, extent)
            if not at:
                continue
            if isinstance(step, int):
                known += step * at
            else:
                rest.append(scalar.mul(step, at))
        add: Scalar = known
        for term in rest:
            add = scalar.add(term, add)
        return add


@cache
def static_places(layout: Layout) -> tuple[int, ...]:
    """The images of a static layout."""
    places = Places(layout)
    images = [places[i] for i in range(layout.size())]
    return tuple(place for place in images if isinstance(place, int))


@cache
def steps_of(layout: Layout, zeros: Any) -> Coordinates:
    """How far the coordinate of each element of a layout of bases is from that of the first one, by
    dimension."""
    flat = Layout(flatten(layout.shape), flatten(layout.stride))  # type: ignore[arg-type]
    modes = [flat_tuple(tuple_sum(zeros, image(flat.mode(i), 1))) for i in range(flat.rank())]
    extents = flatten(layout.shape)
    used = [i for i, extent in enumerate(extents) if extent != 1]
    dimensions = range(len(flat_tuple(zeros)))
    return tuple(
        tuple(sum(at[i] * modes[i][dimension] for i in used) for dimension in dimensions)
        for at in coordinates(extents)  # type: ignore[arg-type]
    )


def flat_tuple(t: Any) -> list[Any]:
    """The leaves of a tuple."""
    return [leaf for mode in t for leaf in flat_tuple(mode)] if is_tuple(t) else [t]


def zeros_like(t: Any) -> Any:
    """A tuple of that profile."""
    return tuple(map(zeros_like, t)) if is_tuple(t) else 0
