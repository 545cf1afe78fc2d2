"""The arithmetic of tensor cores, on matrices, bit for bit. Knows arrays and numbers, no IR.

    from tilewright.lowering.interpreter.numerics import dot_add, model_for

    model = model_for("sm_90a", "f16", "f16", "f32")
    d = dot_add(a, b, c, a_type="f16", b_type="f16", c_type="f32", d_type="f32", model=model)

`formats` says what bits are worth, `rounding` goes back to bits; `models` are the arithmetics as
data and `chips` the table of who follows which; `fused_sum`, `converted_sum`,
`float32_sum`, `exact_sum`, `integer_dot` and `fma` compute them, and `dot` chooses among those.
"""

from tilewright.lowering.interpreter.numerics.chips import ScaleKind, Unit, family_of, model_for
from tilewright.lowering.interpreter.numerics.dot import dot_add, fma_chain
from tilewright.lowering.interpreter.numerics.errors import NumericsError
from tilewright.lowering.interpreter.numerics.fma import fma32, fma64, odd_sum
from tilewright.lowering.interpreter.numerics.formats import (
    FORMATS,
    ZERO_EXPONENT,
    FloatFormat,
    decode,
    exponent_of,
    format_named,
)
from tilewright.lowering.interpreter.numerics.integer_dot import INTEGER_FORMATS, BitOperation
from tilewright.lowering.interpreter.numerics.models import (
    ConvertedDotAdd,
    ExactInteger,
    Float32DotAdd,
    FmaChain,
    FusedDotAdd,
    Model,
    ScaledBlockDotAdd,
    ScaledDotAdd,
)
from tilewright.lowering.interpreter.numerics.rounding import Rounding, encode

__all__ = [
    "FORMATS", "INTEGER_FORMATS", "ZERO_EXPONENT", "BitOperation", "ConvertedDotAdd",
    "ExactInteger", "Float32DotAdd", "FloatFormat", "FmaChain", "FusedDotAdd", "Model",
    "NumericsError", "Rounding", "ScaleKind", "ScaledBlockDotAdd", "ScaledDotAdd", "Unit",
    "decode", "dot_add", "encode", "exponent_of", "family_of", "fma32", "fma64", "fma_chain",
    "format_named", "model_for", "odd_sum",
]  # fmt: skip
