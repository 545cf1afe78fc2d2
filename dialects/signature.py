"""Signatures: keys of ops without their values, equal for ops whose definition says the same.

Attributes never change, so that what was found of one op holds for all of its signature, as long as
it follows from the op's class, properties, attributes, and the types of its operands and results.
"""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from tilewright.dialects.frozen import entity, factory

# pyright: reportPrivateUsage=false

Signature = tuple[Any, ...]

_Fact = TypeVar("_Fact")
_MOST = 1 << 15


def signature(op: Operation) -> Signature:
    """The key of an op that has no regions."""
    operands = op._operands
    key: list[Any] = [type(op), len(operands), len(op._successors)]
    for value in operands:
        key.append(id(value.type))
    for value in op.results:
        key.append(id(value.type))
    for name, attribute in op.properties.items():
        key.append(name)
        key.append(attribute.data if type(attribute) is StringAttr else identity(attribute))
    if op.attributes:
        key.append(None)
        for name, attribute in op.attributes.items():
            key += name, identity(attribute)
    return tuple(key)


def identity(attribute: Any) -> Any:
    """A key that no other attribute has: the content of those that are made anew for each op."""
    kind: type[Any] = attribute.__class__
    if kind is StringAttr:
        return attribute.data
    if kind is IntegerAttr:
        return attribute.value.data, id(attribute.type)
    if kind is DenseArrayBase:
        return attribute.data.data, id(attribute.elt_type)
    return kind if kind is UnitAttr else id(attribute)


@entity
class FactsBySignature(Generic[_Fact]):
    """Facts of ops by their signatures, and the attributes whose identities these are."""

    _facts: dict[Signature, tuple[_Fact, Any]] = factory(dict)

    def get(self, key: Signature) -> _Fact | None:
        """The fact that is known of a signature."""
        known = self._facts.get(key)
        return None if known is None else known[0]

    def put(self, key: Signature, op: Operation, fact: _Fact) -> _Fact:
        """Note the fact of an op, whose signature begins or ends the key."""
        types = [value.type for value in (*op._operands, *op.results)]
        return self.keep(key, fact, (*types, *op.properties.values(), *op.attributes.values()))

    def keep(self, key: Signature, fact: _Fact, attributes: Sequence[Attribute]) -> _Fact:
        """Note a fact, and the attributes whose identities are in its key."""
        if len(self._facts) >= _MOST:
            self._facts.clear()
        self._facts[key] = fact, attributes
        return fact
