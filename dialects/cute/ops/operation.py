"""The base of the ops: their text, and their verification by the rule that gives their results.

    FUNCTIONAL    %r = cute.size(%x) : (!cute.shape<"4">) -> !cute.int_tuple<"4">
    ARROW         %r = cute.get_shape(%x) : !cute.layout<"4:1"> -> !cute.shape<"4">
    INFERRED      %r = cute.slice(%x, %c) : !cute.layout<"4:1">, !cute.coord<"_">

Where only one type is possible some ops leave its name out: `cute.get_stride(%x) : <"4:1"> ->
!cute.stride<"1">`. Every op reads both spellings. Behind operands that are defined above it, an op
whose result types follow needs no types at all: `%r = cute.slice(%x, %c)`.
"""

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Self, TypeVar

from xdsl.dialects.builtin import IntegerType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import OptionalDef
from xdsl.traits import is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute.ops.properties import argument
from tilewright.dialects.cute.ops.text import BracketedOperands, Brackets, Signature, Syntax
from tilewright.dialects.cute.symbolic.scalar import Scalar
from tilewright.dialects.cute.types.algebra import type_of, typed_of
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, Requirement, is_requiring
from tilewright.dialects.declared import DeclaredOp, declared_op
from tilewright.dialects.op_facts import SEGMENTS
from tilewright.dialects.traits import PURE

Rule = Callable[..., Any]

REGULAR = "custom<BracketedOperands>(operands) attr-dict custom<Signature>()"
"""The end of the formats."""


def typed_value(type_: Attribute) -> Typed:
    """The value that an operand's type says. Raises VerifyException where it is none."""
    if (typed := typed_of(type_)) is None:
        raise VerifyException(f"expects CuTe values, but got '{type_}'")
    return typed


@cache
def rule_types(
    rule: Rule, operands: tuple[Attribute, ...], arguments: tuple[Any, ...]
) -> tuple[Attribute, ...]:
    """The result types of a rule. Raises VerifyException or Illegal where it has none."""
    results = applied(rule, [typed_value(operand) for operand in operands], arguments)
    return tuple(
        type_of(result) if isinstance(result, Typed) else IntegerType(result) for result in results
    )


def applied(rule: Rule, operands: Sequence[Typed], arguments: Sequence[Any]) -> list[Any]:
    """The results of a rule, one or several alike."""
    results = rule(*operands, *arguments)
    return [results] if isinstance(results, Typed) else list(results)


def quoted(types: Sequence[Attribute]) -> str:
    """Types as diagnostics list them."""
    return ", ".join(f"'{type_}'" for type_ in types)


class CuteOp(DeclaredOp, ABC):
    """An op on values of the algebra: `NAME<PROPERTIES> (OPERANDS) : TYPES`, the types by its
    SYNTAX, where no `assembly_format` says otherwise."""

    SYNTAX: ClassVar[Syntax] = Syntax.FUNCTIONAL
    SHORT_OPERANDS: ClassVar[bool] = False
    SHORT_RESULTS: ClassVar[bool] = False
    custom_directives: ClassVar = (BracketedOperands, Signature, Brackets)

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

    @classmethod
    def misfit(cls, name: str, place: str, words: str, got: Attribute) -> VerifyException:
        if place == "property":
            return VerifyException(f"'{cls.name}' expected {words}, got {cls.shown(got)}")
        return VerifyException(f"'{cls.name}' op {place} must be {words}, but got '{got}'")

    @staticmethod
    def shown(attribute: Attribute) -> str:
        return getattr(attribute, "data", str(attribute))

    @classmethod
    def regular_format(cls) -> str:
        """Its text where no format says otherwise."""
        definition = cls.get_irdl_definition()
        names = [name for name in definition.properties if name != SEGMENTS]
        prefix = f"`<` {' `,` '.join(f'${name}' for name in names)} `>`" if names else ""
        if names and isinstance(definition.properties[names[0]], OptionalDef):
            prefix = f"(`<` ${names[0]}^ `>`):(` `)?"
        return f"{prefix} {REGULAR}"

    @classmethod
    def infer(
        cls, operand_types: tuple[Attribute, ...], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        known = [place.accepts.only for place in cls.facts.results]
        if None in known:
            raise VerifyException(
                "they do not follow from its operands; nearest legal: with ': TYPES' behind them"
            )
        return tuple(filter(None, known))

    @classmethod
    def build_from(
        cls, *operands: SSAValue | Operation, properties: dict[str, Attribute] | None = None
    ) -> Self:
        """The op on these operands. Raises VerifyException where it has no result types."""
        values = [SSAValue.get(operand) for operand in operands]
        types = cls.inferred(tuple(value.type for value in values), properties or {})
        return cls.create(operands=values, result_types=types, properties=properties or {})


class InferredOp(CuteOp, ABC):
    """An op whose results its RULE gives."""

    RULE: ClassVar[Rule]

    traits = PURE

    @classmethod
    def arguments(cls, properties: Mapping[str, Attribute]) -> tuple[Any, ...]:
        """The arguments of the rule behind the operands: its properties."""
        return tuple(
            argument(definition.constr, properties.get(name))
            for name, definition in cls.definition.properties.items()
            if name != SEGMENTS
        )

    @classmethod
    def infer(
        cls, operand_types: tuple[Attribute, ...], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        for place, type_ in zip(cls.facts.operands, operand_types, strict=False):
            if type_ in (i32, i64) and not place.accepts.takes(type_):
                raise VerifyException(f"expects CuTe values, but got '{type_}'")
        return rule_types(cls.RULE, operand_types, cls.arguments(properties))

    def evaluate(self, operands: Sequence[Typed]) -> list[Typed | Scalar]:
        """The results for these operands, whatever their dynamic leaves are.

        Leaves of the operands' types give the result types, SSA values emit arithmetic, numbers
        of threads are computed with. Raises RuleError or LayoutError where there is no result,
        which verified operands never do.
        """
        return applied(self.RULE, operands, self.arguments(self.properties))

    def verify_types(self) -> None:
        inferred = self.inferred(tuple(self.operand_types), self.properties)
        declared = tuple(self.result_types)
        if declared != inferred:
            raise VerifyException(
                f"'{self.name}' op inferred type(s) {quoted(inferred)} are incompatible with "
                f"return type(s) of operation {quoted(declared)} "
                f"('{self.name}' op failed to infer returned types)"
            )


_Op = TypeVar("_Op", bound=CuteOp)


def cute_op(name: str, rule: Rule | None = None) -> Callable[[type[_Op]], type[_Op]]:
    """Define an op, and say its rule if it has one."""

    def define(class_: type[_Op]) -> type[_Op]:
        defined: Any = declared_op(name)(class_)
        if defined.assembly_format is None:
            defined.assembly_format = defined.regular_format()
        if rule is not None:
            defined.RULE = staticmethod(rule)
        return defined

    return define
