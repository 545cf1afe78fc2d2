"""The base of the ops: their text, and their verification by the rule that gives their results.

    FUNCTIONAL    %r = cute.size(%x) : (!cute.shape<"4">) -> !cute.int_tuple<"4">
    ARROW         %r = cute.get_shape(%x) : !cute.layout<"4:1"> -> !cute.shape<"4">
    INFERRED      %r = cute.slice(%x, %c) : !cute.layout<"4:1">, !cute.coord<"_">

Where only one type is possible some ops leave its name out: `cute.get_stride(%x) : <"4:1"> ->
!cute.stride<"1">`. Every op reads both spellings. Behind operands that are defined above it, an op
whose result types follow needs no types at all: `%r = cute.slice(%x, %c)`.
"""

from abc import ABC
from collections.abc import Callable, Sequence
from enum import Enum, auto
from functools import cache
from typing import Any, ClassVar, Self, TypeVar

from xdsl.dialects.builtin import IntegerType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import OptOperandDef, VarOperandDef, traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure, is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute.int_tuple import LayoutError
from tilewright.dialects.cute.ops.operands import Accepts
from tilewright.dialects.cute.rules import RuleError
from tilewright.dialects.cute.symbolic.scalar import Scalar
from tilewright.dialects.cute.types.algebra import CuteType, type_of, typed_of
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, Requirement, is_requiring
from tilewright.dialects.fields import FieldsOp, fields_op


class Syntax(Enum):
    """How an op writes its types."""

    FUNCTIONAL = auto()
    ARROW = auto()
    INFERRED = auto()


Rule = Callable[..., Any]


@cache
def inferred_types(
    rule: Rule, operands: tuple[Attribute, ...], arguments: tuple[Any, ...]
) -> tuple[Attribute, ...] | str:
    """The result types of a rule, or why it has none."""
    values: list[Typed] = []
    for operand in operands:
        value = typed_of(operand)
        if value is None:
            return f"expects CuTe values, but got '{operand}'"
        values.append(value)
    try:
        return tuple(_type(result) for result in applied(rule, values, arguments))
    except (RuleError, LayoutError, VerifyException) as error:
        return str(error)


def applied(rule: Rule, operands: Sequence[Typed], arguments: Sequence[Any]) -> list[Any]:
    """The results of a rule, one or several alike."""
    results = rule(*operands, *arguments)
    return [results] if isinstance(results, Typed) else list(results)


def _type(result: Typed | int) -> Attribute:
    return type_of(result) if isinstance(result, Typed) else IntegerType(result)


def quoted(types: Sequence[Attribute]) -> str:
    """Types as diagnostics list them."""
    return ", ".join(f"'{type_}'" for type_ in types)


