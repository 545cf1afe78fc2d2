"""Rules of the element-wise ops: arithmetic, comparisons, conversions, constants, select."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.accuracy import libdevice_function
from tilewright.dialects.cuda_tile.ops import OPS
from tilewright.dialects.cuda_tile.ops.conversions import FToIOp
from tilewright.dialects.cuda_tile.ops.core import ConstantOp
from tilewright.dialects.cuda_tile.ops.operation import is_signed, word
from tilewright.dialects.cuda_tile.ops.scalar_programs import LibdeviceOp
from tilewright.lowering.interpreter.cuda_tile import conversions, float_functions
from tilewright.lowering.interpreter.cuda_tile import integer_arithmetic as integers
from tilewright.lowering.interpreter.cuda_tile.blocks import Options, Preparation, Step, runs
from tilewright.lowering.interpreter.cuda_tile.blocks import computing as step_of
from tilewright.lowering.interpreter.cuda_tile.elements import (
    Element,
    Tile,
    as_signed,
    element_of_tile,
    pointee_of,
)
from tilewright.lowering.interpreter.cuda_tile.float_arithmetic import arithmetic
from tilewright.lowering.interpreter.cuda_tile.pieces import in_pieces
from tilewright.source.diagnostic import OpError

Function = Callable[..., Any]
Binary = Callable[[Tile, Tile], Tile]
Maker = Callable[[Operation, Options], Function]


def flag(op: Operation, name: str) -> bool:
    """True where a unit property is there."""
    return name in op.properties


def result_element(op: Operation) -> Element:
    """The element type of the first result."""
    return element_of_tile(op.results[0].type)


def operand_element(op: Operation) -> Element:
    """The element type of the first operand."""
    return element_of_tile(op.operands[0].type)


# Floats


def _rounded(name: str) -> Maker:
    def make(op: Operation, options: Options) -> Function:
        element, rounding = result_element(op), word(op, "rounding_mode", "nearest_even")
        flush = flag(op, "flush_to_zero")
        if rounding == "approx":
            return float_functions.approximate(name, options.numerics, flush=flush)
        if rounding == "full" and options.numerics == "hardware":
            return float_functions.quotient("full", flush=flush)
        if rounding == "full":
            rounding = "nearest_even"
        return arithmetic(name, element, rounding, flush=flush)

    return make


def _function(name: str) -> Maker:
    def make(op: Operation, options: Options) -> Function:
        if word(op, "rounding_mode") == "approx":
            return float_functions.approximate(name, options.numerics)
        element, flush = result_element(op), flag(op, "flush_to_zero")
        if options.numerics != "hardware":
            return float_functions.function(name, element, options.numerics, flush=flush)
        function = libdevice_function(op, double=element.name == "f64")
        return float_functions.programmed(name, function, element, flush=flush)

    return make


def _extreme(name: str) -> Maker:
    return lambda op, _: float_functions.maximum_or_minimum(
        name,
        result_element(op),
        propagate_nan=flag(op, "propagate_nan"),
        flush=flag(op, "flush_to_zero"),
    )


def _compare_floats(op: Operation, _: Options) -> Binary:
    predicate = word(op, "comparison_predicate")
    relation = integers.RELATIONS[predicate]
    if word(op, "comparison_ordering") == "ordered":
        if predicate != "not_equal":
            return relation
        return lambda x, y: relation(x, y) & ~(np.isnan(x) | np.isnan(y))
    if predicate == "not_equal":
        return relation
    return lambda x, y: relation(x, y) | np.isnan(x) | np.isnan(y)


# Integers


def _wrapping(name: str, op: Operation, options: Options) -> Function:
    del op, options
    return integers.WRAPPING[name]


def _rounding_to(op: Operation) -> tuple[Element, str]:
    """The floats that a conversion gives, and how it rounds. Raises OpError."""
    to = result_element(op)
    if to.name == "fnv8E5M3FNU":
        raise OpError(
            op, f"'{op.name}' expected a result whose rounding is known, got {to.name} (a preview)"
        )
    return to, word(op, "rounding_mode", "nearest_even")


def _float_to_float(op: Operation, _: Options) -> Function:
    return conversions.float_to_float(operand_element(op), *_rounding_to(op))


def _float_to_integer(op: Operation, _: Options) -> Function:
    assert isinstance(op, FToIOp)
    source = operand_element(op)
    if op.is_truth:
        return conversions.float_to_truth(source)
    return partial(conversions.float_to_integer, source, result_element(op), is_signed(op))


def _integer_to_float(op: Operation, _: Options) -> Function:
    to, rounding = _rounding_to(op)
    return partial(conversions.integer_to_float, to, is_signed(op), rounding)


# Everything else


def _constant(op: Operation, _: Options) -> Function:
    assert isinstance(op, ConstantOp)
    value: Any = op.value
    tile: Tile = value.array()[None].astype(result_element(op).dtype, copy=False)
    tile.flags.writeable = False
    return lambda: tile


def _towards_zero(offset: Tile) -> Tile:
    return (offset + (offset < 0)) // 2


def _offset(op: Operation, _: Options) -> Binary:
    bits = pointee_of(op.operands[0].type).bits
    if bits >= 8:
        size = np.int64(bits // 8)
        return lambda pointer, offset: pointer + as_signed(offset).astype(np.int64) * size
    # Two a byte: towards zero, as tileiras 13.5 does.
    return lambda pointer, offset: pointer + _towards_zero(as_signed(offset).astype(np.int64))


def _same(x: Any) -> Any:
    return x


def _libdevice(op: Operation, _: Options) -> Function:
    assert isinstance(op, LibdeviceOp)
    return float_functions.of_libdevice(op.function.data, result_element(op))


MAKERS: dict[str, Maker] = {
    "addf": _rounded("add"),
    "subf": _rounded("sub"),
    "mulf": _rounded("mul"),
    "divf": _rounded("div"),
    "sqrt": _rounded("sqrt"),
    "fma": _rounded("fma"),
    "absf": lambda op, _: np.abs,
    "negf": lambda op, _: np.negative,
    "maxf": _extreme("max"),
    "minf": _extreme("min"),
    "remf": lambda op, _: float_functions.remainder(result_element(op)),
    "ceil": lambda op, _: float_functions.rounded_to_integer("ceil", result_element(op)),
    "floor": lambda op, _: float_functions.rounded_to_integer("floor", result_element(op)),
    "fpowi": lambda op, _: float_functions.whole_power,
    "cmpf": _compare_floats,
    **{
        name: _function(name)
        for name in (
            *("exp", "exp2", "log", "log2", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
            *("atan2", "pow", "rsqrt"),
        )
    },
    **{name: partial(_wrapping, name) for name in integers.WRAPPING},
    "negi": lambda op, _: integers.negated,
    "absi": lambda op, _: integers.magnitude,
    "mulhii": lambda op, _: integers.upper_half,
    "shri": lambda op, _: in_pieces(
        partial(integers.shifted_right, is_signed(op)), result_element(op).dtype
    ),
    "divi": lambda op, _: partial(integers.divided, is_signed(op), word(op, "rounding", "zero")),
    "remi": lambda op, _: partial(integers.remainder, is_signed(op)),
    "maxi": lambda op, _: partial(integers.extreme, larger=True, signed=is_signed(op)),
    "mini": lambda op, _: partial(integers.extreme, larger=False, signed=is_signed(op)),
    "cmpi": lambda op, _: integers.compared(word(op, "comparison_predicate"), is_signed(op)),
    "exti": lambda op, _: conversions.extended(
        operand_element(op), result_element(op), is_signed(op)
    ),
    "trunci": lambda op, _: conversions.truncated(result_element(op)),
    "ftof": _float_to_float,
    "ftoi": _float_to_integer,
    "itof": _integer_to_float,
    "bitcast": lambda op, _: conversions.reinterpreted(result_element(op)),
    "ptr_to_int": lambda op, _: _same,
    "int_to_ptr": lambda op, _: _same,
    "ptr_to_ptr": lambda op, _: _same,
    "constant": _constant,
    "offset": _offset,
    "select": lambda op, _: np.where,
    "assume": lambda op, _: _same,
}
_MAKERS: dict[type[Operation], Maker] = {
    **{op: MAKERS[name] for op in OPS if (name := op.name.removeprefix("cuda_tile.")) in MAKERS},
    LibdeviceOp: _libdevice,
}
POINTWISE = frozenset(_MAKERS)


@runs(*POINTWISE)
def _pointwise(op: Operation, preparation: Preparation) -> Step:
    return step_of(op, _MAKERS[type(op)](op, preparation.options))
