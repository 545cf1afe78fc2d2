"""How an op is defined: its declaration says all, fields, text, what of them agrees.

    @declared_op("tt.addptr")
    class AddPtrOp(DeclaredOp):
        (docstring: the law in one line, an example, the section of the specification)

        SAME_TYPES = "ptr result"
        SAME_SHAPES = "ptr offset"

        ptr = operand_def(POINTERS)
        offset = operand_def(INTEGERS)
        volatile = opt_prop_def(UnitAttr)
        result = result_def(POINTERS)

        traits = PURE

        assembly_format = "$ptr `,` $offset (`volatile` $volatile^)?"

- **Fields** are xDSL's `operand_def`, `opt_prop_def` and so on. The constructor takes them in this
  order, what may be left out by name (`fields`).
- **Constraints** (`accepts`) say what is legal, with the words that diagnostics have for it, and of
  a property how it is read and written: `instance_of`, `integer`, `list_of`, `STRING`, or
  `Accepts(words, takes, only)`, where `only` is the single one there is.
- **Agreement** is said by SAME_TYPES, SAME_SHAPES, SAME_ELEMENTS and SAME_RANKS; DERIVED says which
  types follow from that of another value, and how.
- **Text** is xDSL's `assembly_format`, or as much of its beginning as does not follow from the
  fields (`declared_format`). A type that is not written is that of what agrees with it, the only
  one there is, or inferred. What the language lacks is a directive of xDSL's, which the op or its
  base names in `custom_directives` (`directives`).
- **Inference** of result types is `infer`, for text without them and for builders.
- **Verification** of the above is there; `verify_types` adds what follows from types and properties
  alone, which is remembered by them, so that of ops alike only the first is looked at, and
  `verify_in_place` what depends on regions, parents, symbols or attributes.

A base class has what a family has alike, a row of a table is a class by `class_of_row`
(`definition`). An op of an instruction has its row in the place of words: `@fields_op(NAME, ROW)`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl.declarative_assembly_format import FormatProgram, TypeDirective
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.declared_format import DeclaredFormatParser, groups
from tilewright.dialects.fields import FieldsOp, fields_op
from tilewright.dialects.illegal import Illegal
from tilewright.dialects.integers import integer_of
from tilewright.dialects.op_facts import OpFacts

if TYPE_CHECKING:
    from xdsl.irdl import OpDef

Values = Mapping[str, tuple[SSAValue, ...]]
"""Operands and results by name."""

Derivation = tuple[str, Callable[[Attribute], Attribute]]
"""The operand or result that a type follows from, and how."""

_REMEMBERED = 1 << 14


class DeclaredOp(FieldsOp):
    """An op by its declaration.

    SAME_TYPES, SAME_SHAPES, SAME_ELEMENTS and SAME_RANKS name operands and results that agree with
    each other, groups of them apart by commas, DERIVED those of which the type follows from
    another's. TYPES is how text has types, `shape_of` and `element_of` what is compared of them.
    """

    if TYPE_CHECKING:
        definition: ClassVar[OpDef]
        facts: ClassVar[OpFacts]
        verified: ClassVar[set[Any]]

    SAME_TYPES: ClassVar[str] = ""
    SAME_SHAPES: ClassVar[str] = ""
    SAME_ELEMENTS: ClassVar[str] = ""
    SAME_RANKS: ClassVar[str] = ""
    DERIVED: ClassVar[Mapping[str, Derivation]] = {}
    TYPES: ClassVar[type[TypeDirective]] = TypeDirective

    @staticmethod
    def shown(attribute: Attribute) -> str:
        """A type or an attribute as diagnostics name it."""
        return str(attribute)

    @staticmethod
    def shape_of(type_: Any) -> Any:
        """The shape of a value, as it is compared."""
        return type_.shape

    @staticmethod
    def element_of(type_: Any) -> Attribute:
        """The type of the elements of a value."""
        return type_.element_type

    @classmethod
    def misfit(cls, name: str, place: str, words: str, got: Attribute) -> VerifyException:
        """The exception that says what an operand, a result or a property, by its name and its
        place, has to be."""
        return VerifyException(f"'{cls.name}' expected {name} to be {words}, got {cls.shown(got)}")

    def values_of(self, name: str) -> tuple[SSAValue, ...]:
        """The values of an operand or result."""
        values: Any = getattr(self, name)
        if values is None:
            return ()
        return (values,) if isinstance(values, SSAValue) else tuple(values)  # pyright: ignore

    def number(self, name: str) -> int:
        """An integer property."""
        return integer_of(self.properties[name])

    # --- text ---

    @classmethod
    def read_format(cls) -> FormatProgram:
        return DeclaredFormatParser(cls).parse_format()

    @classmethod
    def type_fields(cls) -> tuple[list[str], list[str]]:
        """Of one type for all that one, else those of operands that no constraint knows, and of
        results that are none of theirs."""
        group = {name: group for group in groups(cls.SAME_TYPES) for name in group}
        operands = [place.name for place in cls.facts.operands if place.accepts.only is None]
        results = [place.name for place in cls.facts.results]
        firsts = {group.get(name, (name,)): name for name in reversed(operands)}
        others = [name for name in results if group.get(name, (name,)) not in firsts]
        if len(firsts) < 2 and not (firsts and others):
            return [], [*results, *operands][:1]
        return [*reversed(firsts.values())], others

    @classmethod
    def infer(
        cls, operand_types: tuple[Attribute, ...], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        """The types of its results where text and builders say none, for operands that it takes.
        Raises VerifyException or Illegal where they do not follow."""
        return ()

    @classmethod
    def inferred(
        cls, operand_types: tuple[Attribute, ...], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        """The types of its results for any operands. Raises VerifyException."""
        try:
            return cls.infer(operand_types, properties)
        except (VerifyException, Illegal) as error:
            message = f"'{cls.name}' op failed to infer returned types: {error}"
            raise VerifyException(message) from None
        except Exception:
            cls.facts.verify_operands(cls, operand_types)
            raise

    # --- verification ---

    def verify_(self) -> None:
        types = [value.type for value in (*self._operands, *self.results)]
        counts = (len(self.results), len(self.regions), len(self.successors))
        key = (counts, *types, *self.properties.items())
        try:
            if key not in self.verified:
                self._verify_alike()
                if len(self.verified) >= _REMEMBERED:
                    self.verified.clear()
                self.verified.add(key)
            self.verify_in_place()
        except Illegal as error:
            raise VerifyException(f"'{self.name}' {error}") from None

    def _verify_alike(self) -> None:
        """Verify what depends on types and properties alone."""
        values = self.facts.verify(self)
        for what, same, of in _AGREEMENTS:
            for group in groups(getattr(self, same)):
                _verify_same(self, values, what, group, of)
        for name, (source, type_of) in self.DERIVED.items():
            first = values[source][0].type
            for value in values[name]:
                if value.type != (wanted := type_of(first)):
                    words = f"{self.shown(wanted)}, as {source} is {self.shown(first)}"
                    raise self.misfit(name, "", words, value.type)
        self.verify_types()

    def verify_types(self) -> None:
        """Raise VerifyException or Illegal where types or properties of their kinds are wrong."""

    def verify_in_place(self) -> None:
        """Raise VerifyException or Illegal where regions, parents, symbols or locations are."""


_AGREEMENTS: tuple[tuple[str, str, Callable[[Any, Any], Any]], ...] = (
    ("rank", "SAME_RANKS", lambda op, type_: type_.rank),
    ("element type", "SAME_ELEMENTS", lambda op, type_: op.element_of(type_)),
    ("shape", "SAME_SHAPES", lambda op, type_: op.shape_of(type_)),
    ("type", "SAME_TYPES", lambda op, type_: type_),
)
"""The properties that values may have to share, the least first."""


def _verify_same(
    op: DeclaredOp, values: Values, what: str, group: tuple[str, ...], of: Callable[[Any, Any], Any]
) -> None:
    present = [(name, value) for name in group for value in values[name]]
    for name, value in present[1:]:
        first, reference = present[0]
        if of(op, value.type) != of(op, reference.type):
            raise op.fail(
                f"{first} and {name} of one {what}, got {op.shown(reference.type)} and "
                f"{op.shown(value.type)}"
            )


_Op = TypeVar("_Op", bound=DeclaredOp)


def declared_op(name: str) -> Callable[[type[_Op]], type[_Op]]:
    """Define an op: its name."""

    def define(class_: type[_Op]) -> type[_Op]:
        defined = fields_op(name)(class_)
        # xDSL's verification of the definition is ours in `OpFacts`, with ours of the diagnostics.
        defined.verify_ = DeclaredOp.verify_
        defined.definition = defined.get_irdl_definition()
        defined.facts, defined.verified = OpFacts(defined), set()
        return defined

    return define
