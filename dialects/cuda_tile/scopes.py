"""Debug info where it belongs: a function in its subprogram, its ops in scopes of that."""

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import CallSiteLoc, FusedLoc, NameLoc, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda_tile.debug_info import DILexicalBlockAttr, DILocAttr, DISubprogramAttr
from tilewright.source.diagnostic import InnerOpError

if TYPE_CHECKING:
    from collections.abc import Iterable


def scope_of(location: Attribute) -> Attribute | None:
    """The scope that a location is in, through calls, names and fusion; or None."""
    match location:
        case DILocAttr():
            return location.scope
        case CallSiteLoc():
            return scope_of(location.caller)
        case NameLoc():
            return scope_of(location.location)
        case FusedLoc():
            locations: Iterable[Attribute] = location.locations  # pyright: ignore
            return next(filter(None, map(scope_of, locations)), None)
        case _:
            return None


def subprogram_of(location: Attribute) -> DISubprogramAttr | None:
    """The function that a location is in, by its scope."""
    scope = scope_of(location)
    while isinstance(scope, DILexicalBlockAttr):
        scope = scope.scope
    return scope if isinstance(scope, DISubprogramAttr) else None


def verify_function_scope(op: Operation) -> None:
    """Raise VerifyException where a function, or an op of it, is in the scope of another."""
    if isinstance(op.location, CallSiteLoc):
        raise _wrong(op, f"a location that is no call site, got {op.location}")
    scope, name = scope_of(op.location), op.properties["sym_name"]
    assert isinstance(name, StringAttr)
    if scope is not None and not isinstance(scope, DISubprogramAttr):
        raise _wrong(op, f"a scope that is a di_subprogram, got {scope}")
    if scope is not None and scope.linkage_name != name:
        raise _wrong(op, f"a subprogram with linkageName {name}, got {scope.linkage_name}")
    for inner in op.walk():
        subprogram = subprogram_of(inner.location)
        if subprogram is not None and subprogram != scope:
            wanted = _named(scope) if isinstance(scope, DISubprogramAttr) else "no subprogram"
            raise InnerOpError(
                inner,
                f"'{inner.name}' expected to be of {wanted} as its function {name}, "
                f"got {_named(subprogram)}",
            )


def verify_globals_unscoped(module: Operation) -> None:
    """Raise VerifyException where what stands beside the functions of a module is in a scope."""
    for block in module.regions[0].blocks:
        for op in block.ops:
            if "function_type" not in op.properties and scope_of(op.location) is not None:
                raise InnerOpError(op, f"'{op.name}' expected a place without a scope, got one")


def _named(subprogram: DISubprogramAttr) -> str:
    return f"subprogram {subprogram.linkage_name} of line {subprogram.line.data}"


def _wrong(op: Operation, rule: str) -> VerifyException:
    return VerifyException(f"'{op.name}' expected {rule}")
