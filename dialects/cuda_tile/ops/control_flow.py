"""Branches, loops, and what ends their blocks. Tile IR specification, control flow."""

from collections.abc import Sequence
from typing import Any, Self

from xdsl.dialects.builtin import DictionaryAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.irdl.declarative_assembly_format import ParsingState
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect

from tilewright.dialects.accepts import ANY, STRING, one_of
from tilewright.dialects.cuda_tile.constraints import I1_TILE, SCALAR_I1, SCALAR_INT, VALUE
from tilewright.dialects.cuda_tile.ops.bodies import (
    Assignment,
    parse_body,
    parse_optional_assignments,
    print_assignments,
    print_body,
)
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp, tile_op
from tilewright.dialects.cuda_tile.type_text import (
    parse_type,
    parse_types,
    print_type,
    print_types,
    shown,
)
from tilewright.dialects.cuda_tile.types import TensorViewType, TileView
from tilewright.dialects.cuda_tile.versions import V13_2
from tilewright.dialects.declared_format import made, put_entries, remaining_entries
from tilewright.dialects.traits import WRITES
from tilewright.source.diagnostic import named


@tile_op("cuda_tile.assert", 0x05)
class AssertOp(CudaTileOp):
    """The kernel ends with a message where an element is false: `assert %c, "no" : tile<4xi1>`."""

    assembly_format = "$condition `,` $message"

    condition = operand_def(I1_TILE)
    message = prop_def(STRING)

    traits = WRITES


YIELDED_TO = ("cuda_tile.if", "cuda_tile.reduce", "cuda_tile.scan")
"""Whose regions end with `yield`."""

FUNCTIONS: list[type[CudaTileOp]] = []
"""The ops that `return` leaves."""


def enclosing(op: CudaTileOp, wanted: Sequence[type[CudaTileOp]]) -> CudaTileOp:
    """The op of a kind that another leaves, through `if` alone. Raises VerifyException where there
    is none."""
    verify_last(op)
    parent = op.parent_op()
    while isinstance(parent, IfOp):
        parent = parent.parent_op()
    if not isinstance(parent, tuple(wanted)):
        names = [f"'{class_.name}'" for class_ in wanted]
        raise op.fail(
            f"to stand in {one_of(names)}, directly or within 'cuda_tile.if', got {named(parent)}"
        )
    return parent


def verify_last(op: CudaTileOp) -> None:
    """Raise VerifyException where a terminator does not end its block."""
    if op.next_op is not None:
        raise op.fail(f"to be the last op of its block, got one before {named(op.next_op)}")


def verify_passed(
    op: CudaTileOp, target: CudaTileOp, wanted: Sequence[Attribute], what: str
) -> None:
    """Raise VerifyException where an op does not pass values of the types that are wanted."""
    types = [operand.type for operand in op.operands]
    if types != list(wanted):
        raise op.fail(f"({listed(wanted)}) as the {what} of {named(target)}, got ({listed(types)})")


def listed(types: Sequence[Attribute]) -> str:
    """Types as diagnostics list them."""
    return ", ".join(map(shown, types))


class Terminator(CudaTileOp):
    """`$op %x, %y : tile<f32>, tile<i32>`, or `$op` alone."""

    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"

    arguments = var_operand_def(VALUE)


@tile_op("cuda_tile.break", 0x0A)
class BreakOp(Terminator):
    """Leave the innermost `loop`, with its results."""

    traits = traits_def(IsTerminator())

    def verify_in_place(self) -> None:
        loop = enclosing(self, (LoopOp,))
        verify_passed(self, loop, loop.result_types, "results")


@tile_op("cuda_tile.continue", 0x11)
class ContinueOp(Terminator):
    """Go on with the next turn of the innermost `for` or `loop`, with what it carries."""

    traits = traits_def(IsTerminator())

    def verify_in_place(self) -> None:
        loop = enclosing(self, (ForOp, LoopOp))
        if isinstance(loop, ForOp):
            verify_passed(self, loop, loop.result_types, "results")
        else:
            verify_passed(self, loop, [value.type for value in loop.operands], "iter_values")


@tile_op("cuda_tile.return", 0x5C)
class ReturnOp(Terminator):
    """Leave the kernel."""

    traits = traits_def(IsTerminator())

    def verify_in_place(self) -> None:
        function = enclosing(self, FUNCTIONS)
        type_: Any = function.properties["function_type"]
        verify_passed(self, function, type_.outputs.data, "results")


@tile_op("cuda_tile.yield", 0x6D)
class YieldOp(Terminator):
    """The values of a branch of `if`, or of one step of `reduce` or `scan`."""

    traits = traits_def(IsTerminator(), Pure())

    def verify_in_place(self) -> None:
        verify_last(self)
        parent = self.parent_op()
        if parent is not None and parent.name not in YIELDED_TO:
            raise self.fail(f"to stand in {one_of(YIELDED_TO)}, got {named(parent)}")


