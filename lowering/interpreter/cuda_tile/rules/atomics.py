"""Rules of atomic operations: read-modify-write, compare-and-swap, reductions into views.

The elements of one operation, and the blocks of a gang, take their turns in row-major order; that
is one of the orders that Tile IR allows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.enums import AtomicRMWMode
from tilewright.dialects.cuda_tile.ops.memory import AtomicCASTkoOp, AtomicRMWTkoOp
from tilewright.dialects.cuda_tile.ops.multimem import MultimemReduceViewTkoOp
from tilewright.dialects.cuda_tile.ops.views import AtomicRedViewTkoOp
from tilewright.dialects.integers import integer_of
from tilewright.lowering.interpreter.array_types import Int64Array
from tilewright.lowering.interpreter.cuda_tile.accesses import Kind
from tilewright.lowering.interpreter.cuda_tile.blocks import (
    Preparation,
    Step,
    acting,
    runs,
    taking_poison,
)
from tilewright.lowering.interpreter.cuda_tile.elements import (
    Element,
    Tile,
    as_unsigned,
    pointee_of,
)
from tilewright.lowering.interpreter.cuda_tile.float_arithmetic import arithmetic
from tilewright.lowering.interpreter.cuda_tile.footprints import Footprint
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.memory_access import (
    Ordering,
    pointed,
    unwritten,
    writable,
)
from tilewright.lowering.interpreter.cuda_tile.poison import (
    MASKED,
    AnyTile,
    determined,
    marks_of,
    of_rows,
    tile_of,
    with_marks,
)
from tilewright.lowering.interpreter.cuda_tile.values import TiledView
from tilewright.lowering.interpreter.cuda_tile.view_places import places
from tilewright.lowering.interpreter.errors import Fault

Combine = Callable[[Tile, Tile], Tile]


def combination(mode: str, element: Element) -> Combine:
    """The new value, by an atomic mode, of the old one and the operand. Where f32 are added there
    are no subnormal numbers, as in PTX."""
    if mode == "addf" or (mode == "add" and element.kind == "float"):
        return arithmetic("add", element, "nearest_even", flush=element.name == "f32")
    if element.kind == "float" and mode in ("min", "max"):
        return np.fmin if mode == "min" else np.fmax
    return _INTEGER[mode]


def _unsigned(ufunc: Any) -> Combine:
    return lambda old, new: ufunc(as_unsigned(old), as_unsigned(new)).view(old.dtype)


_INTEGER: dict[str, Combine] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "add": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "umax": _unsigned(np.maximum),
    "umin": _unsigned(np.minimum),
    "xchg": lambda old, new: new,
}


def in_turns(offsets: Int64Array) -> list[Any]:
    """Indices into flat offsets, in groups without repetition: the k-th has every offset's k-th
    appearance. A slice of everything where none repeats."""
    if len(offsets) == 1:
        return [slice(None)]
    order = np.argsort(offsets, kind="stable")
    ranked = offsets[order]
    first = np.concatenate(([True], ranked[1:] != ranked[:-1]))
    if first.all():
        return [slice(None)]
    starts = np.flatnonzero(first)
    turn = np.arange(len(offsets)) - np.repeat(starts, np.diff(starts, append=len(offsets)))
    by_turn = np.argsort(turn, kind="stable")
    return [order[chosen] for chosen in np.split(by_turn, np.cumsum(np.bincount(turn))[:-1])]


def update(
    footprint: Footprint, element: Element, rows: int, change: Callable[[Tile, Any], Tile]
) -> Tile:
    """Replace elements by `change(old, chosen)`, in turns; returns what was there before, as flat
    elements of the footprint in row-major order. `rows` blocks each do it if the footprint is
    one for all."""
    empty = unwritten(footprint)
    if empty is not None and empty.any():
        raise Fault(f"expected memory that something has written, got {footprint.allocation.name}")
    elements = writable(footprint).elements(element.dtype)
    offsets = flat_offsets(footprint, rows)
    old = np.empty(len(offsets), element.dtype)
    for chosen in in_turns(offsets):
        where = offsets[chosen]
        before = elements[where]
        old[chosen] = before
        elements[where] = change(before, chosen)
    return old


def flat_offsets(footprint: Footprint, rows: int) -> Int64Array:
    """The elements of a footprint, in row-major order; once for every block."""
    if (scatter := footprint.scatter) is not None:
        shape = _shape(footprint, rows)
        offsets = np.broadcast_to(scatter.offsets, shape)
        if scatter.mask is None:
            return offsets.ravel()
        return offsets[np.broadcast_to(scatter.mask, shape)]
    elements = [footprint.elements_of(row) for row in range(len(footprint.low))]
    return np.concatenate(elements * (rows if len(elements) == 1 else 1))


def _shape(footprint: Footprint, rows: int) -> tuple[int, ...]:
    return (rows, *footprint.tile)


def _operand(tile: AnyTile, footprint: Footprint, rows: int) -> Tile:
    """The operand's elements for `flat_offsets`."""
    shape, inside = _shape(footprint, rows), footprint.inside()
    known = determined(tile, "operands of an atomic", footprint.inside)
    whole = np.broadcast_to(known, shape)
    return whole.ravel() if inside is None else whole[np.broadcast_to(inside, shape)]


