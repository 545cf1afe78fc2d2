"""Calls of the driver's functions: those that print, of formats that the module has, and `free`.
CUDA C++ Programming Guide, formatted output, assertions and dynamic memory."""

import re
from collections.abc import Iterator

from xdsl.ir import SSAValue

from tilewright.dialects.printf_format import PLACES, failed_assertion, passed_as
from tilewright.dialects.ptx.calls import FreeOp, TrapOp, VprintfOp
from tilewright.dialects.ptx.data_movement import LdOp
from tilewright.dialects.ptx.module_variables import GlobalAddressOp
from tilewright.dialects.ptx.registers import ConstOp, MovOp, SregOp
from tilewright.dialects.ptx.scalars import CvtaOp
from tilewright.dialects.ptx.types import KINDS
from tilewright.lowering.ptx.parsing.instructions import reads
from tilewright.lowering.ptx.parsing.names import Symbol
from tilewright.lowering.ptx.parsing.reader import Reader, ReadingRule

_CALL = re.compile(r"(?:\(\s*(\S+?)\s*\)\s*,\s*)?(\w+)\s*(?:,\s*\(([^)]*)\))?", re.DOTALL)

_ARGUMENTS = {"vprintf": 2, "__assertfail": 5, "free": 1}


@reads("call")
def _call(_: str) -> ReadingRule:
    def rule(reader: Reader, text: str) -> None:
        match = _CALL.fullmatch(text)
        function = "" if match is None else match[2]
        if match is None or function not in _ARGUMENTS:
            raise reader.fail(
                f"expected a call of a function of the text, of {' or '.join(_ARGUMENTS)}, got "
                + " ".join(text.split())
            )
        names = (match[3] or "").split(",")
        if len(names) != _ARGUMENTS[function]:
            raise reader.fail(
                f"expected {_ARGUMENTS[function]} arguments of {function}, got {text}"
            )
        arguments = [_argument(reader, name.strip()) for name in names]
        if function == "__assertfail":
            _fail(reader, *arguments[:4])
            return
        if function == "free":
            reader.add(FreeOp(arguments[0]))
            return
        format_ = _string(reader, arguments[0])
        values = [_passed(reader, arguments[1], *place) for place in _places(format_)]
        reader.add(VprintfOp(values, format_))
        if isinstance(printed := reader.scope.find(match[1]), Symbol):
            part = printed.part(0, "b32")
            reader.registers[part] = reader.constant(len(values), "b32")

    return ReadingRule(rule)


def _fail(
    reader: Reader, message: SSAValue, file: SSAValue, line: SSAValue, function: SSAValue
) -> None:
    """Print what CUDA prints of an assertion that fails, and end the kernel."""
    where = f"{_string(reader, file)}:{_number(line)}: {_string(reader, function)}: "
    words = where.replace("%", "%%") + failed_assertion(_string(reader, message))
    reader.add(VprintfOp([reader.add(SregOp(place)).results[0] for place in PLACES], words))
    reader.add(TrapOp())


def _argument(reader: Reader, name: str) -> SSAValue:
    """The value that a parameter of the call has."""
    symbol = reader.scope.find(name)
    if not isinstance(symbol, Symbol) or (part := symbol.parts.get(0)) is None:
        raise reader.fail(f"expected a parameter that is stored, got {name}")
    return reader.register(reader.ssa.read(reader.block, part), part.kind)


def _origin(value: SSAValue) -> object:
    """The op that a value comes from, by moves and into generic addresses."""
    while isinstance(op := value.owner, CvtaOp | MovOp):
        value = op.operands[0]
    return op


def _number(value: SSAValue) -> str:
    op = _origin(value)
    return str(op.unsigned) if isinstance(op, ConstOp) else "?"


def _string(reader: Reader, address: SSAValue) -> str:
    """The characters of a variable up to the NUL."""
    op = _origin(address)
    name = op.variable.data if isinstance(op, GlobalAddressOp) else ""
    content = reader.contents.get(name, b"")
    if b"\0" not in content:
        raise reader.fail("expected a text that a variable of the module holds")
    return content.partition(b"\0")[0].decode(errors="replace")


def _places(format_: str) -> Iterator[tuple[int, str]]:
    """Where each value of a format is in memory, and the kind of its register."""
    end = 0
    for kind in passed_as(format_):
        width = KINDS[kind] // 8
        place = -(-end // width) * width
        yield place, kind
        end = place + width


def _passed(reader: Reader, values: SSAValue, place: int, kind: str) -> SSAValue:
    return reader.add(LdOp("generic", kind, values, place)).results[0]