def verify_carried(
    op: CudaTileOp, arguments: Sequence[SSAValue], values: Sequence[SSAValue], passed: str
) -> None:
    """Raise VerifyException where the arguments of a loop's body are not of the types of the
    values, or anything that it passes is a view."""
    types = [value.type for value in values]
    if [argument.type for argument in arguments] != types:
        got = listed([argument.type for argument in arguments])
        raise op.fail(f"iter_values ({listed(types)}) as the initial values, got ({got})")
    for type_ in (*types, *op.result_types):
        if isinstance(type_, TensorViewType | TileView):
            raise op.fail(f"{passed} that are no views, got {shown(type_)}")


@tile_op("cuda_tile.for", 0x29, unsigned_cmp=V13_2)
class ForOp(CudaTileOp):
    """`%r = for %i in (%a to %b, step %s) : tile<i32> iter_values(%x = %x0) -> (tile<f32>) {...}`,
    `for unsigned` where the bounds are unsigned."""

    SAME_TYPES = "lower_bound upper_bound step"

    lower_bound = operand_def(SCALAR_INT)
    upper_bound = operand_def(SCALAR_INT)
    step = operand_def(SCALAR_INT)
    init_values = var_operand_def(ANY)
    unsigned_cmp = opt_prop_def(UnitAttr, prop_name="unsignedCmp")
    result_values = var_result_def(ANY)
    region = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        begin, state = parser.pos, ParsingState(cls)
        if parser.parse_optional_keyword("unsigned") is not None:
            state.properties["unsignedCmp"] = UnitAttr()
        index = parser.parse_argument(expect_type=False)
        parser.parse_keyword("in")
        parser.parse_punctuation("(")
        lower = parser.parse_unresolved_operand()
        parser.parse_keyword("to")
        upper = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parser.parse_keyword("step")
        step = parser.parse_unresolved_operand()
        parser.parse_punctuation(")")
        parser.parse_punctuation(":")
        type_ = parse_type(parser)
        start = parser.pos
        assignments = parse_optional_assignments(parser)
        types: list[Attribute] = []
        if assignments is not None:
            parser.parse_punctuation("->")
            types = parse_types(parser, parser.Delimiter.PAREN)
        carried, values = assigned(parser, start, assignments or [], types)
        state.operands = [[lower], [upper], [step], values]
        state.operand_types = [None, None, [type_], types]
        state.result_types = [types]
        state.regions = [[parse_body(parser, [index.resolve(type_), *carried], ContinueOp)]]
        put_entries(parser.parse_optional_attr_dict(), cls, state)
        return made(parser, begin, state)

    def print(self, printer: Printer) -> None:
        index, *carried = self.region.block.args
        printer.print_string(" unsigned " if self.unsigned_cmp is not None else " ")
        printer.print_ssa_value(index)
        printer.print_string(" in (")
        printer.print_ssa_value(self.lower_bound)
        printer.print_string(" to ")
        printer.print_ssa_value(self.upper_bound)
        printer.print_string(", step ")
        printer.print_ssa_value(self.step)
        printer.print_string(") : ")
        print_type(printer, index.type)
        if self.init_values:
            print_assignments(printer, carried, self.init_values)
            printer.print_string(" -> (")
            print_types(printer, [value.type for value in self.init_values])
            printer.print_string(")")
        print_body(printer, self.region, ContinueOp)
        print_attributes(printer, self, ("unsignedCmp",))

    def verify_in_place(self) -> None:
        arguments = verified_block(self, self.region).args
        if not arguments or arguments[0].type != self.lower_bound.type:
            got = listed([argument.type for argument in arguments[:1]]) or "no argument"
            raise self.fail(
                f"an index of {shown(self.lower_bound.type)} as the bounds have it, got {got}"
            )
        if list(self.result_types) != [value.type for value in self.init_values]:
            raise self.fail(
                f"results ({listed([value.type for value in self.init_values])}) as the initial "
                f"values, got ({listed(self.result_types)})"
            )
        verify_carried(self, arguments[1:], self.init_values, "loop-carried values")


