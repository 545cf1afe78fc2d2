"""`gpu.printf` and `cf.assert` to `ptx`: calls of `vprintf`, and a `trap`."""

from xdsl.dialects import cf
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.gpu import PrintfOp
from tilewright.dialects.math_functions.code import Value
from tilewright.dialects.printf_format import PLACES, SAID, FormatString, failed_assertion, passed
from tilewright.dialects.ptx.calls import TrapOp, VprintfOp
from tilewright.dialects.ptx.control_flow import BraOp, CondBraOp
from tilewright.dialects.ptx.scalar_types import type_name
from tilewright.dialects.scalar_programs import as_integer, widened
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_arith import scalar
from tilewright.lowering.to_ptx.convert_gpu import special
from tilewright.lowering.to_ptx.programs import Emitted


@lowers
def _printf(op: PrintfOp, to: Conversion) -> None:
    format_ = FormatString.of(op, op.format.data, op.args.types)
    values = [
        _promoted(op, to[value], value.type, read_as[0], to)
        for value, read_as in zip(op.args, format_.types, strict=True)
    ]
    to.add(VprintfOp(values, passed(op.format.data)))


def _promoted(
    op: PrintfOp, value: SSAValue, type_: Attribute, letter: str, to: Conversion
) -> SSAValue:
    """A value as C passes it: floats in 64 bits, integers in 32 or more."""
    scalar(op, type_)
    x = Value(Emitted(to), value, type_name(type_) or "")
    if letter in "fb" and x.type_ != "pred":
        return widened(x).converted("f64").handle
    return as_integer(as_integer(x, letter), letter, 32).handle


@lowers
def _assert(op: cf.AssertOp, to: Conversion) -> None:
    name = to.fresh("assert")
    failed, end = to.new_block(f"{name}_failed"), to.new_block(f"{name}_end")
    to.add(CondBraOp(to[op.arg], end, failed))
    to.enter(failed)
    if SAID not in op.attributes:
        places = [special(place, to) for place in PLACES]
        to.add(VprintfOp(places, failed_assertion(op.msg.data)))
    to.add(TrapOp())
    to.add(BraOp(end))
    to.leave()
    to.proceed(end)
