"""Constants, special registers, and moves and names between registers. PTX ISA 9.7.9, 10."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.cute_nvgpu.lattice.data_movement import (
    CLUSTER_REGISTERS,
    HALVES,
    MOV,
    OF_LAUNCH,
    SCOPES,
    TIMES,
)
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.operand_text import constant
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.fields import NUMBER, fields_op, number
from tilewright.dialects.illegal import listed
from tilewright.dialects.ptx.instruction import (
    PureOp,
    RowOp,
    SharedPlace,
    content,
    parse_form,
)
from tilewright.dialects.ptx.types import B32, B64, KINDS, RegType, reg

SPECIAL_REGISTERS = (
    *(f"{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"),
    "laneid",
    "warpid",
    "nwarpid",
    "smid",
    "nsmid",
    *(f"lanemask_{relation}" for relation in ("eq", "lt", "le", "gt", "ge")),
    *CLUSTER_REGISTERS,
)
"""Special registers that ops may read; all are 32 bits wide. PTX ISA 10."""
VARYING = {**TIMES, **{name: kind for name, (kind, _) in OF_LAUNCH.items()}}
"""Others, and the kinds of their registers."""


NAMED = "ptx.named"
"""The attribute of an op whose result is its operand's register in the text that it was read from:
bits of either kind, or the low half of an address of 64 bits; of a constant that is in a register
there; of an `add` of an address and a constant that stand as `[a+8]` there; of the address of a
variable that stands as `[s+8]`."""


IN_PLACE = "ptx.in_place"
"""The attribute of an op whose result takes the register of an operand, as in such a text, or where
that is one of a wgmma: ptxas allocates it otherwise, or spills, where it does not."""


class NameOp(PureOp):
    """A name of registers, no instruction."""


class MoveOp(PureOp, RowOp):
    """A form of `mov`, which has no effect but its result."""

    @property
    def row(self) -> InstructionRow:
        return self.ROW or MOV[self.data.type.kind.data]


class SpecialOp(RowOp):
    """A read of a special register."""

    register = prop_def(StringAttr)

    @property
    def source(self) -> str:
        """The register, as PTX calls it."""
        return f"%{self.register.data}"


@fields_op("ptx.const")
class ConstOp(MoveOp):
    """A constant: its bits in a register, or an immediate where the instruction takes one.

    ```mlir
    %0 = ptx.const 16 : !ptx.reg<b32>
    ```
    """

    bits = prop_def(NUMBER)
    result = result_def(RegType)

    def __init__(self, bits: int, kind: str):
        properties: dict[str, Attribute] = {"bits": number(bits)}
        Operation.__init__(self, result_types=(reg(kind),), properties=properties)

    @property
    def source(self) -> str:
        return constant(self.bits.value.data, self.result.type.kind.data)

    def verify_(self) -> None:
        bits, type_ = self.bits.value.data, self.result.type
        width = KINDS[type_.kind.data]
        if (
            type_.kind.data == "b8"
            or type_.count.data != 1
            or not -(1 << (width - 1)) <= bits < 1 << width
        ):
            raise self.fail(f"a constant of one register, got {bits} for {type_}")

    @property
    def unsigned(self) -> int:
        """The bits as an unsigned integer of the register's width."""
        return self.bits.value.data % (1 << KINDS[self.result.type.kind.data])


@fields_op("ptx.undef")
class UndefOp(NameOp):
    """A register that nothing has written: an error where a result depends on it. No instruction.

    ```mlir
    %0 = ptx.undef : !ptx.reg<b32>
    ```
    """

    result = result_def(RegType)


@fields_op("ptx.sreg", MOV["u32"])
class SregOp(SpecialOp, MoveOp):
    """Read a special register: `mov.u32 d, %tid.x`. PTX ISA 10.

    ```mlir
    %0 = ptx.sreg "tid.x"
    ```
    """

    result = result_def(B32)

    def verify_(self) -> None:
        self.expect_word(self.register.data, SPECIAL_REGISTERS, "one of ")

    def requirement(self) -> Requirement:
        in_clusters = self.register.data in CLUSTER_REGISTERS
        return SCOPES["cluster"] if in_clusters else super().requirement()


