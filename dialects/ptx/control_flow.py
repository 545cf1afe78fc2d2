"""Kernel entries and control flow. PTX ISA 5.4.1, 9.7.12."""

import re
from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
    i32,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    successor_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, SymbolOpInterface

from tilewright.dialects.cute_nvgpu.lattice.data_movement import PARAMETER_TYPES as _SCALARS
from tilewright.dialects.cute_nvgpu.lattice.data_movement import SCOPES
from tilewright.dialects.cute_nvgpu.lattice.launch import (
    MAX_PARAMETER_BYTES,
    parameter_version,
    why_illegal_block,
    why_illegal_cluster,
)
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import is_alignment
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, Requirement, needs
from tilewright.dialects.field_counts import segments
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.illegal import Illegal, listed
from tilewright.dialects.integers import integer_of
from tilewright.dialects.ptx.identifiers import why_no_identifier
from tilewright.dialects.ptx.instruction import PtxOp, content
from tilewright.dialects.ptx.types import PRED, RegType, reg

TENSORMAP = "tensormap"
"""A parameter of 128 bytes that the hardware reads: `.param .align 64 .b8 name[128]`."""

PARAMETER_TYPES: dict[str, str] = {**_SCALARS, TENSORMAP: "b64"}
"""Types of kernel parameters, and the register that each comes in: `ld.param` loads its value, but
of a tensor map the kernel has the generic address."""

_BYTES = re.compile(r"bytes(\d+)_(\d+)")


def parameter_register(type_: str) -> str | None:
    """The register that a parameter of a type comes in, None where there is no such type. Of
    `bytes24_8`, 24 bytes aligned to 8, the kernel has the address among the parameters."""
    return "b64" if _BYTES.fullmatch(type_) else PARAMETER_TYPES.get(type_)


def parameter_layout(type_: str) -> tuple[int, int]:
    """The bytes of a parameter of a type, and their alignment."""
    if type_ == TENSORMAP:
        return 128, 64
    if (match := _BYTES.fullmatch(type_)) is not None:
        return int(match[1]), int(match[2])
    size = int(type_[1:]) // 8
    return size, size


MIN_CTAS = "nvvm.minctasm"
"""The attribute of a kernel that says how many of its CTAs a multiprocessor is to hold: registers
are given out accordingly (`.minnctapersm`). PTX ISA 11.4.5."""

MAX_REGISTERS = "nvvm.maxnreg"
"""The attribute of a kernel that says how many registers a thread may have (`.maxnreg`). PTX ISA
11.4.1."""

SHARED_VARIABLES = "ptx.shared_variables"
"""The attribute of a kernel that says where the variables in its shared memory begin: the text has
a symbol for each, which ptxas gives addresses of their own."""

EXPLICIT_CLUSTER = "ptx.explicitcluster"
"""The attribute of a kernel that is launched in clusters as it says (`.explicitcluster`). PTX ISA
11.7.2."""

GUARDED = "ptx.guarded"
"""The attribute of a branch, and of an `scf.if`, whose first block is instructions under its
predicate, as a text has them that it was read from."""

COMPUTES_LATE = "cuda_tile.computes_late"
"""The attribute of a kernel whose instructions are computed right in front of what needs them: one
whose threads have as many elements of a tile as its author says."""

BLOCK_CTAS = "cuda_tile.block_ctas"
"""The attribute of a kernel that says how many CTAs along x are one block of its callers' grid."""

BY_WARPS = "ptx.by_warps"
"""The attribute of an `scf.if` whose first region a warp executes where the condition holds in all
of its threads, in front of which they are together; either gives what the other would there."""

COMPUTES_AGAIN = "ptx.computes_again"
"""The attribute of an `scf.for` whose iterations compute again what does not change in them: no
registers are left to hold it."""

TAKES_BLOCKS = "cuda_tile.takes_blocks"
"""The attribute of a kernel whose CTAs take blocks of its callers' grid in turn, "alike" or
"longest first": the last five parameters are its extents, and the first and the end of the blocks
that they take."""


