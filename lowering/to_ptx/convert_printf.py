"""`gpu.printf` and `cf.assert` to `ptx`: calls of `vprintf`, and a `trap`."""

from xdsl.dialects import cf
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.gpu import PrintfOp
from tilewright.dialects.printf_format import PLACES, FormatString, failed_assertion, passed
from tilewright.dialects.ptx.calls import TrapOp, VprintfOp
from tilewright.dialects.ptx.control_flow import BraOp, CondBraOp
from tilewright.dialects.ptx.scalars import CvtOp, SelpOp
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_arith import extended, scalar
from tilewright.lowering.to_ptx.convert_arith_floats import widened
from tilewright.lowering.to_ptx.convert_gpu import special


@lowers(PrintfOp)
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
    storage = scalar(op, type_)
    if storage.kind == "pred":
        return to.scalar(SelpOp, "b32", to.const(1, "b32"), to.const(0, "b32"), value)
    if letter in "fb":
        wide = widened(value, type_, to)
        return wide if storage.bits == 64 else to.scalar(CvtOp, "f64.f32", wide)
    if storage.bits >= 32:
        return value
    value = extended(value, storage, letter, to)
    return to.scalar(CvtOp, f"{letter}32.{letter}16", value)


@lowers(cf.AssertOp)
def _assert(op: cf.AssertOp, to: Conversion) -> None:
    name = to.fresh("assert")
    failed, end = to.new_block(f"{name}_failed"), to.new_block(f"{name}_end")
    to.add(CondBraOp(to[op.arg], end, failed))
    to.enter(failed)
    places = [special(place, to) for place in PLACES]
    to.add(VprintfOp(places, failed_assertion(op.msg.data)))
    to.add(TrapOp())
    to.add(BraOp(end))
    to.leave()
    to.proceed(end)
