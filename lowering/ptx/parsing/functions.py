"""A function of the text as `ptx.func`."""

import re
from collections.abc import Sequence
from functools import partial
from math import gcd
from operator import itemgetter
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.lattice.operand_text import read
from tilewright.dialects.fields import number
from tilewright.dialects.frozen import entity, factory
from tilewright.dialects.ptx.functions import ExitOp, FuncOp, parts_of
from tilewright.lowering.ptx.parsing.calls import read_parts
from tilewright.lowering.ptx.parsing.kernels import KernelReading
from tilewright.lowering.ptx.parsing.names import Names, Symbol
from tilewright.lowering.ptx.parsing.reader import Reader
from tilewright.lowering.ptx.parsing.signatures import Callee
from tilewright.lowering.ptx.parsing.ssa import Variable
from tilewright.lowering.ptx.parsing.statements import PtxError, PtxStatement

_ACCESS = re.compile(r"(?:ld|st)\.param(?:\.v(\d))?\.(\w+)")
_LINKAGE = re.compile(r"\.(?:visible|weak|extern)\b")


@entity
class FunctionReading(KernelReading):
    """The reading of a function by itself."""

    EXIT = ExitOp

    callee: Callee
    _scope: Names = factory(Names)
    _returns: Sequence[StringAttr] = ()

    def function(self) -> FuncOp:
        """The function. Raises PtxError."""
        callee, self._scope = self.callee, Names(self.outer)
        for declared in callee.parameters:
            self._declare(callee.declared(declared), self._scope)
        head = f"{self.head.name} {self.head.text}"
        returns, parameters = (
            [*map(self._passed, declared)] for declared in (callee.results, callee.inputs)
        )
        linkage, self._returns = _LINKAGE.search(head), returns
        op: Any = FuncOp.of_fields(
            sym_name=callee.name, parameters=parameters, returns=returns,
            linkage=linkage and linkage[0], noreturn=".noreturn" in head,
        )  # fmt: skip
        op.add_region(Region() if callee.statements is None else self._blocks(op))
        op.located = partial(self.source.location, self.head.position)
        try:
            op.verify_()
        except VerifyException as error:
            raise PtxError(str(error), self.head.position) from error
        return op

    def _blocks(self, op: FuncOp) -> Region:
        """The blocks, and in the op the function's local memory."""
        callee, flow = self.callee, self._flow()
        flow.add(self.body, Names(self._scope))
        first, given = flow.parts[0].block, dict[Variable, SSAValue]()
        for part in parts_of(op.parameters):
            known = self._scope.find(callee.inputs[part.variable]["name"])
            argument = first.insert_arg(part.register, len(first.args))
            if isinstance(known, Symbol):
                known.value = None if callee.inputs[part.variable]["size"] else argument
                known = known.part(part.offset, part.register.kind.data, part.width)
            assert known is not None
            given[known] = argument
        region, reader = self._read(flow.parts, self._scope, given)
        if reader.local.end:
            op.local, op.local_align = number(reader.local.end), number(reader.local.align)
        return region

    def _returned(self, reader: Reader) -> Sequence[SSAValue]:
        reader.scope = self._scope
        return read_parts(
            reader, [one["name"] for one in self.callee.results], parts_of(self._returns)
        )

    def _passed(self, declared: re.Match[str]) -> StringAttr:
        """The type of a variable that is passed: of bytes with the parts that the function loads or
        stores, the widest where one is in another; where it has none, of all that it returns, or
        passes elsewhere."""
        name, size, align = declared.group("name", "size", "align")
        number_, width = _number(declared["type"])
        accessed = sorted(
            {place for one in self.body for place in _places(one, name)}, reverse=True
        )
        if size is None:
            return StringAttr(next((type_ for w, _, type_ in accessed if w == width), number_))
        parts = list[tuple[int, int, str]]()
        for width_, start, type_ in accessed:
            inside = [s <= start and start + width_ <= s + w for w, s, _ in parts]
            apart = [start + width_ <= s or s + w <= start for w, s, _ in parts]
            if not any(inside):
                if not all(apart):
                    raise PtxError(f"expected parts of {name} that are apart", self.head.position)
                parts.append((width_, start, type_))
        if not parts and (self.callee.statements is None or declared in self.callee.results):
            unit = gcd(int(size) * width, int(align or width), 8)
            parts = [(unit, start, f"b{8 * unit}") for start in range(0, int(size) * width, unit)]
        words = (f" {type_}+{start}" for _, start, type_ in sorted(parts, key=itemgetter(1)))
        return StringAttr(f"bytes{int(size) * width}_{align or width}{''.join(words)}")


def _number(type_: str) -> tuple[str, int]:
    """The type of a number as it is passed, and its bytes."""
    bits = re.sub(r"\D", "", type_)
    return type_ if type_ in ("f32", "f64") else f"b{bits}", int(bits or 0) // 8


def _places(statement: PtxStatement, name: str) -> list[tuple[int, int, str]]:
    """The bytes of each number that a statement loads from a variable or stores there, where they
    begin, and its type."""
    match = _ACCESS.fullmatch(statement.name) if name in statement.text else None
    places = list[tuple[int, int, str]]()
    for operand in () if match is None else read(statement.text):
        if match is not None and operand.kind == "address" and operand.items[0].text == name:
            type_, width = _number(match[2])
            begins = (operand.value + place * width for place in range(int(match[1] or 1)))
            places += [(width, begin, type_) for begin in begins]
    return places
