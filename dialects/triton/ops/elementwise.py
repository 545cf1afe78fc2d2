"""Ops that compute each element by itself. TritonOps.td, casts, arithmetic, external functions."""

from math import prod

from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)

from tilewright.dialects.accepts import STRING, integer
from tilewright.dialects.declared import declared_op
from tilewright.dialects.triton.constraints import (
    FLOAT,
    INTEGER,
    LONG,
    POINTER,
    PROPAGATE_NAN,
    ROUNDING,
    TYPE,
)
from tilewright.dialects.triton.operation import PureOp, TritonOp
from tilewright.dialects.triton.types import PointerType, element_of, shape_of


class Cast(PureOp):
    """Each element as one of another type."""

    SAME_SHAPES = "src result"

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"

    src = operand_def(TYPE)
    result = result_def(TYPE)


@declared_op("tt.int_to_ptr")
class IntToPtrOp(Cast):
    """Addresses as pointers."""

    src = operand_def(LONG)
    result = result_def(POINTER)


@declared_op("tt.ptr_to_int")
class PtrToIntOp(Cast):
    """Pointers as addresses."""

    src = operand_def(POINTER)
    result = result_def(LONG)


def _bits(type_: Attribute) -> int | None:
    return type_.bitwidth if isinstance(type_, IntegerType | AnyFloat) else None


@declared_op("tt.bitcast")
class BitcastOp(Cast):
    """The same bits as another type: of as many bits, of pointers pointers."""

    def verify_types(self) -> None:
        source, result = element_of(self.src.type), element_of(self.result.type)
        pointers = isinstance(source, PointerType), isinstance(result, PointerType)
        if pointers[0] != pointers[1] or _bits(source) != _bits(result):
            raise self.fail(f"a result of as many bits as {source}, of pointers one, got {result}")
        if all(pointers) and source.address_space != result.address_space:  # pyright: ignore
            raise self.fail(f"pointers of one address space, got {source} and {result}")


@declared_op("tt.fp_to_fp")
class FpToFpOp(Cast):
    """Floating-point numbers as those of another type; narrower ones say how they are rounded."""

    assembly_format = (
        "$src attr-dict (`,` `rounding` `=` custom<Word>($rounding)^)? "
        "`:` type($src) `->` type($result)"
    )

    src = operand_def(FLOAT)
    rounding = opt_prop_def(ROUNDING)
    result = result_def(FLOAT)

    def verify_types(self) -> None:
        source, result = element_of(self.src.type), element_of(self.result.type)
        if self.rounding is None and (_bits(source) or 0) > (_bits(result) or 0):
            raise self.fail(f"rounding from {source} to {result}, which is narrower, got none")


@declared_op("tt.clampf")
class ClampFOp(PureOp):
    """x within [min, max]: `tt.clampf %x, %lo, %hi, propagateNan = all : f32`."""

    SAME_TYPES = "x min max result"

    assembly_format = (
        "$x `,` $min `,` $max `,` `propagateNan` `=` custom<Word>($propagateNan) attr-dict "
        "`:` type($result)"
    )

    x = operand_def(FLOAT)
    min = operand_def(FLOAT)
    max = operand_def(FLOAT)
    propagateNan = prop_def(PROPAGATE_NAN)
    result = result_def(FLOAT)


@declared_op("tt.precise_sqrt")
class PreciseSqrtOp(PureOp):
    """The square root, rounded to nearest."""

    SAME_TYPES = "x result"

    assembly_format = "$x attr-dict `:` type($x)"

    x = operand_def(FLOAT)
    result = result_def(FLOAT)


class Binary(PureOp):
    """Two operands of one type."""

    SAME_TYPES = "x y result"

    assembly_format = "$x `,` $y attr-dict `:` type($x)"


class Quotient(Binary):
    """A quotient of floating-point numbers."""

    x = operand_def(FLOAT)
    y = operand_def(FLOAT)
    result = result_def(FLOAT)


@declared_op("tt.precise_divf")
class PreciseDivFOp(Quotient):
    """The quotient, rounded to nearest."""


@declared_op("tt.approx_divf")
class ApproxDivFOp(Quotient):
    """The quotient, nearly. Since Triton 3.9."""


@declared_op("tt.mulhiui")
class MulhiUIOp(Binary):
    """The upper half of the product of unsigned integers."""

    x = operand_def(INTEGER)
    y = operand_def(INTEGER)
    result = result_def(INTEGER)


@declared_op("tt.extern_elementwise")
class ExternElementwiseOp(TritonOp):
    """A function of a library by its symbol: libdevice's."""

    assembly_format = "operands attr-dict `:` functional-type(operands, $result)"

    srcs = var_operand_def(TYPE)
    libname = prop_def(STRING)
    libpath = prop_def(STRING)
    symbol = prop_def(STRING)
    pure = prop_def(integer(1))
    result = result_def(TYPE)


@declared_op("tt.elementwise_inline_asm")
class ElementwiseInlineAsmOp(TritonOp):
    """PTX on `packed_element` elements at a time, operands and results by `constraints`."""

    assembly_format = "$asm_string attr-dict ($args^ `:` type($args))? `->` type($result)"

    asm_string = prop_def(STRING)
    constraints = prop_def(STRING)
    pure = prop_def(integer(1))
    packed_element = prop_def(integer(32))
    args = var_operand_def(TYPE)
    result = var_result_def(TYPE)

    def verify_types(self) -> None:
        packed = self.number("packed_element")
        for operand in self.args[:1]:
            count = prod(shape_of(operand.type)) if shape_of(operand.type) else 0
            if packed <= 0 or count % packed:
                raise self.fail(f"packed_element that divides {operand.type}, got {packed}")
