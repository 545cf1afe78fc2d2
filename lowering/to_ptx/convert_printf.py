"""Calls of the driver's functions in `ptx`: `gpu.printf` and `cf.assert` print by `vprintf`; memory
of the heap is from `malloc`. CUDA C++ Programming Guide, formatted output and dynamic memory."""

import re
from collections.abc import Callable, Sequence
from hashlib import sha256

from xdsl.dialects import cf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i8,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.dialects.gpu import PrintfOp
from tilewright.dialects.math_functions.code import Value
from tilewright.dialects.printf_format import PLACES, SAID, FormatString, failed_assertion, passed
from tilewright.dialects.ptx.calls import TrapOp
from tilewright.dialects.ptx.control_flow import BraOp, CondBraOp
from tilewright.dialects.ptx.data_movement import StOp
from tilewright.dialects.ptx.functions import CallOp, FuncOp, parts_of
from tilewright.dialects.ptx.module_variables import GlobalAddressOp, GlobalOp
from tilewright.dialects.ptx.registers import LocalAddressOp
from tilewright.dialects.ptx.scalar_types import type_name
from tilewright.dialects.ptx.scalars import CvtaOp, SetpOp
from tilewright.dialects.ptx.types import KINDS, RegType
from tilewright.dialects.scalar_programs import as_integer, widened
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_arith import scalar
from tilewright.lowering.to_ptx.convert_gpu import special
from tilewright.lowering.to_ptx.programs import Emitted
from tilewright.source.diagnostic import OpError

_FUNCTIONS = {
    "vprintf": (("b64", "b64"), ("b32",)), "malloc": (("b64",), ("b64",)), "free": (("b64",), ()),
}  # fmt: skip
"""The registers that each is given, and those that it returns."""


def _call(op: Operation, name: str, arguments: Sequence[SSAValue], to: Conversion) -> CallOp:
    """Call one of the functions, which an op's module knows from here on."""
    given, returned = (ArrayAttr(map(StringAttr, kinds)) for kinds in _FUNCTIONS[name])
    properties = {
        "sym_name": StringAttr(name), "parameters": given, "returns": returned,
        "linkage": StringAttr(".extern"),
    }  # fmt: skip
    _declare(op, FuncOp.create(properties=properties, regions=[Region()]))
    results = [part.register for part in parts_of(returned)]
    to.add(call := CallOp(arguments, results, SymbolRefAttr(name)))
    return call


def _declare(op: Operation, named: FuncOp | GlobalOp) -> None:
    """Put a function or a variable in an op's module, if it is not there."""
    *_, module = ancestors(op)
    known, kind = module.regions[0].blocks[0], type(named)
    if not any(isinstance(one, kind) and one.sym_name == named.sym_name for one in known.ops):
        named.location = op.location
        Rewriter.insert_op(named, InsertPoint.at_start(known))


def _print(op: Operation, text: str, values: Sequence[SSAValue], to: Conversion) -> None:
    """Print values, which are passed in local memory, in a format. Raises OpError for one that is
    no string of C."""
    if re.search("[\0\ud800-\udfff]", text):
        raise OpError(op, f"'{op.name}' expected a format without NUL, which ends it, that UTF-8 "
                          f"can spell, got {text!r}")  # fmt: skip
    characters = *text.encode(), 0
    name = f"text_{sha256(bytes(characters)).hexdigest()[:16]}"
    octets = DenseIntOrFPElementsAttr.from_list(TensorType(i8, [len(characters)]), characters)
    _declare(op, GlobalOp(StringAttr(name), 1, octets))
    place, size = to.const(0, "b64"), 0
    if values:
        own = to.pure(LocalAddressOp, 0)
        for value in values:
            assert isinstance(value.type, RegType)
            kind = value.type.kind.data
            width = KINDS[kind] // 8
            offset = -(-size // width) * width
            to.add(StOp("local", kind, own, value, offset))
            size = offset + width
        place = to.scalar(CvtaOp, "local.u64", own)
    to.local = max(to.local, size)
    format_ = to.scalar(CvtaOp, "global.u64", to.pure(GlobalAddressOp, name))
    _call(op, "vprintf", (format_, place), to)


def _trap_unless(
    condition: SSAValue, name: str, to: Conversion, say: Callable[[], None] | None = None
) -> None:
    """Let threads in which a condition does not hold say so and trap."""
    name = to.fresh(name)
    failed, end = to.new_block(f"{name}_failed"), to.new_block(f"{name}_end")
    to.add(CondBraOp(condition, end, failed))
    to.enter(failed)
    if say is not None:
        say()
    to.add(TrapOp())
    to.add(BraOp(end))
    to.leave()
    to.proceed(end)


@lowers
def _allocate(op: address.AllocateOp, to: Conversion) -> SSAValue:
    [place] = _call(op, "malloc", [to.const(op.size.value.data, "b64")], to).results
    _trap_unless(to.scalar(SetpOp, "ne.u64", place, to.const(0, "b64")), "malloc", to)
    return place


@lowers
def _free(op: address.FreeOp, to: Conversion) -> None:
    _call(op, "free", [to[op.address]], to)


@lowers
def _printf(op: PrintfOp, to: Conversion) -> None:
    format_ = FormatString.of(op, op.format.data, op.args.types)
    values = [
        _promoted(op, to[value], value.type, read_as[0], to)
        for value, read_as in zip(op.args, format_.types, strict=True)
    ]
    _print(op, passed(op.format.data), values, to)


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
    def say() -> None:
        if SAID not in op.attributes:
            places = [special(place, to) for place in PLACES]
            _print(op, failed_assertion(op.msg.data), places, to)

    _trap_unless(to[op.arg], "assert", to, say)