@fields_op("ptx.time")
class TimeOp(SpecialOp):
    """Read a special register that counts time, `mov.u64 d, %clock64`, or of which the driver or
    the launch says what it holds. PTX ISA 10.

    ```mlir
    %0 = ptx.time "clock64" : !ptx.reg<b64>
    ```
    """

    result = result_def(RegType)

    @property
    def row(self) -> InstructionRow:
        return MOV[VARYING.get(self.register.data, "b32")]

    def verify_(self) -> None:
        self.expect_word(self.register.data, VARYING, "one of ")
        self.expect(self.result, reg(VARYING[self.register.data]))

    def requirement(self) -> Requirement:
        _, needed = OF_LAUNCH.get(self.register.data, ("", super().requirement()))
        return needed


@fields_op("ptx.shared_address", MOV["u32"])
class SharedAddressOp(MoveOp):
    """An address in the kernel's shared memory, or in a variable of the module there, by its offset
    in bytes: `mov.u32 d, smem+256`.

    ```mlir
    %0 = ptx.shared_address 256
    %1 = ptx.shared_address 4 variable "s"
    ```
    """

    offset = prop_def(NUMBER)
    variable = opt_prop_def(StringAttr)
    result = result_def(B32)

    @property
    def source(self) -> SharedPlace:
        return SharedPlace(self.offset.value.data, variable=content(self.variable) or "")

    def verify_(self) -> None:
        if not 0 <= (offset := self.offset.value.data) < 1 << 32:
            raise self.fail(f"an offset of 32 bits from 0 on, got {offset}")


@fields_op("ptx.local_address", MOV["b64"])
class LocalAddressOp(MoveOp):
    """An address in the memory that a thread has for itself, by its offset in bytes: `mov.b64 d,
    local+16`.

    ```mlir
    %0 = ptx.local_address 16
    ```
    """

    offset = prop_def(NUMBER)
    result = result_def(B64)

    @property
    def source(self) -> SharedPlace:
        return SharedPlace(self.offset.value.data, local=True)

    def verify_(self) -> None:
        if self.offset.value.data < 0:
            raise self.fail(f"an offset from 0 on, got {self.offset.value.data}")


@fields_op("ptx.mov")
class MovOp(MoveOp):
    """Move the bits of a register to another of the same width: `mov.b32`, or `mov.f32` between two
    of one kind. PTX ISA 9.7.9.1."""

    source = operand_def(RegType)
    result = result_def(RegType)

    @property
    def row(self) -> InstructionRow:
        kind = self.result.type.kind.data
        is_same = self.source.type == self.result.type
        return MOV[kind if is_same or kind == "pred" else f"b{KINDS[kind]}"]

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        result, source = self.row.operands
        return result, replace(source, plain=False)

    def verify_(self) -> None:
        source, result = self.source.type, self.result.type
        assert isinstance(source, RegType)
        widths = [KINDS[type_.kind.data] for type_ in (source, result)]
        single = source.count.data == result.count.data == 1
        if not single or widths[0] != widths[1] or widths[0] == 8:
            raise self.fail(f"single registers of one width, got {source} and {result}")


_WHOLES: dict[Attribute, RegType] = {reg(half): reg(whole) for whole, half in HALVES.items()}