class CuteOp(FieldsOp, ABC):
    """An op on values of the algebra. One that has an `assembly_format` has its text of that.

    OPERANDS and RESULTS say what it takes and gives, a last operand that is missing being allowed
    where the op declares it so, and the last of each standing for all that follow.
    """

    OPERANDS: ClassVar[tuple[Accepts, ...]]
    RESULTS: ClassVar[tuple[Accepts, ...]]
    SYNTAX: ClassVar[Syntax] = Syntax.FUNCTIONAL
    SHORT_OPERANDS: ClassVar[bool] = False
    SHORT_RESULTS: ClassVar[bool] = False

    def spelled(self) -> str:
        """Its name in diagnostics of its target."""
        return f"'{self.name}'"

    def requirement(self) -> Requirement:
        """That of the instruction that it issues, as the type of its tiled MMA, tiled copy,
        pipeline or tensor says; what has no effect runs everywhere."""
        if is_side_effect_free(self):
            return BASELINE
        types = (*self.operand_types, *self.result_types)
        needed = (type_.requirement() for type_ in types if is_requiring(type_))
        return next((requirement for requirement in needed if requirement != BASELINE), BASELINE)

    # --- text ---

    @classmethod
    def parse_prefix(cls, parser: Parser) -> dict[str, Attribute]:
        """The properties between the op's name and its operands."""
        return {}

    def print_prefix(self, printer: Printer) -> None:
        """Print the text that `parse_prefix` reads."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        if cls.assembly_format is not None:
            return super().parse(parser)
        start = parser.pos
        properties = cls.parse_prefix(parser)
        unresolved = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        cls._check_count(parser, start, len(unresolved))
        attributes = parser.parse_optional_attr_dict()
        if parser.parse_optional_punctuation(":") is None:
            operand_types, result_types = types_above(parser, unresolved), None
        else:
            operand_types, result_types = cls._parse_types(parser)
        operands = parser.resolve_operands(unresolved, operand_types, parser.pos)
        if result_types is None:
            result_types = cls._infer_when_parsing(parser, start, operand_types, properties)
        return cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            attributes=attributes,
        )

    @classmethod
    def _check_count(cls, parser: Parser, start: int, given: int) -> None:
        """Raise a ParseError unless the op takes so many operands."""
        operands = [operand for _, operand in cls.get_irdl_definition().operands]
        if any(type(operand) is VarOperandDef for operand in operands):
            return
        least = sum(not isinstance(operand, OptOperandDef) for operand in operands)
        if not least <= given <= len(operands):
            wanted = least if least == len(operands) else f"{least} to {len(operands)}"
            parser.raise_error(f"expected {wanted} operands, got {given}", start, parser.pos)

    @classmethod
    def _parse_types(cls, parser: Parser) -> tuple[list[Attribute], list[Attribute] | None]:
        if cls.SYNTAX is Syntax.FUNCTIONAL:
            with parser.in_parens():
                operands = _parse_types(parser, cls.OPERANDS)
            parser.parse_punctuation("->")
            return operands, [_parse_type(parser, cls.RESULTS[0])]
        operands = _parse_types(parser, cls.OPERANDS)
        if cls.SYNTAX is Syntax.INFERRED:
            return operands, None
        parser.parse_punctuation("->")
        return operands, [_parse_type(parser, cls.RESULTS[0])]

    @classmethod
    def _infer_when_parsing(
        cls,
        parser: Parser,
        start: int,
        operand_types: list[Attribute],
        properties: dict[str, Attribute],
    ) -> Sequence[Attribute]:
        inferred = cls.inferred(tuple(operand_types), properties)
        if isinstance(inferred, str):
            parser.raise_error(inferred, start, parser.pos)
        return inferred

    def print(self, printer: Printer) -> None:
        if self.assembly_format is not None:
            super().print(printer)
            return
        self.print_prefix(printer)
        with printer.in_parens():
            printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        self._print_types(printer)

    def _print_types(self, printer: Printer) -> None:
        functional = self.SYNTAX is Syntax.FUNCTIONAL
        printer.print_string("(" if functional else "")
        for i, operand in enumerate(self.operands):
            printer.print_string(", " if i else "")
            _print_type(printer, operand.type, _nth(self.OPERANDS, i), self.SHORT_OPERANDS)
        printer.print_string(")" if functional else "")
        if self.SYNTAX is not Syntax.INFERRED:
            printer.print_string(" -> ")
            _print_type(printer, self.results[0].type, self.RESULTS[0], self.SHORT_RESULTS)

    # --- verification ---

    @classmethod
    def infer(
        cls, operand_types: tuple[Attribute, ...], properties: dict[str, Attribute]
    ) -> tuple[Attribute, ...] | str:
        """The result types, or why there are none; it counts on operands that the op takes."""
        return "they do not follow from its operands; nearest legal: with ': TYPES' behind them"

    @classmethod
    def inferred(
        cls, operand_types: tuple[Attribute, ...], properties: dict[str, Attribute]
    ) -> tuple[Attribute, ...] | str:
        """The result types for any operands, or the diagnostic that says why there are none."""
        try:
            inferred = cls.infer(operand_types, properties)
        except Exception:
            misfit = cls._misfit("operand", operand_types, cls.OPERANDS)
            if misfit is None:
                raise
            return misfit
        return _cannot_infer(cls.name, inferred) if isinstance(inferred, str) else inferred

    @classmethod
    def build_from(
        cls, *operands: SSAValue | Operation, properties: dict[str, Attribute] | None = None
    ) -> Self:
        """The op on these operands. Raises VerifyException where it has no result types."""
        values = [SSAValue.get(operand) for operand in operands]
        inferred = cls.inferred(tuple(value.type for value in values), properties or {})
        if isinstance(inferred, str):
            raise VerifyException(inferred)
        return cls.create(operands=values, result_types=inferred, properties=properties or {})

    def verify_(self) -> None:
        self._verify_kinds("operand", [operand.type for operand in self.operands], self.OPERANDS)
        self._verify_kinds("result", self.result_types, self.RESULTS)

    def _verify_kinds(
        self, what: str, types: Sequence[Attribute], accepted: tuple[Accepts, ...]
    ) -> None:
        if (misfit := self._misfit(what, types, accepted)) is not None:
            raise VerifyException(misfit)

    @classmethod
    def _misfit(
        cls, what: str, types: Sequence[Attribute], accepted: tuple[Accepts, ...]
    ) -> str | None:
        """The fault of the first operand or result of a kind that the op does not have."""
        for i, type_ in enumerate(types):
            wanted = _nth(accepted, i)
            if not wanted.takes(type_):
                return (
                    f"'{cls.name}' op {what} #{i} must be {wanted.description}, but got '{type_}'"
                )
        return None


class InferredOp(CuteOp, ABC):
    """An op whose results its RULE gives."""

    RULE: ClassVar[Rule]

    traits = traits_def(Pure())

    @classmethod
    def arguments(cls, properties: dict[str, Attribute]) -> tuple[Any, ...]:
        """The arguments of the rule behind the operands."""
        return ()

    @classmethod
    def infer(
        cls, operand_types: tuple[Attribute, ...], properties: dict[str, Attribute]
    ) -> tuple[Attribute, ...] | str:
        for i, type_ in enumerate(operand_types):
            if type_ in (i32, i64) and not _nth(cls.OPERANDS, i).takes(type_):
                return f"expects CuTe values, but got '{type_}'"
        return inferred_types(cls.RULE, operand_types, cls.arguments(properties))

    def evaluate(self, operands: Sequence[Typed]) -> list[Typed | Scalar]:
        """The results for these operands, whatever their dynamic leaves are.

        Leaves of the operands' types give the result types, SSA values emit arithmetic, numbers
        of threads are computed with. Raises RuleError or LayoutError where there is no result,
        which verified operands never do.
        """
        return applied(self.RULE, operands, self.arguments(self.properties))

    def verify_(self) -> None:
        super().verify_()
        inferred = self.infer(tuple(operand.type for operand in self.operands), self.properties)
        if isinstance(inferred, str):
            raise VerifyException(_cannot_infer(self.name, inferred))
        declared = tuple(self.result_types)
        if declared != inferred:
            raise VerifyException(
                f"'{self.name}' op inferred type(s) {quoted(inferred)} are incompatible with "
                f"return type(s) of operation {quoted(declared)} "
                f"('{self.name}' op failed to infer returned types)"
            )


_Op = TypeVar("_Op", bound=CuteOp)


def cute_op(
    name: str,
    operands: tuple[Accepts, ...] | None = None,
    results: tuple[Accepts, ...] | None = None,
    rule: Rule | None = None,
) -> Callable[[type[_Op]], type[_Op]]:
    """Define an op: what it takes and gives, and its rule, where its base does not say them."""

    def define(class_: type[_Op]) -> type[_Op]:
        defined: Any = fields_op(name)(class_)
        if operands is not None:
            defined.OPERANDS = operands
        if results is not None:
            defined.RESULTS = results
        if rule is not None:
            defined.RULE = staticmethod(rule)
        return defined

    return define


def types_above(parser: Parser, unresolved: Sequence[UnresolvedOperand]) -> list[Attribute]:
    """The types of operands that are defined above an op that does not write them."""
    types: list[Attribute] = []
    for operand in unresolved:
        values = parser.ssa_values.get(operand.operand_name, ())
        if operand.index >= len(values):
            parser.raise_error("expected ':' and the types of operands", operand.span)
        types.append(values[operand.index].type)
    return types


def _cannot_infer(name: str, reason: str) -> str:
    return f"'{name}' op failed to infer returned types: {reason}"


def _nth(accepted: tuple[Accepts, ...], i: int) -> Accepts:
    return accepted[min(i, len(accepted) - 1)]


def _parse_types(parser: Parser, accepted: tuple[Accepts, ...]) -> list[Attribute]:
    """Types up to the closing bracket, or the end of the op."""
    first = _parse_optional_type(parser, accepted[0])
    if first is None:
        return []
    types = [first]
    while parser.parse_optional_punctuation(","):
        types.append(_parse_type(parser, _nth(accepted, len(types))))
    return types


def _parse_type(parser: Parser, accepted: Accepts) -> Attribute:
    return parser.expect(lambda: _parse_optional_type(parser, accepted), "type expected")


def _parse_optional_type(parser: Parser, accepted: Accepts) -> Attribute | None:
    full = parser.parse_optional_type()
    if full is None and accepted.only is not None and parser.parse_optional_punctuation("<"):
        return accepted.only.new(accepted.only.parse_text(parser))
    return full


def _print_type(printer: Printer, type_: Attribute, accepted: Accepts, short: bool) -> None:
    if short and isinstance(type_, CuteType) and type(type_) is accepted.only:
        type_.print_parameters(printer)
    else:
        printer.print_attribute(type_)
