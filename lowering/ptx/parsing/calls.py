"""Calls of functions of the text, and of those that it knows from elsewhere."""

from collections.abc import Sequence

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import SSAValue

from tilewright.dialects.ptx.functions import CallOp, PassedPart, parts_of
from tilewright.lowering.ptx.parsing.instructions import reads
from tilewright.lowering.ptx.parsing.memory import stored_bits
from tilewright.lowering.ptx.parsing.names import Symbol
from tilewright.lowering.ptx.parsing.reader import Reader, ReadingRule
from tilewright.lowering.ptx.parsing.signatures import CALL, passed


@reads("call")
def _call(mnemonic: str) -> ReadingRule:
    def rule(reader: Reader, text: str) -> None:
        match = CALL.fullmatch(text)
        callee = None if match is None else reader.callees.get(match[2])
        if match is None or callee is None:
            raise reader.fail(
                f"expected a call of a function of the text, got {' '.join(text.split())}"
            )
        if (function := callee.read(callee)) is None:
            raise reader.fail(f"expected no recursion, got a call of {callee.name} in itself")
        results, given = passed(match, callee, reader.scope, reader.position)
        values = [reader.take(match[4], "b64")] if match[4] else []
        values += read_parts(reader, given, parts_of(function.parameters))
        parts = parts_of(function.returns)
        made = reader.add(
            CallOp(
                values, [part.register for part in parts], SymbolRefAttr(callee.name),
                uniform=mnemonic == "call.uni", indirect=match[4] is not None,
            )
        )  # fmt: skip
        for part, value in zip(parts, made.results, strict=True):
            known = reader.scope.find(name := results[part.variable])
            if isinstance(known, Symbol):
                place = known.part(part.offset, part.register.kind.data, part.width)
                reader.registers[place] = value
            else:
                reader.give(name, value)

    return ReadingRule(rule)


def read_parts(reader: Reader, names: Sequence[str], parts: Sequence[PassedPart]) -> list[SSAValue]:
    """The parts of variables of these names, or registers and constants."""
    values = list[SSAValue]()
    for part in parts:
        known = reader.scope.find(name := names[part.variable])
        kind = part.register.kind.data
        if isinstance(known, Symbol):
            bits = stored_bits(reader, known, part.offset, part.width)
            values.append(reader.register(bits, kind))
        else:
            values.append(reader.take(name, part.type, kind))
    return values
