"""Values that never change, and entities: things that are equal to themselves alone."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

_Class = TypeVar("_Class")


def factory(make: Callable[[], Any]) -> Any:
    """A field that begins as what a call gives: `places: list[int] = factory(list)`."""
    return field(default_factory=make)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(class_: type[_Class]) -> type[_Class]:
    """A dataclass of which instances do not change, and have no attributes but its fields."""
    return dataclass(frozen=True, slots=True)(class_)


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def entity(class_: type[_Class]) -> type[_Class]:
    """A dataclass of which instances have no attributes but its fields, and are equal to themselves
    alone."""
    return dataclass(eq=False, slots=True)(class_)


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
def frozen_entity(class_: type[_Class]) -> type[_Class]:
    """An entity whose fields do not change."""
    return dataclass(eq=False, frozen=True, slots=True)(class_)
