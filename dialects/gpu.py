"""xDSL's `gpu` dialect with `gpu.printf`, and the text that MLIR gives the ops around a kernel.

gpu.module @kernels {
  gpu.func @f(%n: i32) kernel {
    gpu.printf "%d\\0A", %n : i32
    gpu.return
  }
}
"""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Self, TypeAlias

from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import DenseArrayBase, FunctionType, IndexType, StringAttr, UnitAttr, i32
from xdsl.ir import Attribute, Block, Dialect, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, var_operand_def
from xdsl.irdl.declarative_assembly_format import FormatProgram
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.traits import WRITES

FunctionOp: TypeAlias = func.FuncOp | gpu.FuncOp
"""A function of MLIR, on the host or on a device."""


def is_kernel(op: Operation) -> bool:
    """A `gpu.func` with `kernel`, or a `func.func` with the attribute `gpu.kernel`."""
    if isinstance(op, gpu.FuncOp):
        return op.kernel is not None
    return isinstance(op, func.FuncOp) and "gpu.kernel" in op.attributes


NUMBERS: dict[type[Operation], str] = {
    gpu.ThreadIdOp: "tid",
    gpu.BlockIdOp: "ctaid",
    gpu.BlockDimOp: "ntid",
    gpu.GridDimOp: "nctaid",
}
"""The ops that give the numbers and counts of threads and blocks, and PTX's registers of them."""


def register_of(op: Any) -> str:
    """The special register that such an op reads, `tid.x`."""
    return f"{NUMBERS[type(op)]}.{op.dimension.data.value}"


@irdl_op_definition
class PrintfOp(IRDLOperation):
    """Print as C's printf does, each thread for itself: `gpu.printf "%d\\0A", %x : i32`."""

    name = "gpu.printf"

    args = var_operand_def()
    format = prop_def(StringAttr)

    traits = WRITES

    assembly_format = "$format attr-dict (`,` $args^ `:` type($args))?"

    def __init__(self, format_: str, args: Sequence[SSAValue]):
        super().__init__(operands=[args], properties={"format": StringAttr(format_)})


def _formatted(op: type[IRDLOperation], assembly_format: str) -> type[IRDLOperation]:
    """An op of xDSL's with MLIR's text."""
    program = FormatProgram.from_str(assembly_format, op.get_irdl_definition())

    def parse(cls: type[IRDLOperation], parser: Parser) -> IRDLOperation:
        return program.parse(parser, cls)

    def print_(self: IRDLOperation, printer: Printer) -> None:
        program.print(printer, self)

    return type(op.__name__, (op,), {"parse": classmethod(parse), "print": print_})


ReturnOp = _formatted(gpu.ReturnOp, "attr-dict ($args^ `:` type($args))?")
TerminatorOp = _formatted(gpu.TerminatorOp, "attr-dict")