def _through_pointers(op: Any, compare: Any, plain: Any, left_out: int | None = None) -> Step:
    """A step that updates what pointers point to and returns what was there; where its mask leaves
    one out, the `plain` operand, which may be undefined, of that number."""
    ordering, element = Ordering(op, Kind.ATOMIC), pointee_of(op.pointers.type)
    ordering.kind = Kind.ATOMIC
    pointers, optional = op.pointers, (op.mask, op.token)

    def run(frame: Frame, *_: Any) -> tuple[AnyTile, int]:
        mask, token = map(frame.optional, optional)
        mask = determined(mask, "a mask")
        addresses = determined(frame[pointers], "addresses", of_rows(mask))
        own = before = token or 0
        rows = frame.count
        unchanged: Any = frame[plain]
        result = np.array(np.broadcast_to(tile_of(unchanged), (rows, *addresses.shape[1:])))
        for footprint, part in pointed(frame, addresses, element, mask):
            own |= ordering.note(frame, footprint, before)
            change = compare(frame, footprint, rows)
            old = update(footprint, element, rows, change)
            if part is None:
                result = old.reshape(result.shape)
            else:
                result[np.broadcast_to(part, result.shape)] = old
        if mask is None:
            return result, own
        marks = (
            marks_of(unchanged)
            if left_out is None
            else np.asarray(left_out, np.min_scalar_type(left_out))
        )
        return with_marks(result, np.where(mask, 0, marks)), own

    return taking_poison(acting(op, run))


@runs
def _rmw(op: AtomicRMWTkoOp, preparation: Preparation) -> Step:
    combine = combination(_case(op, "mode", AtomicRMWMode), pointee_of(op.pointers.type))
    argument = op.arg

    def change(frame: Frame, footprint: Footprint, rows: int) -> Callable[[Tile, Any], Tile]:
        tile: Any = frame[argument]
        operand = _operand(tile, footprint, rows)
        return lambda old, chosen: combine(old, operand[chosen])

    # Tile IR leaves the result of what is masked out to the implementation.
    return _through_pointers(op, change, argument, preparation.left_open(op, MASKED))


@runs
def _cas(op: AtomicCASTkoOp, _: Preparation) -> Step:
    expected, desired = op.cmp, op.val

    def change(frame: Frame, footprint: Footprint, rows: int) -> Callable[[Tile, Any], Tile]:
        tiles: Any = (frame[expected], frame[desired])
        compared, swapped = (_operand(tile, footprint, rows) for tile in tiles)

        def swap(old: Tile, chosen: Any) -> Tile:
            equal = as_unsigned(old) == as_unsigned(compared[chosen])
            return np.where(equal, swapped[chosen], old)

        return swap

    return _through_pointers(op, change, expected)


def _case(op: Operation, name: str, enum: Any) -> str:
    return str(list(enum)[integer_of(op.properties[name])].value)


def _into_view(op: Any, mode: str, tile_value: Any) -> Step:
    ordering = Ordering(op, Kind.ATOMIC)
    view_value, indices, token_value = op.view, tuple(op.index), op.token

    def run(frame: Frame, *_: Any) -> int:
        view: Any = frame[view_value]
        assert isinstance(view, TiledView)
        element = view.tensor.element
        combine = combination(mode, element)
        index: Any = tuple(determined(frame[value], "indices") for value in indices)
        token = frame.optional(token_value, 0)
        tile: Any = frame[tile_value]
        own = token
        for place in places(frame, op, view, index):
            some = place.of(frame)
            own |= ordering.note(some, place.footprint, token)
            part = place.part_of(tile, "operands of an atomic", frame.count)
            operand = _operand(part, place.footprint, some.count)
            update(
                place.footprint,
                element,
                some.count,
                lambda old, chosen, operand=operand: combine(old, operand[chosen]),
            )
        return own

    return taking_poison(acting(op, run))


@runs
def _reduce(op: AtomicRedViewTkoOp, _: Preparation) -> Step:
    return _into_view(op, _case(op, "mode", AtomicRMWMode), op.value)


@runs
def _reduce_all(op: MultimemReduceViewTkoOp, _: Preparation) -> Step:
    return _into_view(op, op.kind.value, op.tile)
