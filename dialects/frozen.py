"""Values that never change."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_Class = TypeVar("_Class")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(class_: type[_Class]) -> type[_Class]:
    """A dataclass of which instances do not change, and have no attributes but its fields."""
    return dataclass(frozen=True, slots=True)(class_)