class ModuleOp(gpu.ModuleOp):
    """`gpu.module @name { ... }`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        attributes = _parsed_attributes(parser)
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        return cls.create(properties={"sym_name": name}, attributes=attributes, regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)


_SPELLED = {
    "gpu.known_block_size": ("known_block_size", "nvvm.reqntid"),
    "gpu.known_grid_size": ("known_grid_size",),
    "gpu.known_cluster_size": ("known_cluster_size", "nvvm.cluster_dim"),
}
_LAUNCH = [name.removeprefix("gpu.") for name in _SPELLED]


_OF_ENTRY = {"gpu.known_block_size": "reqntid", "gpu.known_cluster_size": "cluster"}
"""The properties of a `ptx.entry` that say the same."""


def known_extents(kernel: Operation, name: str) -> tuple[int, ...] | None:
    """The extents of its launch that a kernel declares under a name, lowered or not."""
    known = kernel.attributes.get(name, kernel.properties.get(_OF_ENTRY.get(name, "")))
    return tuple(map(int, known.get_values())) if isinstance(known, DenseArrayBase) else None


def other_spelling(op: IRDLOperation) -> tuple[str, str] | None:
    """A name by which a kernel says an extent of its launch, or nearly, and the one that is
    read."""
    for name, others in _SPELLED.items():
        for other in others:
            if other in op.attributes:
                return other, name
    for slip in op.attributes:
        meant = get_close_matches(slip.removeprefix("gpu."), _LAUNCH, n=1, cutoff=0.85)
        if meant and slip not in _SPELLED:
            return slip, f"gpu.{meant[0]}"
    return None


class FuncOp(gpu.FuncOp):
    """`gpu.func @name(%x: i32) kernel { ... }`, without memory attributions.

    What MLIR's own attributes of the op say of its launch, and NVVM's, is kept under the names that
    functions of other dialects have for it: `known_block_size` becomes `gpu.known_block_size`.
    """

    @classmethod
    def create(cls, **parts: Any) -> Self:
        properties, attributes = (
            dict(parts.pop("properties", {})),
            dict(parts.pop("attributes", {})),
        )
        for name, others in _SPELLED.items():
            for other in others:
                given = properties.pop(other, None) or attributes.get(other)
                if given is not None and attributes.setdefault(name, given) == given:
                    attributes.pop(other, None)
        return super().create(properties=properties, attributes=attributes, **parts)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        results: Sequence[Attribute] = ()
        if parser.parse_optional_punctuation("->"):
            results = parser.parse_optional_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_type
            ) or [parser.parse_type()]
        type_ = FunctionType.from_lists([argument.type for argument in arguments], results)
        for keyword in ("workgroup", "private"):
            if parser.parse_optional_keyword(keyword):
                parser.raise_error(f"'{cls.name}' expected no memory attributions, got {keyword}")
        properties: dict[str, Attribute] = {"function_type": type_}
        if parser.parse_optional_keyword("kernel"):
            properties["kernel"] = UnitAttr()
        attributes = {"sym_name": name, **_parsed_attributes(parser)}
        body = parser.parse_region(arguments)
        return cls.create(properties=properties, attributes=attributes, regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.body.blocks[0].args, printer.print_block_argument)
        if results := self.function_type.outputs.data:
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(results, printer.print_attribute)
        if self.kernel is not None:
            printer.print_string(" kernel")
        printer.print_op_attributes(
            self.attributes, reserved_attr_names=("sym_name",), print_keyword=True
        )
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


class LaunchOp(gpu.LaunchOp):
    """A kernel where it is launched, on a grid of blocks and no more.

    gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %n, %sy = %one, %sz = %one) { gpu.terminator }
    """

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        blocks, grid, extents = _parsed_places(parser, "blocks")
        threads, block, sizes = _parsed_places(parser, "threads")
        body = parser.parse_region([*blocks, *threads, *extents, *sizes])
        # Ten groups of operands, in MLIR's order; of a cluster, of async launches and of dynamic
        # shared memory there is nothing.
        segments = DenseArrayBase.from_list(i32, [0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0])
        return cls.create(
            operands=[*grid, *block],
            properties={"operandSegmentSizes": segments},
            attributes=parser.parse_optional_attr_dict(),
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        arguments = self.body.blocks[0].args
        grid = (self.gridSizeX, self.gridSizeY, self.gridSizeZ)
        block = (self.blockSizeX, self.blockSizeY, self.blockSizeZ)
        _print_places(printer, "blocks", arguments[:3], arguments[6:9], grid)
        _print_places(printer, "threads", arguments[3:6], arguments[9:], block)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        super().verify_()
        extra = {
            "async": self.asyncToken or self.asyncDependencies,
            "clusters": self.clusterSizeX or self.clusterSizeY or self.clusterSizeZ,
            "dynamic_shared_memory_size": self.dynamicSharedMemorySize,
        }
        if join := ", ".join(name for name, given in extra.items() if given):
            raise VerifyException(f"'{self.name}' expected blocks and threads alone, got {join}")


def _parsed_places(
    parser: Parser, keyword: str
) -> tuple[list[Parser.Argument], Sequence[SSAValue], list[Parser.Argument]]:
    """Ids, the extents that they stay below, and the names of those inside."""
    parser.parse_keyword(keyword)
    ids = _parsed_indices(parser)
    parser.parse_keyword("in")
    pairs = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: _parsed_extent(parser)
    )
    extents, values = zip(*pairs, strict=True)
    return ids, values, list(extents)


def _parsed_indices(parser: Parser) -> list[Parser.Argument]:
    parse = parser.parse_argument
    arguments = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: parse(expect_type=False)
    )
    return [argument.resolve(IndexType()) for argument in arguments]


def _parsed_extent(parser: Parser) -> tuple[Parser.Argument, SSAValue]:
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    value = parser.resolve_operand(parser.parse_unresolved_operand(), IndexType())
    return argument.resolve(IndexType()), value


def _print_places(
    printer: Printer,
    keyword: str,
    ids: Sequence[SSAValue],
    extents: Sequence[SSAValue],
    values: Sequence[SSAValue],
) -> None:
    printer.print_string(f" {keyword}")
    with printer.in_parens():
        printer.print_list(ids, printer.print_ssa_value)
    printer.print_string(" in ")
    with printer.in_parens():
        for i, (extent, value) in enumerate(zip(extents, values, strict=True)):
            printer.print_string(", " if i else "")
            printer.print_ssa_value(extent)
            printer.print_string(" = ")
            printer.print_ssa_value(value)


def _parsed_attributes(parser: Parser) -> dict[str, Attribute]:
    attributes = parser.parse_optional_attr_dict_with_keyword()
    return {} if attributes is None else dict(attributes.data)


WITH_TEXT = (ModuleOp, FuncOp, ReturnOp, TerminatorOp, LaunchOp)
"""Ops of xDSL's dialect that have MLIR's text here."""


def extended(dialect: Dialect) -> Dialect:
    """xDSL's `gpu` dialect with what is above."""
    names = {op.name for op in WITH_TEXT}
    kept = [op for op in dialect.operations if op.name not in names]
    return Dialect(dialect.name, [*kept, *WITH_TEXT, PrintfOp], list(dialect.attributes))
