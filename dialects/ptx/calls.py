"""Calls of the driver's functions (PTX ISA 9.7.12.5), `trap`, and what debuggers and profilers
see."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, var_operand_def

from tilewright.dialects.cute_nvgpu.lattice.data_movement import BRKPT, PMEVENT, PMEVENT_MASK, TRAP
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Constant
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import PtxOp, RowOp
from tilewright.dialects.ptx.types import B64, KINDS, RegType, reg


class DriverCallOp(PtxOp, ABC):
    """A call of one of the driver's functions, and how a module declares it."""

    DECLARATION: ClassVar[str]

    @classmethod
    def function(cls) -> str:
        """The function's name."""
        return cls.name.removeprefix("ptx.")

    @abstractmethod
    def text(self, registers: Sequence[str]) -> Iterator[str]:
        """The call, of the registers that hold its operands and results."""


_PASSED = tuple(map(reg, ("b32", "b64", "f64")))


@fields_op("ptx.vprintf")
class VprintfOp(DriverCallOp):
    """Print as C's printf does, what it takes in local memory: `call (status), vprintf, (a, b)`.

    ```mlir
    ptx.vprintf "%d: %f\\0A", %n, %x : !ptx.reg<b32>, !ptx.reg<f64>
    ```

    Integers are 32 or 64 bits wide, floats are `f64`.
    """

    DECLARATION: ClassVar[str] = (
        ".extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 values);"
    )

    format = prop_def(StringAttr)
    values = var_operand_def()

    assembly_format = "$format attr-dict (`,` $values^ `:` type($values))?"

    def verify_(self) -> None:
        for type_ in self.values.types:
            if type_ not in _PASSED:
                legal = ", ".join(map(str, _PASSED))
                raise self.fail(f"registers of {legal}, got {type_}")
        if "\0" in (text := self.format.data):
            raise self.fail(f"a format without NUL, which ends it, got {text!r}")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise self.fail(f"a format that UTF-8 can spell, got {text!r}")

    def text(self, registers: Sequence[str]) -> Iterator[str]:
        types = [type_ for type_ in self.values.types if isinstance(type_, RegType)]
        stores: list[str] = []
        size = 0
        for type_, register in zip(types, registers, strict=True):
            kind = type_.kind.data
            width = KINDS[kind] // 8
            offset = -(-size // width) * width
            stores.append(f"st.local.{kind} [values+{offset}], {register};")
            size = offset + width
        characters = (*self.format.data.encode(), 0)
        yield f"{{ .local .align 8 .b8 values[{size}];" if stores else "{"
        yield (
            f".global .align 1 .b8 text[{len(characters)}] = {{{', '.join(map(str, characters))}}};"
        )
        yield ".reg .b64 format, place;"
        yield ".param .b64 first; .param .b64 second; .param .b32 printed;"
        yield from stores
        yield "mov.b64 format, text; cvta.global.u64 format, format;"
        given = "mov.b64 place, values; cvta.local.u64 place, place;"
        yield given if stores else "mov.b64 place, 0;"
        yield "st.param.b64 [first], format; st.param.b64 [second], place;"
        yield "call (printed), vprintf, (first, second); }"


@fields_op("ptx.malloc")
class MallocOp(DriverCallOp):
    """The address of so many bytes of the device's heap, a multiple of 16; `trap` where there are
    none: `call (place), malloc, (size)`.

    ```mlir
    %p = ptx.malloc 4096
    ```
    """

    DECLARATION: ClassVar[str] = ".extern .func (.param .b64 place) malloc(.param .b64 size);"

    size = prop_def(NUMBER)
    result = result_def(B64)

    def text(self, registers: Sequence[str]) -> Iterator[str]:
        (place,) = registers
        yield "{ .param .b64 size; .param .b64 place; .reg .pred none;"
        yield f"st.param.b64 [size], {self.size.value.data};"
        yield "call (place), malloc, (size);"
        yield f"ld.param.b64 {place}, [place];"
        yield f"setp.eq.b64 none, {place}, 0; @none trap; }}"


@fields_op("ptx.free")
class FreeOp(DriverCallOp):
    """Give memory of the device's heap back: `call free, (place)`.

    ```mlir
    ptx.free %p
    ```
    """

    DECLARATION: ClassVar[str] = ".extern .func free(.param .b64 place);"

    place = operand_def(B64)

    def text(self, registers: Sequence[str]) -> Iterator[str]:
        (place,) = registers
        yield f"{{ .param .b64 place; st.param.b64 [place], {place}; call free, (place); }}"


@fields_op("ptx.trap", TRAP)
class TrapOp(RowOp):
    """`trap`: stop the kernel with an error. PTX ISA 9.7.19.5."""


@fields_op("ptx.brkpt", BRKPT)
class BrkptOp(RowOp):
    """`brkpt`: stop for a debugger. PTX ISA, brkpt."""


@fields_op("ptx.pmevent", PMEVENT, PMEVENT_MASK)
class PmeventOp(RowOp):
    """`pmevent a`, or `pmevent.mask a`: count an event of the performance monitor, or a `mask` of
    several. PTX ISA, pmevent.

    ```mlir
    ptx.pmevent mask 7
    ```
    """

    OPERANDS: ClassVar = {"a": "events"}

    mask = opt_prop_def(UnitAttr)
    events = prop_def(NUMBER)

    assembly_format = "(`mask` $mask^)? $events attr-dict"

    @property
    def row(self) -> InstructionRow:
        return PMEVENT_MASK if self.mask else PMEVENT

    def verify_(self) -> None:
        [known] = self.row.operands
        assert isinstance(known, Constant) and known.legal is not None
        if (events := self.events.value.data) not in known.legal:
            raise self.fail(f"a number of 0 to {known.legal[-1]}, got {events}")
