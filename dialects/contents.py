"""The classes that the modules of a folder define: a dialect lists no op a second time."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from xdsl.ir import Attribute, Operation


def modules_of(folder: str) -> list[ModuleType]:
    """The modules of a folder, by its name in Python, in the order of their names."""
    inside = iter_modules(import_module(folder).__path__, f"{folder}.")
    return [import_module(module.name) for module in inside if not module.name.endswith(".dialect")]


def ops_of(*modules: ModuleType) -> list[type[Operation]]:
    """The ops that modules define; bases of ops have no name."""
    return [class_ for class_ in _defined(modules) if issubclass(class_, Operation)]


def attributes_of(*modules: ModuleType) -> list[type[Attribute]]:
    """The types and attributes that modules define."""
    return [class_ for class_ in _defined(modules) if issubclass(class_, Attribute)]


def _defined(modules: tuple[ModuleType, ...]) -> Iterator[type]:
    for module in modules:
        types = (value for value in vars(module).values() if isinstance(value, type))
        for value in dict.fromkeys(types):
            if value.__module__ == module.__name__ and "name" in vars(value):
                yield value
