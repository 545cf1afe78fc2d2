"""Constraints with the words that diagnostics say for what they take."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeVar

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, IntegerType
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, InferenceContext, IntConstraint, VerificationContext
from xdsl.utils.exceptions import VerifyException


@dataclass(frozen=True)
class Accepts(AttrConstraint):
    """A set of types or attributes, and the words for it; `only` is the one that there is."""

    words: str
    takes: Callable[[Attribute], bool]
    only: Attribute | None = None

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not self.takes(attr):
            raise VerifyException(f"expected {self.words}, got {attr}")

    def can_infer(self, var_constraint_names: Set[str]) -> bool:
        return self.only is not None

    def infer(self, context: InferenceContext) -> Attribute:
        assert self.only is not None
        return self.only

    def attribute_of(self, value: Any) -> Attribute:
        """The attribute of a number, several or a word, as a constructor may be given it."""
        return value

    def mapping_type_vars(  # pyright: ignore
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> Any:
        return self


def one_of(words: Sequence[str]) -> str:
    """Words as a sentence lists them: `a, b or c`."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


ANY = Accepts("any type", lambda type_: True)
ARRAY = Accepts("an array of attributes", lambda attribute: isinstance(attribute, ArrayAttr))


@dataclass(frozen=True, kw_only=True)
class InstanceOf(Accepts):
    """Attributes of a class."""

    type: type[Attribute]


@dataclass(frozen=True, kw_only=True)
class IntegerOf(Accepts):
    """Integers of a width."""

    width: int

    def attribute_of(self, value: Any) -> Attribute:
        return IntegerAttr(value, self.width)


@dataclass(frozen=True, kw_only=True)
class ListOf(Accepts):
    """Dense lists of integers of a width: `array<i32: 1, 0>`."""

    width: int

    def attribute_of(self, value: Any) -> Attribute:
        return DenseArrayBase.from_list(IntegerType(self.width), value)


def instance_of(type_: type[Attribute], words: str) -> InstanceOf:
    """Attributes of a class."""
    return InstanceOf(words, lambda attribute: isinstance(attribute, type_), type=type_)


def integer(width: int, least: int | None = None) -> IntegerOf:
    """Integers of a width, of `least` or more."""
    type_ = IntegerType(width)

    def takes(attribute: Any) -> bool:
        return (  # pyright: ignore
            isinstance(attribute, IntegerAttr)
            and attribute.type == type_  # pyright: ignore
            and (least is None or attribute.value.data >= least)
        )

    words = f"an i{width}" + ("" if least is None else f" of {least} or more")
    return IntegerOf(words, takes, width=width)


def list_of(width: int) -> ListOf:
    """Dense lists of integers of a width."""
    type_ = IntegerType(width)

    def takes(attribute: Any) -> bool:
        return isinstance(attribute, DenseArrayBase) and bool(attribute.elt_type == type_)  # pyright: ignore

    return ListOf(f"an array of i{width}", takes, width=width)