@fields_op("ptx.pack")
class PackOp(MoveOp):
    """Two registers side by side in one of twice the width: `mov.b32 d, {lo, hi}` of 16-bit
    registers, `mov.b16` of 8-bit ones, `mov.b64` of 32-bit ones. PTX ISA 9.7.9.2.

    ```mlir
    %0 = ptx.pack b32 %lo, %hi
    ```
    """

    OPERANDS: ClassVar = {"a": "low + high"}

    low = operand_def(RegType)
    high = operand_def(RegType)
    result = result_def(RegType)

    def __init__(self, low: SSAValue, high: SSAValue):
        super().__init__(low, high, _WHOLES.get(low.type, B32))

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return self.row.alternatives[0]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        _, halves = parse_form(cls, parser, HALVES, lambda half: [reg(half)] * 2)
        op = cls(*halves)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.result.type.kind.data} ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        kind = self.result.type
        half = reg(HALVES.get(kind.kind.data, "b16"))
        if kind not in map(reg, HALVES) or {self.low.type, self.high.type} != {half}:
            raise self.fail(
                f"two halves of a b16, b32 or b64 register, got {self.low.type}, {self.high.type} "
                f"for {kind}"
            )


@fields_op("ptx.unpack")
class UnpackOp(MoveOp):
    """The two 16-bit halves of a 32-bit register: `mov.b32 {lo, hi}, a`; with `octets` the two
    bytes of a 16-bit one, `mov.b16`, with `words` those of a 64-bit one. PTX ISA 9.7.9.2.

    ```mlir
    %0 = ptx.unpack %a
    ```
    """

    source = operand_def(RegType)
    halves = result_def(RegType)

    def __init__(self, source: SSAValue):
        assert isinstance(source.type, RegType)
        super().__init__(source, reg(HALVES.get(source.type.kind.data, "b16"), 2))

    @property
    def whole(self) -> str:
        """The kind of its source."""
        assert isinstance(self.source.type, RegType)
        kind = self.source.type.kind.data
        return kind if kind in HALVES else "b32"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        said = parser.parse_optional_keyword_in(("octets", "words"))
        operand = parser.parse_unresolved_operand()
        whole = reg({"octets": "b16", "words": "b64"}.get(said or "", "b32"))
        op = cls(parser.resolve_operand(operand, whole))
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string({"b16": " octets ", "b64": " words "}.get(self.whole, " "))
        printer.print_operand(self.source)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        whole = self.whole
        if (self.source.type, self.halves.type) != (reg(whole), reg(HALVES[whole], 2)):
            raise self.fail(
                f"the halves of a {whole} register, got {self.halves.type} of {self.source.type}"
            )

    @property
    def row(self) -> InstructionRow:
        return MOV[self.whole]

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return self.row.alternatives[1]


@fields_op("ptx.list.make")
class ListMakeOp(NameOp):
    """A register list of these registers and lists, in order. A name, no instruction."""

    parts = var_operand_def(RegType)
    result = result_def(RegType)

    def verify_(self) -> None:
        types = [part.type for part in self.parts if isinstance(part.type, RegType)]
        result = self.result.type
        count = sum(type_.count.data for type_ in types)
        if count != result.count.data:
            raise self.fail(f"{result.count.data} registers, got {count}")
        if any(type_.kind != result.kind for type_ in types):
            raise self.fail(f"registers {result.kind.data}, got {listed(types)}")


@fields_op("ptx.list.get")
class ListGetOp(NameOp):
    """Registers of a list, those from a place on. A name, no instruction."""

    source = operand_def(RegType)
    position = prop_def(NUMBER)
    registers = var_result_def(RegType)

    assembly_format = "$source `[` $position `]`"

    def __init__(self, source: SSAValue, position: int, count: int = 1):
        assert isinstance(source.type, RegType)
        super().__init__(source, [reg(source.type.kind.data)] * count, position)

    def verify_(self) -> None:
        source = self.source.type
        assert isinstance(source, RegType)
        count, most, position = len(self.registers), source.count.data, self.position.value.data
        if not 0 < count <= most:
            raise self.fail(f"1 to {most} registers, got {count}")
        if not 0 <= position <= most - count:
            raise self.fail(f"a position below {most - count + 1}, got {position}")
        for register in self.registers:
            if register.type != reg(source.kind.data):
                raise self.fail(f"result {reg(source.kind.data)}, got {register.type}")
