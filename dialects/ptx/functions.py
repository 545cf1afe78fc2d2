"""Functions of a module, and calls of them. PTX ISA 7.1, 9.7.12.5, 9.7.12.6 and 11.2.2.

What is passed is in variables: numbers, or bytes of which parts are read and written. Each number,
and each part, is a value of a call and of the function.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttrConstr,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
)
from xdsl.ir import Operation
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, SymbolOpInterface

from tilewright.dialects.ancestors import symbol
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, Requirement, needs
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.illegal import listed
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.ptx.identifiers import why_no_identifier
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.dialects.ptx.types import B64, RegType, reg

_NUMBERS = "b8", "b16", "b32", "b64", "f32", "f64"
_NUMBER = "|".join(_NUMBERS)
_VARIABLE = re.compile(
    rf"(?P<number>{_NUMBER})|bytes(\d+)_(\d+)(?P<parts>(?: (?:{_NUMBER})\+\d+)*)"
)


class PassedPart(NamedTuple):
    """A value that is passed: the place of its variable among those of the function, its type, and
    the byte of the variable that it begins at."""

    variable: int
    type: str
    offset: int

    @property
    def register(self) -> RegType:
        """The register that it is passed from and into."""
        return reg(REGISTER_OF.get(self.type, "b16"))

    @property
    def width(self) -> int:
        """Its bits."""
        return int(self.type[1:])


def parts_of(variables: Iterable[StringAttr]) -> list[PassedPart]:
    """The values that are passed in variables of these types."""
    parts = list[PassedPart]()
    for place, variable in enumerate(variables):
        type_, *some = variable.data.split()
        for part in some if type_ not in _NUMBERS else (f"{type_}+0",):
            number, _, offset = part.partition("+")
            parts.append(PassedPart(place, number, int(offset)))
    return parts


@fields_op("ptx.func")
class FuncOp(PtxOp):
    """A function: `.func (results) name (parameters) { body }`, or, without a body, what is known
    of one elsewhere. PTX ISA 11.2.2.

    ```mlir
    ptx.func @twice ["b32"] -> ["b32"] {
    ^0(%x: !ptx.reg<b32>):
      %y = ptx.add s32 %x, %x
      ptx.ret %y : !ptx.reg<b32>
    }
    ```

    `bytes16_8 f64+0 b32+8` are 16 bytes aligned to 8, of which eight are one value and four from
    the eighth on another one. `linkage` is `.visible`, `.weak` or `.extern`, `local` the memory
    of each thread that the function has for itself, `address` the number that its address is
    where it runs, if something takes it.
    """

    sym_name = prop_def(SymbolNameConstraint())
    parameters = prop_def(ArrayAttr[StringAttr])
    returns = prop_def(ArrayAttr[StringAttr])
    linkage = opt_prop_def(StringAttr)
    local = opt_prop_def(NUMBER)
    local_align = opt_prop_def(NUMBER)
    noreturn = opt_prop_def(UnitAttr)
    address = opt_prop_def(NUMBER)

    body = region_def()

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    assembly_format = (
        "$sym_name $parameters `->` $returns (`linkage` $linkage^)? (`local` $local^)?"
        " (`align` $local_align^)? (`noreturn` $noreturn^)? (`address` $address^)?"
        " attr-dict-with-keyword $body"
    )

    def verify_(self) -> None:
        self.refuse(why_no_identifier(self.sym_name.data, "a name that PTX takes"))
        for variable in (*self.parameters, *self.returns):
            if not _VARIABLE.fullmatch(variable.data):
                legal = f"{', '.join(_NUMBERS)} or as bytes16_8 f64+0 b32+8"
                raise self.fail(f"variables of {legal}, got {variable.data}")
        if self.linkage is not None and self.linkage.data not in (".visible", ".weak", ".extern"):
            raise self.fail(f".visible, .weak or .extern, got {self.linkage.data}")
        legal = [part.register for part in parts_of(self.parameters)]
        if self.body.blocks and [*self.body.blocks[0].arg_types] != legal:
            raise self.fail("an entry block with one register a value that is passed")

    def requirement(self) -> Requirement:
        return BASELINE if self.noreturn is None else needs("sm_70 6.4")


FUNCTIONS = "ptx.functions"
"""The attribute of a variable that has addresses of functions: their names by the numbers of words
of 64 bits, which are the numbers that these are."""


def addressed(op: Operation, name: str) -> bool:
    """True where a name is that of a function of the module whose address is taken."""
    function = symbol(op, name)
    return isinstance(function, FuncOp) and function.address is not None


@fields_op("ptx.call")
class CallOp(PtxOp):
    """Call a function of the module: `call (results), name, (arguments)`, with `uniform` by all
    threads of the warp: `call.uni`. An `indirect` call is of any function that passes the same,
    whose address is the first argument. PTX ISA 9.7.12.5.

    ```mlir
    %y = ptx.call @twice(%x) uniform : (!ptx.reg<b32>) -> !ptx.reg<b32>
    ```
    """

    ASKS_AROUND = True

    callee = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def(RegType)
    returned = var_result_def(RegType)
    uniform = opt_prop_def(UnitAttr)
    indirect = opt_prop_def(UnitAttr)

    assembly_format = (
        "(`indirect` $indirect^)? $callee `(` $arguments `)` (`uniform` $uniform^)? attr-dict `:`"
        " functional-type($arguments, $returned)"
    )

    @property
    def function(self) -> FuncOp | None:
        """The function of the module that is called, if it has one of the name."""
        callee = symbol(self, self.callee.string_value())
        return callee if isinstance(callee, FuncOp) else None

    def verify_(self) -> None:
        if (function := self.function) is None:
            raise self.fail(f"a ptx.func of the module, got {self.callee}")
        address = [] if self.indirect is None else [B64]
        for given, first, variables in (
            (self.arguments, address, function.parameters), (self.returned, [], function.returns)
        ):  # fmt: skip
            legal = first + [part.register for part in parts_of(variables)]
            if [*given.types] != legal:
                raise self.fail(f"registers ({listed(legal)}) of {self.callee}, got "
                                f"({listed(given.types)})")  # fmt: skip


@fields_op("ptx.ret")
class RetOp(PtxOp):
    """Leave the kernel, or a function with what it returns. PTX ISA 9.7.12.6."""

    values = var_operand_def(RegType)

    traits = traits_def(IsTerminator(), HasParent(EntryOp, FuncOp))

    assembly_format = "($values^ `:` type($values))? attr-dict"

    def verify_(self) -> None:
        function = self.parent_op()
        variables = function.returns if isinstance(function, FuncOp) else ()
        legal = [part.register for part in parts_of(variables)]
        if [*self.values.types] != legal:
            raise self.fail(f"registers ({listed(legal)}), got ({listed(self.values.types)})")


@fields_op("ptx.exit")
class ExitOp(PtxOp):
    """Leave the kernel from a function. PTX ISA 9.7.12.7."""

    traits = traits_def(IsTerminator(), HasParent(FuncOp))