def block_ctas(kernel: Operation) -> int:
    """The CTAs that are one block of a kernel's grid."""
    return integer_of(kernel.attributes.get(BLOCK_CTAS), 1)


@fields_op("ptx.entry")
class EntryOp(PtxOp):
    """A kernel: `.entry name(params) { body }`. PTX ISA 5.4.1.

    ```mlir
    ptx.entry @axpy(%x: u64, %n: u32) shared 1024 align 128 {
      ptx.ret
    }
    ```

    The block arguments of the entry block are the parameters, already loaded. `shared` is the
    kernel's static or (above 48 KB) dynamic shared memory in bytes, `local` the memory of each
    thread, aligned to 16 bytes or, as `local 24 align 8`, to others. A parameter may carry
    attributes, `%x: u64 {cute.from = #cute.argument<0, pointer>}`.
    """

    sym_name = prop_def(SymbolNameConstraint())
    parameters = prop_def(ArrayAttr[StringAttr])
    parameter_names = prop_def(ArrayAttr[StringAttr])
    shared = prop_def(NUMBER)
    align = prop_def(NUMBER)
    local = opt_prop_def(NUMBER)
    local_align = opt_prop_def(NUMBER)
    reqntid = opt_prop_def(DenseArrayBase.constr(i32))
    maxntid = opt_prop_def(DenseArrayBase.constr(i32))
    cluster = opt_prop_def(DenseArrayBase.constr(i32))
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])

    body = region_def()

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        parameters: Sequence[tuple[str, str]],
        body: Region,
        shared: int = 0,
        align: int = 16,
        reqntid: Sequence[int] | None = None,
        cluster: Sequence[int] | None = None,
        arg_attrs: Sequence[DictionaryAttr] = (),
        local: int = 0,
        local_align: int = 16,
        maxntid: Sequence[int] | None = None,
    ):
        names, kinds = ([StringAttr(pair[at]) for pair in parameters] for at in range(2))
        extents = {"reqntid": reqntid, "maxntid": maxntid, "cluster": cluster}
        super().__init__(
            name, kinds, names, shared, align,
            local=local or None,
            local_align=local_align if local_align != 16 else None,
            arg_attrs=arg_attrs if any(one.data for one in arg_attrs) else None,
            **{
                word: None if of is None else DenseArrayBase.from_list(i32, of)
                for word, of in extents.items()
            },
        )  # fmt: skip
        self.add_region(body)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data
        parsed = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_parameter(parser)
        )
        shared, align = 0, 16
        if parser.parse_optional_keyword("shared"):
            shared = parser.parse_integer(allow_boolean=False)
            parser.parse_keyword("align")
            align = parser.parse_integer(allow_boolean=False)
        local = parser.parse_integer() if parser.parse_optional_keyword("local") else 0
        is_aligned = bool(local) and parser.parse_optional_keyword("align")
        local_align = parser.parse_integer() if is_aligned else 16
        reqntid, maxntid, cluster = (
            parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_integer)
            if parser.parse_optional_keyword(word)
            else None
            for word in ("reqntid", "maxntid", "cluster")
        )
        keyword = parser.parse_optional_attr_dict_with_keyword()
        arguments = [
            argument.resolve(reg(parameter_register(type_) or "")) for argument, type_, _ in parsed
        ]
        body = parser.parse_region(arguments)
        if not body.blocks:
            body.add_block(Block(arg_types=[argument.type for argument in arguments]))
        names = [(argument.name.text[1:], type_) for argument, type_, _ in parsed]
        attributes = [attribute for *_, attribute in parsed]
        op = cls(
            name, names, body, shared, align, reqntid, cluster, attributes, local, local_align,
            maxntid,
        )  # fmt: skip
        op.attributes |= {} if keyword is None else keyword.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        attributes = self.arg_attrs or [DictionaryAttr({})] * len(self.parameters)
        arguments = zip(self.body.blocks[0].args, self.parameters, attributes, strict=True)
        with printer.in_parens():
            printer.print_list(arguments, lambda argument: _print_parameter(printer, *argument))
        if self.shared.value.data:
            printer.print_string(f" shared {self.shared.value.data} align {self.align.value.data}")
        if self.local is not None:
            printer.print_string(f" local {self.local.value.data}")
        if self.local_align is not None:
            printer.print_string(f" align {self.local_align.value.data}")
        for word in ("reqntid", "maxntid", "cluster"):
            extents: DenseArrayBase[IntegerType] | None = getattr(self, word)
            if extents is not None:
                printer.print_string(f" {word}({', '.join(map(str, extents.get_values()))})")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    def requirement(self) -> Requirement:
        """Tensor maps and clusters are sm_90's, many parameters PTX 8.1's."""
        has_map = any(parameter.data == TENSORMAP for parameter in self.parameters)
        base = SCOPES["cluster"] if has_map or self.cluster is not None else super().requirement()
        version = parameter_version(self.parameter_bytes) or base.version
        return Requirement(base.target, max(base.version, version))

    @property
    def parameter_bytes(self) -> int:
        """The bytes that the parameters take, each at a multiple of its alignment. PTX ISA
        5.1.6.1."""
        end = 0
        for parameter in self.parameters:
            size, align = parameter_layout(parameter.data)
            end = -(-end // align) * align + size
        return end

    def verify_(self) -> None:
        rule = "a name that PTX takes, under which the driver finds the kernel"
        self.refuse(why_no_identifier(self.sym_name.data, rule))
        self._verify_shape()
        legal = list[RegType]()
        for parameter in self.parameters:
            if (kind := parameter_register(parameter.data)) is None:
                raise self.fail(
                    f"parameter types of {', '.join(PARAMETER_TYPES)}, got {parameter.data}"
                )
            legal.append(reg(kind))
        if not self.body.blocks or [*self.body.blocks[0].arg_types] != legal:
            raise self.fail("an entry block with one register a parameter")
        if len(self.body.blocks) > 1 and self.body.blocks[0].is_empty:
            raise self.fail("instructions in the entry block")
        self._verify_launch()

    def _verify_shape(self) -> None:
        shared, align = self.shared.value.data, self.align.value.data
        if len(self.parameters) != len(self.parameter_names):
            raise self.fail(
                f"{len(self.parameters)} parameter names, got {len(self.parameter_names)}"
            )
        if self.arg_attrs is not None and len(self.arg_attrs) != len(self.parameters):
            raise self.fail(
                f"attributes of {len(self.parameters)} parameters, got {len(self.arg_attrs)}"
            )
        if self.local is not None and self.local.value.data < 1:
            raise self.fail(f"some bytes of local memory, got {self.local.value.data}")
        local_align = content(self.local_align) or 16
        if not is_alignment(local_align):
            raise self.fail(f"local memory aligned to a power of two, got {local_align}")
        if shared < 0 or not is_alignment(align):
            raise self.fail(
                "shared memory aligned to a power of two of 31 bits, got "
                f"{shared} bytes aligned to {align}"
            )

    def _verify_launch(self) -> None:
        if parameter_version(self.parameter_bytes) is None:
            raise self.fail(
                f"parameters of at most {MAX_PARAMETER_BYTES} bytes, got {self.parameter_bytes}"
            )
        blocks = ((extents, why_illegal_block) for extents in (self.reqntid, self.maxntid))
        least = self.attributes.get(MIN_CTAS, IntegerAttr(1, i32))
        if not isinstance(least, IntegerAttr) or not 0 < least.value.data < 1 << 31:
            raise self.fail(f"{MIN_CTAS} as a count of 31 bits from 1, got {least}")
        for extents, why_illegal in (*blocks, (self.cluster, why_illegal_cluster)):
            if extents is not None:
                self.refuse(why_illegal(extents.get_values()))


def _parse_parameter(parser: Parser) -> tuple[Parser.UnresolvedArgument, str, DictionaryAttr]:
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation(":")
    start = parser.pos
    type_ = parser.parse_identifier()
    if parameter_register(type_) is None:
        parser.raise_error(
            f"expected a parameter type of {', '.join(PARAMETER_TYPES)}, got {type_}",
            start,
            parser.pos,
        )
    return argument, type_, DictionaryAttr(parser.parse_optional_attr_dict())


def _print_parameter(
    printer: Printer, argument: SSAValue, parameter: StringAttr, attributes: DictionaryAttr
) -> None:
    printer.print_ssa_value(argument)
    printer.print_string(f": {parameter.data}")
    printer.print_op_attributes(attributes.data)


@fields_op("ptx.bra")
class BraOp(PtxOp):
    """Go to a block: `bra.uni LABEL`. PTX ISA 9.7.12.3."""

    arguments = var_operand_def(RegType)
    dest = successor_def()

    traits = traits_def(IsTerminator())

    assembly_format = "$dest (`(` $arguments^ `:` type($arguments) `)`)? attr-dict"

    def __init__(self, dest: Block, arguments: Sequence[SSAValue] = ()):
        Operation.__init__(self, operands=arguments, successors=[dest])

    def verify_(self) -> None:
        _verify_edge(self.arguments, self.dest)


@fields_op("ptx.cond_bra")
class CondBraOp(PtxOp):
    """Go to one of two blocks by a predicate: `@p bra LABEL`, `uniform` where a warp's threads go
    together (`bra.uni`). PTX ISA 9.7.12.3."""

    condition = operand_def(PRED)
    then_arguments = var_operand_def(RegType)
    else_arguments = var_operand_def(RegType)
    uniform = opt_prop_def(UnitAttr)
    then_block = successor_def()
    else_block = successor_def()

    traits = traits_def(IsTerminator())

    assembly_format = (
        "$condition (`uniform` $uniform^)? `,` $then_block"
        " (`(` $then_arguments^ `:` type($then_arguments) `)`)? `,` $else_block"
        " (`(` $else_arguments^ `:` type($else_arguments) `)`)? attr-dict"
    )

    def __init__(
        self,
        condition: SSAValue,
        then_block: Block,
        else_block: Block,
        then_arguments: Sequence[SSAValue] = (),
        else_arguments: Sequence[SSAValue] = (),
    ):
        sizes = segments((1, len(then_arguments), len(else_arguments)))
        Operation.__init__(
            self,
            operands=[condition, *then_arguments, *else_arguments],
            successors=[then_block, else_block],
            properties={AttrSizedOperandSegments.attribute_name: sizes},
        )

    def verify_(self) -> None:
        _verify_edge(self.then_arguments, self.then_block)
        _verify_edge(self.else_arguments, self.else_block)


def _verify_edge(arguments: Sequence[SSAValue], dest: Block) -> None:
    types, legal = tuple(argument.type for argument in arguments), dest.arg_types
    if types != legal:
        raise Illegal(f"expected arguments ({listed(legal)}) for its block, got ({listed(types)})")


_HINTS = {
    "used_bytes_mask": needs("sm_70 8.3"), "enable_smem_spilling": needs("sm_75 8.7"),
    "frequency": needs("sm_70 9.0"),
}  # fmt: skip
"""The needs of hints that are younger than the others, by their first word."""


@fields_op("ptx.pragma")
class PragmaOp(PtxOp):
    """A hint for ptxas where it stands: `.pragma "nounroll";`. PTX ISA 11.5.

    ```mlir
    ptx.pragma "nounroll"
    ```
    """

    hint = prop_def(StringAttr)

    @property
    def mnemonic(self) -> str:
        return f'.pragma "{self.hint.data}"'

    def requirement(self) -> Requirement:
        return _HINTS.get(self.hint.data.partition(" ")[0], BASELINE)

    def verify_(self) -> None:
        if not re.fullmatch(r"[\w ]+", self.hint.data, re.ASCII):
            raise self.fail(f"a hint of words, got {self.hint.data!r}")


@fields_op("ptx.label")
class LabelOp(PtxOp):
    """A label that no branch names: ptxas begins a block there, as it does at those of debuggers.

    ```mlir
    ptx.label
    ```
    """

    @property
    def mnemonic(self) -> str:
        return "{ here: }"
