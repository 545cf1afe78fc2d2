"""The text of numbers: `[[1.0, 2.0], [0x7F800000, -4.0]]`, as `elements_text` reads them."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute
from xdsl.printer import Printer

from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SIX_DIGITS = Context(prec=6, rounding=ROUND_HALF_UP)
"""How MLIR writes floats where that is enough."""


def print_numbers(printer: Printer, array: NDArray[Any], type_: Attribute) -> None:
    """Numbers as brackets nest them: `[[1.0, 2.0], [3.0, 4.0]]`."""
    if array.ndim == 0:
        printer.print_string(number_text(array, type_))
        return
    with printer.in_square_brackets():
        printer.print_list(array, lambda row: print_numbers(printer, np.asarray(row), type_))


def number_text(number: NDArray[Any], type_: Attribute) -> str:
    """A number that reads as itself: floats in six digits where those suffice, as bits where no
    digits do."""
    if isinstance(type_, IntegerType):
        value = int(number)
        return ("false", "true")[value] if type_.bitwidth == 1 else str(value)
    dtype = number.dtype
    bits = int(number.view(f"uint{8 * dtype.itemsize}"))
    digits = -(-ELEMENT_OF[type_].bits // 4)
    in_hex = f"0x{bits:0{digits}X}"
    if dtype.kind == "u" or not np.isfinite(number.astype(np.float64)):
        return in_hex
    value = float(number)
    mantissa, _, exponent = f"{float(_SIX_DIGITS.create_decimal(value)):.5e}".partition("e")
    for text in (f"{mantissa}0e{exponent}", f"{value:.9g}", f"{value:.17g}"):
        back = np.array(float(text)).astype(dtype)
        if "." in text and int(back.view(f"uint{8 * dtype.itemsize}")) == bits:
            return text
    return in_hex
