"""Folds whose result no order changes, by NumPy's own reductions: integers, maximum, minimum.

A floating maximum that is neither a NaN nor a zero is the same element in any order; rows that
have another are folded again in the order that is stated.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.ops.operation import is_signed, word
from tilewright.lowering.interpreter.cuda_tile.elements import Tile, as_unsigned, element_of_tile
from tilewright.lowering.interpreter.cuda_tile.rules.pointwise import flag

Fold = Callable[[Tile], Tile]
_FLOATS = {"maxf": np.maximum, "minf": np.minimum}
_INTEGERS = {
    "addi": np.add,
    "muli": np.multiply,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "maxi": np.maximum,
    "mini": np.minimum,
}


def in_any_order(op: Operation, in_order: Fold, axis: int) -> Fold | None:
    """The fold along an axis by the one op of a region, or None where its order counts or is not
    worth to forget. `in_order` folds any tile along the same axis, in the order that is stated."""
    name = op.name.removeprefix("cuda_tile.")
    element = element_of_tile(op.results[0].type)
    if name in _FLOATS and element.name in ("f32", "f64") and not flag(op, "flush_to_zero"):
        return partial(_extremes, _FLOATS[name], in_order, axis)
    plain = word(op, "overflow", "none") == "none" and element.dtype != np.bool_
    if name not in _INTEGERS or not plain:
        return None
    ufunc, dtype = _INTEGERS[name], element.dtype
    if name in ("maxi", "mini") and not is_signed(op):
        return lambda tile: ufunc.reduce(as_unsigned(tile), axis).view(dtype)
    return lambda tile: ufunc.reduce(tile, axis, dtype)


def _extremes(ufunc: np.ufunc, in_order: Fold, axis: int, tile: Tile) -> Tile:
    result: Tile = ufunc.reduce(tile, axis)
    unsure = (result == 0) | (result != result)
    if unsure.any():
        result[unsure] = in_order(_alone(tile, unsure, axis)).ravel()
    return result


def _alone(tile: Tile, chosen: Tile, axis: int) -> Tile:
    """The chosen rows of a tile, as one tile along whose axis they lie."""
    rows = np.moveaxis(tile, axis, -1)[chosen]
    return np.ascontiguousarray(rows.reshape(len(rows), *[1] * (axis - 1), -1))
