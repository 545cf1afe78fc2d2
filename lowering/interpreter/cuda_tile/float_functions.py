"""Transcendental functions of tiles: what the chip approximates, and what mathematics says.

Tile IR leaves the last bits of these open. "exact" is the mathematical value rounded once;
"hardware" computes what compiled kernels do (docs/math.md); "fast" is NumPy's f32. f16 and bf16 go
through f32, as on the chip.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np

from tilewright.dialects.math_functions.approximations import fast
from tilewright.dialects.math_functions.code import Program, Value
from tilewright.dialects.math_functions.functions import APPROXIMATIONS, FUNCTIONS
from tilewright.dialects.math_functions.libdevice import LIBDEVICE, function_named
from tilewright.lowering.interpreter.arithmetic.programs import function_of
from tilewright.lowering.interpreter.array_types import AnyDType, Float64Array
from tilewright.lowering.interpreter.cuda_tile.elements import Element, Tile, as_signed
from tilewright.lowering.interpreter.cuda_tile.float_arithmetic import in_float32
from tilewright.lowering.interpreter.cuda_tile.pieces import InPieces, in_pieces
from tilewright.lowering.interpreter.numerics.flush import flushing

Function = Callable[..., Tile]
Numerics: TypeAlias = Literal["hardware", "exact", "fast"]


def _reciprocal_root(x: Tile) -> Tile:
    return 1 / np.sqrt(x)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "rsqrt": _reciprocal_root,
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "atan2": np.arctan2,
    "pow": np.power,
}
_ROUNDED = {"ceil": np.ceil, "floor": np.floor}


def function(name: str, element: Element, numerics: Numerics, *, flush: bool = False) -> Function:
    """A transcendental function on tiles of one element type."""
    if element.name == "f64":
        return _FUNCTIONS[name]
    compute = _FUNCTIONS[name] if numerics == "fast" else _once_rounded(_FUNCTIONS[name])
    if flush:
        compute = flushing(compute)
    return in_float32(compute, element.dtype)


def programmed(name: str, libdevice: str | None, element: Element, *, flush: bool) -> Function:
    """A transcendental function by its program: libdevice's, or `math`'s where that is None."""
    exact = FUNCTIONS["math.powf" if name == "pow" else f"math.{name}"].program
    program = exact if libdevice is None else LIBDEVICE[libdevice].program
    dtype = np.dtype(np.float64 if element.name == "f64" else np.float32)
    operands = (f"f{8 * dtype.itemsize}",) * LIBDEVICE[f"__nv_{name}f"].arity
    compute = in_pieces(_on_tiles(program, operands, dtype), dtype)
    if flush:
        compute = flushing(compute)
    return in_float32(compute, element.dtype)


def of_libdevice(name: str, element: Element) -> Function:
    """A function of libdevice by its name, whose result is of an element type."""
    row = function_named(name)
    assert row is not None
    if element.kind != "float" or element.dtype.itemsize >= 4:
        return in_pieces(_on_tiles(row.program, row.operands, element.dtype), element.dtype)
    single = np.dtype(np.float32)
    return in_float32(_on_tiles(row.program, row.operands, single), element.dtype)


@cache
def _on_tiles(program: Program, operands: tuple[str, ...], dtype: AnyDType) -> Function:
    """A program on numbers, whose result has a dtype."""
    run = function_of(program, operands, [_word(dtype)])

    def compute(*tiles: Tile) -> Tile:
        bits = [np.ascontiguousarray(tile).view(_word(tile.dtype)) for tile in tiles]
        return run(*bits)[0].view(dtype)

    return compute


def _word(dtype: AnyDType) -> AnyDType:
    return dtype if dtype == np.bool_ else np.dtype(f"u{dtype.itemsize}")


def _of_singles(program: Program, arity: int) -> Function:
    single = np.dtype(np.float32)
    return in_pieces(_on_tiles(program, ("f32",) * arity, single), single)


@cache
def quotient(kind: str, *, flush: bool) -> Function:
    """div.full.f32, to within 2 ulp, or (`rn`) a product with the unit's reciprocal."""
    form = f"{kind}.ftz.f32" if flush else f"{kind}.f32"

    def program(x: Value, y: Value) -> Value:
        return x.do("div", form, y) if kind == "full" else x.do("mul", form, fast(y, "rcp"))

    return _of_singles(program, 2)


def approximate(name: str, numerics: Numerics, *, flush: bool = False) -> Function:
    """`rounding<approx>` of f32: exp, tanh, sqrt, div."""
    if numerics == "hardware" and name == "div":
        return quotient("rn", flush=flush)
    program = APPROXIMATIONS.get(f"math.{name}") if numerics == "hardware" else None
    if program is not None:
        compute = _of_singles(program, 1)
    else:
        compute = _once_rounded(_FUNCTIONS.get(name) or {"sqrt": np.sqrt, "div": np.divide}[name])
    return flushing(compute) if flush else compute


def rounded_to_integer(name: str, element: Element) -> Function:
    """ceil and floor."""
    return in_float32(_ROUNDED[name], element.dtype)


def whole_power(x: Tile, exponent: Tile) -> Tile:
    """x to an integer, computed in float64 and rounded once to the type of x."""
    return np.power(x.astype(np.float64), as_signed(exponent).astype(np.float64)).astype(x.dtype)


def remainder(element: Element) -> Function:
    """x - trunc(x / y) * y, exact, with the sign of x."""
    return in_float32(np.fmod, element.dtype)


def _once_rounded(compute: Callable[..., Any]) -> Function:
    def piecewise(tiles: list[Tile], result: Tile, room: Float64Array) -> None:
        wide = room[: len(tiles)]
        for one, tile in zip(wide, tiles, strict=True):
            np.copyto(one, tile)
        computed = compute(*wide, out=wide[0]) if in_place else compute(*wide)
        np.copyto(result, computed, casting="same_kind")

    in_place = isinstance(compute, np.ufunc)
    return InPieces(piecewise, np.dtype(np.float32), words=2)


def maximum_or_minimum(
    name: str, element: Element, *, propagate_nan: bool, flush: bool
) -> Function:
    """IEEE 754-2019's maximum and minimum (`propagate_nan`), or maximumNumber and minimumNumber."""
    larger = name == "max"
    ufunc = {
        (True, True): np.maximum,
        (True, False): np.fmax,
        (False, True): np.minimum,
        (False, False): np.fmin,
    }[larger, propagate_nan]

    def run(x: Tile, y: Tile) -> Tile:
        result = ufunc(x, y)
        nan = np.isnan(result)
        if not propagate_nan and nan.any():
            # NumPy's own do not leave out NaNs that signal.
            result = np.where(nan, np.where(np.isnan(x), y, x), result)
        zeros = result == 0
        if zeros.any() and (zeros := zeros & (x == y)).any():
            # NumPy takes either of +0 and -0.
            negative = np.logical_and if larger else np.logical_or
            sign = negative(np.signbit(x), np.signbit(y))
            result = np.where(zeros, np.where(sign, result.dtype.type(-0.0), 0.0), result)
        return result.astype(x.dtype, copy=False)

    compute = flushing(run) if flush else run
    return in_float32(compute, element.dtype)
