"""Products of matrices. TritonOps.td, dot."""

from xdsl.dialects.builtin import (
    BoolAttr,
    Float8E4M3FNType,
    IntegerAttr,
    i32,
)
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, result_def

from tilewright.dialects.accepts import integer
from tilewright.dialects.declared import declared_op
from tilewright.dialects.triton.constraints import (
    FLOAT_TENSOR,
    NUMBER_TENSOR,
    PRECISION,
    SCALED_ELEMENT,
    SCALED_TENSOR,
)
from tilewright.dialects.triton.operation import PureOp
from tilewright.dialects.triton.types import element_of, shape_of

YES = BoolAttr.from_bool(True)


class Product(PureOp):
    """d = a b + c of matrices, or of as many as the dimensions before say."""

    SAME_TYPES = "c d"

    def verify_product(self, a: tuple[int, ...], b: tuple[int, ...], d: tuple[int, ...]) -> None:
        """Raise VerifyException where shapes are those of no product."""
        ranks = len(a), len(b), len(d)
        if min(ranks) < 2 or len({*ranks}) > 1 or len({a[:-2], b[:-2], d[:-2]}) > 1:
            raise self.fail(f"matrices of one number, got shapes {a}, {b} and {d}")
        if a[-1] != b[-2] or (a[-2], b[-1]) != d[-2:]:
            raise self.fail(f"matrices of m x k, k x n and m x n, got shapes {a}, {b} and {d}")


@declared_op("tt.dot")
class DotOp(Product):
    """`tt.dot %a, %b, %c, inputPrecision = tf32 : A * B -> D`: how f32 is multiplied."""

    assembly_format = (
        "$a `,` $b `,` $c (`,` `inputPrecision` `=` custom<Word>($inputPrecision)^)? attr-dict "
        "`:` type($a) `*` type($b) `->` type($d)"
    )

    a = operand_def(NUMBER_TENSOR)
    b = operand_def(NUMBER_TENSOR)
    c = operand_def(NUMBER_TENSOR)
    inputPrecision = opt_prop_def(PRECISION, PRECISION.attribute_of("ieee"))
    maxNumImpreciseAcc = opt_prop_def(integer(32), IntegerAttr(0, i32))
    d = result_def(NUMBER_TENSOR)

    def verify_types(self) -> None:
        a, b = (element_of(value.type) for value in (self.a, self.b))
        if getattr(a, "bitwidth", 0) != getattr(b, "bitwidth", 0):
            raise self.fail(f"operands a and b of as many bits, got {a} and {b}")
        self.verify_product(*(shape_of(value.type) for value in (self.a, self.b, self.d)))


@declared_op("tt.dot_scaled")
class DotScaledOp(Product):
    """The product of numbers in blocks of one scale; two numbers of e2m1 are an i8."""

    assembly_format = (
        "$a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c "
        "`lhs` `=` custom<Word>($a_elem_type) `rhs` `=` custom<Word>($b_elem_type) attr-dict "
        "`:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($d)"
    )

    a = operand_def(SCALED_TENSOR)
    b = operand_def(SCALED_TENSOR)
    c = operand_def(FLOAT_TENSOR)
    a_scale = opt_operand_def(SCALED_TENSOR)
    b_scale = opt_operand_def(SCALED_TENSOR)
    a_elem_type = prop_def(SCALED_ELEMENT)
    b_elem_type = prop_def(SCALED_ELEMENT)
    fastMath = prop_def(integer(1))
    lhs_k_pack = opt_prop_def(integer(1), YES)
    rhs_k_pack = opt_prop_def(integer(1), YES)
    d = result_def(FLOAT_TENSOR)

    def verify_types(self) -> None:
        a, b, d = (list(shape_of(value.type)) for value in (self.a, self.b, self.d))
        if min(map(len, (a, b, d))) < 2:
            raise self.fail(f"matrices, got shapes {a}, {b} and {d}")
        if self.word("a_elem_type") == "e2m1":
            a[-1 if self.word("lhs_k_pack") else -2] *= 2
        if self.word("b_elem_type") == "e2m1":
            b[-2 if self.word("rhs_k_pack") else -1] *= 2
        self.verify_product(tuple(a), tuple(b), tuple(d))
        self._verify_scale("a_scale", self.a_scale, d[-2], a[-1])
        self._verify_scale("b_scale", self.b_scale, d[-1], a[-1])

    def _verify_scale(self, name: str, scale: SSAValue | None, rows: int, k: int) -> None:
        if scale is None:
            return
        block = 16 if isinstance(element_of(scale.type), Float8E4M3FNType) else 32
        if shape_of(scale.type)[-2:] != (rows, k // block):
            raise self.fail(f"{name} of {rows} x {k // block} elements, got {scale.type}")
