"""The classes that modules define, in their order: a dialect lists modules, no op a second time."""

from collections.abc import Iterator
from types import ModuleType

from xdsl.ir import Attribute, Operation


def ops_of(*modules: ModuleType) -> list[type[Operation]]:
    """The ops that modules define; bases of ops have no name."""
    return [class_ for class_ in _defined(modules) if issubclass(class_, Operation)]


def attributes_of(*modules: ModuleType) -> list[type[Attribute]]:
    """The types and attributes that modules define."""
    return [class_ for class_ in _defined(modules) if issubclass(class_, Attribute)]


def _defined(modules: tuple[ModuleType, ...]) -> Iterator[type]:
    for module in modules:
        for name, value in vars(module).items():
            own = isinstance(value, type) and (value.__module__, value.__name__)
            if own == (module.__name__, name) and "name" in vars(value):
                yield value
