"""The predicates of `assume`, and the values that they are for."""

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute

from tilewright.dialects.cuda_tile.attributes import (
    AssumePredicateAttr,
    BoundedAttr,
    DivByAttr,
    SameElementsAttr,
)
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import PointerType, TensorViewType, TileType

LARGEST_DIVISOR = 1 << 62


def wrong_predicate(predicate: AssumePredicateAttr, type_: Attribute) -> str | None:
    """Why a predicate cannot be about a value of a type, as `RULE, got VALUE`; None if it can."""
    match predicate:
        case DivByAttr():
            return _wrong_div_by(predicate, type_)
        case SameElementsAttr():
            return _wrong_same_elements(predicate, type_)
        case BoundedAttr():
            return _wrong_bounded(predicate, type_)
        case _:
            return f"div_by, same_elements or bounded, got {predicate}"


def _is_countable(type_: Attribute) -> bool:
    return isinstance(type_, TileType) and isinstance(type_.element_type, IntegerType | PointerType)


def _wrong_div_by(predicate: DivByAttr, type_: Attribute) -> str | None:
    divisor, every, along = predicate.divisor, predicate.every, predicate.along
    if divisor <= 0 or divisor & (divisor - 1) or divisor > LARGEST_DIVISOR:
        return f"a divisor that is a power of two of at most {LARGEST_DIVISOR}, got {divisor}"
    if (every is None) != (along is None):
        return "every and along together, got one of them"
    if not isinstance(type_, TensorViewType) and not _is_countable(type_):
        return f"div_by of a tile of integers or pointers, or a tensor_view, got {shown(type_)}"
    if every is None or along is None:
        return None
    if not isinstance(type_, TileType) or not type_.rank:
        return f"every and along of a tile of rank 1 or more, got {shown(type_)}"
    if not 0 <= along < type_.rank:
        return f"along of 0 to {type_.rank - 1} as {shown(type_)} has, got {along}"
    if not 0 <= every <= type_.shape[along]:
        return f"every of 0 to {type_.shape[along]} as {shown(type_)} has, got {every}"
    return None


def _wrong_same_elements(predicate: SameElementsAttr, type_: Attribute) -> str | None:
    if not isinstance(type_, TileType) or not _is_countable(type_):
        return f"same_elements of a tile of integers or pointers, got {shown(type_)}"
    if len(predicate.values) != type_.rank:
        return f"{type_.rank} numbers as {shown(type_)} has dimensions, got {len(predicate.values)}"
    for count, dim in zip(predicate.values, type_.shape, strict=True):
        if not 0 <= count <= dim:
            return f"groups of 0 to {dim} elements as {shown(type_)} has, got {count}"
    return None


def _wrong_bounded(predicate: BoundedAttr, type_: Attribute) -> str | None:
    element = type_.element_type if isinstance(type_, TileType) else None
    if not isinstance(element, IntegerType):
        return f"bounded of a tile of integers, got {shown(type_)}"
    least, most = -(1 << (element.bitwidth - 1)), (1 << (element.bitwidth - 1)) - 1
    for bound in (predicate.lb, predicate.ub):
        if bound is not None and not least <= bound <= most:
            return f"bounds of {least} to {most} as {element} has, got {bound}"
    if predicate.lb is not None and predicate.ub is not None and predicate.lb > predicate.ub:
        return f"a lower bound of at most {predicate.ub}, got {predicate.lb}"
    return None
