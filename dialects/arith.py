"""xDSL's `arith` dialect with the op that Triton's TTIR has, and it lacks."""

from xdsl.dialects.arith import Arith, FloatingPointLikeBinaryOperation
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition

from tilewright.dialects.traits import PURE


@irdl_op_definition
class RemFOp(FloatingPointLikeBinaryOperation):
    """The remainder of a quotient towards zero: `arith.remf %x, %y : f32`."""

    name = "arith.remf"

    traits = PURE


EXTENDED = Dialect("arith", [*Arith.operations, RemFOp], [*Arith.attributes])
