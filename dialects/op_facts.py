"""The facts that follow from the definition of an op, worked out once: its values, by name, its
properties, and the verification of their number and kind."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, OptPropertyDef, PropertyDef, VerificationContext
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.accepts import Accepts
from tilewright.dialects.definition import DefinedOp
from tilewright.dialects.field_counts import Arity
from tilewright.dialects.frozen import frozen

SEGMENTS = AttrSizedOperandSegments.attribute_name


@frozen
class ValueField:
    """An operand or a result: its name, what it may be, how many values it stands for."""

    name: str
    accepts: Accepts
    arity: Arity


def _value_fields(definitions: Any) -> tuple[ValueField, ...]:
    return tuple(ValueField(name, _accepts(d), Arity.of(d)) for name, d in definitions)


def _accepts(definition: Any) -> Accepts:
    constraint = getattr(definition.constr, "constraint", definition.constr).constr
    assert isinstance(constraint, Accepts), constraint
    return constraint


class OpFacts:
    """The facts of an op, from its definition."""

    def __init__(self, op: type[DefinedOp]):
        self.definition = op.get_irdl_definition()
        self.operands = _value_fields(self.definition.operands)
        self.results = _value_fields(self.definition.results)
        self.segmented = SEGMENTS in self.definition.properties

    @cached_property
    def place(self) -> dict[str, ValueField]:
        """Operands and results by name."""
        return {place.name: place for place in (*self.operands, *self.results)}

    # --- values by name ---

    def values(self, op: DefinedOp) -> dict[str, tuple[SSAValue, ...]]:
        """Operands and results by name. Raises VerifyException where their number is wrong."""
        sizes = self._segments(op) if self.segmented else None
        operands = _divided(op, "operand", self.operands, op.operands, sizes)
        return {**operands, **_divided(op, "result", self.results, op.results, None)}

    def _segments(self, op: DefinedOp) -> tuple[int, ...]:
        segments = op.properties.get(SEGMENTS, op.attributes.get(SEGMENTS))
        sizes = tuple(segments.get_values()) if isinstance(segments, DenseArrayBase) else ()
        if len(sizes) != len(self.operands) or sum(sizes) != len(op.operands):
            raise VerifyException(
                f"'{op.name}' expected {SEGMENTS} of {len(self.operands)} numbers that add up to "
                f"{len(op.operands)}, got {segments}"
            )
        return sizes

    # --- verification ---

    def verify_operands(self, op: Any, types: Sequence[Attribute]) -> None:
        """Raise VerifyException for the first of some operands that is not what it may be, the
        last place being that of all that follow."""
        for index, type_ in enumerate(types):
            place = self.operands[min(index, len(self.operands) - 1)]
            if not place.accepts.takes(type_):
                raise op.misfit(place.name, f"operand #{index}", place.accepts.words, type_)

    def verify(self, op: Any) -> dict[str, tuple[SSAValue, ...]]:
        """Raise VerifyException where a value, a region or a property is not what it may be."""
        values = self.values(op)
        regions = len(self.definition.regions)
        for what, wanted, given in (
            ("regions", regions, op.regions),
            ("successors", 0, op.successors),
        ):
            if len(given) != wanted:
                raise VerifyException(f"'{op.name}' expected {wanted} {what}, got {len(given)}")
        for what, places in (("operand", self.operands), ("result", self.results)):
            index = 0
            for place in places:
                for value in values[place.name]:
                    if not place.accepts.takes(value.type):
                        place_of = f"{what} #{index}"
                        raise op.misfit(place.name, place_of, place.accepts.words, value.type)
                    index += 1
        self.verify_properties(op, op.properties)
        return values

    def verify_properties(self, op: Any, given: Mapping[str, Attribute]) -> None:
        """Raise VerifyException where a property, of an op or of one of the class to be made, is
        not what it may be."""
        known = self.definition.properties
        for name, definition in known.items():
            value = given.get(name)
            if value is None:
                if not isinstance(definition, OptPropertyDef) and name != SEGMENTS:
                    raise op.fail(f"{name} to be {_words(op, definition)}, got none")
            elif not _takes(definition, value):
                raise op.misfit(name, "property", _words(op, definition), value)
        for name in given:
            if name not in known:
                raise VerifyException(
                    f"'{op.name}' expected no property but {', '.join(known) or 'none'}, got {name}"
                )


def _divided(
    op: DefinedOp,
    what: str,
    places: tuple[ValueField, ...],
    values: Any,
    sizes: tuple[int, ...] | None,
) -> dict[str, tuple[SSAValue, ...]]:
    """Values by name; without sizes all that are more than one each go to the one that may."""
    if sizes is None:
        free = len(values) - sum(place.arity is Arity.ONE for place in places)
        if free < 0 and any(place.arity is not Arity.ONE for place in places):
            raise VerifyException(
                f"'{op.name}' expected at least {len(values) - free} {what}s, got {len(values)}"
            )
        sizes = tuple(1 if place.arity is Arity.ONE else free for place in places)
    divided: dict[str, tuple[SSAValue, ...]] = {}
    start = 0
    for place, size in zip(places, sizes, strict=True):
        least, most = place.arity.value
        if not least <= size <= most:
            raise VerifyException(
                f"'{op.name}' expected {place.arity.words} {what}s as {place.name}, got {size}"
            )
        divided[place.name] = tuple(values[start : start + size])
        start += size
    if start != len(values):
        raise VerifyException(f"'{op.name}' expected {start} {what}s, got {len(values)}")
    return divided


def _takes(definition: PropertyDef, value: Attribute) -> bool:
    if isinstance(definition.constr, Accepts):
        return definition.constr.takes(value)
    try:
        definition.constr.verify(value, VerificationContext())
    except VerifyException:
        return False
    return True


def _words(op: DefinedOp, definition: PropertyDef) -> str:
    if isinstance(definition.constr, Accepts):
        return definition.constr.words
    bases = definition.constr.get_bases() or set()
    prefix = op.name.partition(".")[0] + "."
    names = sorted(base.name.removeprefix(prefix) for base in bases)
    return "there without a value" if UnitAttr in bases else f"a {' or '.join(names)}"
