"""The numbers of a constant: `dense<[1.0, 2.0]> : !cuda_tile.tile<2xf32>`.

They are held as bytes, little-endian and row-major; each element takes the whole bytes it needs
(i1, i4 and f4E2M1FN one). One element stands for all where they are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import BytesAttr
from xdsl.ir import Attribute, BuiltinAttribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.once import once_each

if TYPE_CHECKING:
    from numpy.typing import NDArray
from decimal import ROUND_HALF_UP, Context
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerType

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
    with np.errstate(invalid="ignore"):  # a signaling NaN
        if dtype.kind == "u" or not np.isfinite(number.astype(np.float64)):
            return in_hex
    value = float(number)
    mantissa, _, exponent = f"{float(_SIX_DIGITS.create_decimal(value)):.5e}".partition("e")
    for text in (f"{mantissa}0e{exponent}", f"{value:.9g}", f"{value:.17g}"):
        back = np.array(float(text)).astype(dtype)
        if "." in text and int(back.view(f"uint{8 * dtype.itemsize}")) == bits:
            return text
    return in_hex


_DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "tf32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "fnv8E5M3FNU": np.uint8,
    "i1": np.uint8,
    "i4": np.int8,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}


@once_each
def dtype_of(element_type: Attribute) -> np.dtype[Any]:
    """NumPy's type for an element of a constant: i1 as 0 or 1, tf32 as f32, unsigned
    fnv8E5M3FNU as its bits, integers signed."""
    return np.dtype(_DTYPES[shown(element_type)])


@irdl_attr_definition
class ElementsAttr(ParametrizedAttribute, BuiltinAttribute):
    """The elements of a tile of numbers."""

    name = "cuda_tile.elements"

    type: TileType
    data: BytesAttr

    @classmethod
    def of_array(cls, type_: TileType, array: NDArray[Any]) -> ElementsAttr:
        """The elements of an array of `dtype_of` the elements, or of one that stands for all."""
        raw = np.ascontiguousarray(array).tobytes()
        size = array.dtype.itemsize
        if raw == raw[:size] * (len(raw) // size):
            raw = raw[:size]
        return cls(type_, BytesAttr(raw))

    @property
    def is_splat(self) -> bool:
        """True where all elements are the same."""
        return len(self.data.data) == dtype_of(self.type.element_type).itemsize

    def array(self) -> NDArray[Any]:
        """The elements, in the tile's shape, not to be written to."""
        values = np.frombuffer(self.data.data, dtype_of(self.type.element_type))
        if self.is_splat:
            return np.broadcast_to(values[0], self.type.shape)
        return values.reshape(self.type.shape)

    def verify(self) -> None:
        element = self.type.element_type
        if element not in ELEMENT_OF:
            raise VerifyException(f"'{self.name}' expected numbers, got {shown(element)}")
        size = dtype_of(element).itemsize
        got = len(self.data.data)
        if got not in (size, size * self.type.elements):
            raise VerifyException(
                f"'{self.name}' expected {size} bytes, or {size * self.type.elements} for "
                f"{shown(self.type)}, got {got}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        raise NotImplementedError("read as dense<...>")

    def print_numbers(self, printer: Printer) -> None:
        """The numbers alone, `[1.0, 2.0]`, one for all where they are equal."""
        array = self.array()
        if self.is_splat:
            array = array.reshape(-1)[:1].reshape(())
        print_numbers(printer, array, self.type.element_type)

    def print_builtin(self, printer: Printer) -> None:
        printer.print_string("dense<")
        self.print_numbers(printer)
        printer.print_string("> : ")
        printer.print_attribute(self.type)