@tile_op("cuda_tile.loop", 0x41)
class LoopOp(CudaTileOp):
    """`%r = loop iter_values(%x = %x0) : tile<i32> -> tile<f32> {...}`: until `break`."""

    init_values = var_operand_def(ANY)
    result_values = var_result_def(ANY)
    region = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        begin, state = parser.pos, ParsingState(cls)
        assignments = parse_optional_assignments(parser)
        types: list[Attribute] = []
        results: list[Attribute] = []
        if assignments is None:
            if parser.parse_optional_punctuation(":") is not None:
                results = parse_types(parser)
        else:
            parser.parse_punctuation(":")
            types = parse_types(parser)
            if parser.parse_optional_punctuation("->") is not None:
                results = parse_types(parser)
        carried, values = assigned(parser, begin, assignments or [], types)
        state.operands, state.operand_types, state.result_types = [values], [types], [results]
        state.regions = [[parse_body(parser, carried, ContinueOp)]]
        put_entries(parser.parse_optional_attr_dict(), cls, state)
        return made(parser, begin, state)

    def print(self, printer: Printer) -> None:
        if self.init_values:
            print_assignments(printer, self.region.block.args, self.init_values)
        if self.init_values or self.results:
            printer.print_string(" : ")
        print_types(printer, [value.type for value in self.init_values])
        if self.init_values and self.results:
            printer.print_string(" -> ")
        print_types(printer, self.result_types)
        print_body(printer, self.region, ContinueOp)
        print_attributes(printer, self)

    def verify_in_place(self) -> None:
        arguments = verified_block(self, self.region).args
        verify_carried(self, arguments, self.init_values, "loop-carried values and results")


@tile_op("cuda_tile.if", 0x32)
class IfOp(CudaTileOp):
    """`%r = if %c -> (tile<f32>) { yield %x : tile<f32> } else { yield %y : tile<f32> }`."""

    condition = operand_def(SCALAR_I1)
    res = var_result_def(ANY)
    then_region = region_def("single_block")
    else_region = region_def()

    traits = traits_def(RecursiveMemoryEffect())

    assembly_format = (
        "$condition (`->` custom<TypesInParens>(type($res))^)? custom<Body>($then_region) "
        "(`else` custom<Body>($else_region)^)? attr-dict"
    )
    BODY_END = YieldOp

    @property
    def leaves(self) -> bool:
        """True where a branch does not go on behind the `if`."""
        return any(
            not isinstance(last, YieldOp) or may_leave(block)
            for region in self.regions
            for block in region.blocks
            if (last := block.last_op) is not None
        )

    def verify_in_place(self) -> None:
        for type_ in self.result_types:
            if isinstance(type_, TensorViewType | TileView):
                raise self.fail(f"results that are no views, got {shown(type_)}")
        self._verify_branch(self.then_region, "then")
        if self.else_region.blocks:
            self._verify_branch(self.else_region, "else")
        elif self.results:
            raise self.fail("an else branch where it has results, got none")

    def _verify_branch(self, region: Region, which: str) -> None:
        block = verified_block(self, region)
        if block.args:
            raise self.fail(f"a {which} branch without arguments, got {len(block.args)}")
        end = block.last_op
        if isinstance(end, YieldOp):
            types = [operand.type for operand in end.operands]
            if types != list(self.result_types):
                raise self.fail(
                    f"the {which} branch to yield ({listed(self.result_types)}) as the results, "
                    f"got ({listed(types)})"
                )


def may_leave(block: Block) -> bool:
    """True of a block in which a branch of an `if` does not go on behind it."""
    return any(isinstance(op, IfOp) and op.leaves for op in block.ops)


def is_reached(op: Operation, first: Operation | None = None) -> bool:
    """True of an op that no branch of its block leaves out, from another one on or from the
    beginning."""
    before = op.prev_op
    while before is not None and before is not first:
        if isinstance(before, IfOp) and before.leaves:
            return False
        before = before.prev_op
    return True


def assigned(
    parser: Parser, start: int, assignments: Sequence[Assignment], types: Sequence[Attribute]
) -> tuple[list[Parser.Argument], list[UnresolvedOperand]]:
    """The arguments of a body, and the operands they begin as. Raises ParseError where there are
    not as many types."""
    if len(assignments) != len(types):
        parser.raise_error(
            f"expected {len(assignments)} types as iter_values has values, got {len(types)}",
            start,
            parser.pos,
        )
    arguments = [name.resolve(type_) for (name, _), type_ in zip(assignments, types, strict=True)]
    return arguments, [operand for _, operand in assignments]


def print_attributes(printer: Printer, op: CudaTileOp, elsewhere: Sequence[str] = ()) -> None:
    """The attributes that stand nowhere else, if any."""
    if attributes := remaining_entries(op, elsewhere):
        printer.print_string(" ")
        printer.print_attribute(DictionaryAttr(attributes))


def verified_block(op: CudaTileOp, region: Region) -> Block:
    """The block of a region. Raises VerifyException where there is none, or another."""
    count = len(region.blocks)
    if count != 1:
        raise op.fail(f"a region of 1 block, got {count}")
    return region.block
