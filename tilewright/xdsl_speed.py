"""What xDSL does for every op, done faster: the same results and the same errors.

`isinstance` asks a class of IR for itself, without the virtual subclasses that none of them has;
ops are walked by one generator, not by one for every region around them; and what an op's
definition says of its types and attributes is verified once for all ops that have the same ones.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.ir.core import BlockOps, IRWithName, IRWithUses, _IRNode
from xdsl.irdl import AttrConstraint, OpDef, RangeConstraint
from xdsl.irdl.operations import BaseAccessor, VarIRConstruct
from xdsl.traits import OpTrait

# pyright: reportPrivateUsage=false


class IRMeta(type(Protocol)):
    """The metaclass of classes of IR, whose instances are those of the classes that inherit."""

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


def install() -> None:
    """Make xDSL faster, once and for all."""
    if isinstance(Operation, IRMeta):
        return
    for root in (_IRNode, IRWithUses, IRWithName, Attribute, AttrConstraint, RangeConstraint):
        _inherit_only(root)
    classes: list[Any] = [Operation, Region, Block]
    for class_, children in zip(classes, (_of_op, _of_region, _of_block), strict=True):
        class_.walk = _walking(class_.walk, children)
    fast: Any = BlockOps
    fast.__iter__ = _ops
    accessor: Any = BaseAccessor
    accessor.__get__ = _get
    definition: Any = OpDef
    definition.verify = _verify


def _inherit_only(class_: Any) -> None:
    """Make IRMeta the metaclass of a class and of all that inherit from it."""
    if type(class_) is ABCMeta:
        class_.__class__ = IRMeta
    for inheriting in class_.__subclasses__():
        _inherit_only(inheriting)


# Walks


def _walking(general: Callable[..., Any], children: Callable[[Any], Any]) -> Any:
    """The walk of a node, forwards and an op before its regions; of others the general one."""

    def walk(self: Any, *, reverse: bool = False, region_first: bool = False) -> Any:
        if reverse or region_first:
            return general(self, reverse=reverse, region_first=region_first)
        return children(self)

    return walk


def _of_op(root: Operation) -> Iterator[Operation]:
    yield root
    for region in root.regions:
        yield from _of_region(region)


def _of_region(region: Region) -> Iterator[Operation]:
    for block in region.blocks:
        yield from _of_block(block)


def _of_block(block: Block) -> Iterator[Operation]:
    """The ops of a block, each before those in its regions; what follows an op is asked for before
    the op is given, as xDSL does, so that it may be erased then."""
    stack: list[Iterator[Block] | Operation] = []
    op = block._first_op
    while True:
        while op is not None:
            following = op._next_op
            yield op
            if op.regions:
                if following is not None:
                    stack.append(following)
                for region in reversed(op.regions):
                    stack.append(iter(region.blocks))
                break
            op = following
        op = None
        while stack and op is None:
            item = stack[-1]
            if isinstance(item, Operation):
                op = item
                stack.pop()
            elif (inner := next(item, None)) is not None:
                op = inner._first_op
            else:
                stack.pop()
        if op is None:
            return


def _ops(ops: BlockOps) -> Iterator[Operation]:
    return _from(ops.block._first_op)


def _from(op: Operation | None) -> Iterator[Operation]:
    while op is not None:
        following = op._next_op
        yield op
        op = following


# Fields


def _get(accessor: Any, op: Any, _class: Any = None) -> Any:
    match accessor.construct:
        case VarIRConstruct.OPERAND:
            return accessor.index(op._operands)
        case VarIRConstruct.RESULT:
            return accessor.index(op.results)
        case VarIRConstruct.REGION:
            return accessor.index(op.regions)
        case _:
            return accessor.index(op.successors)


# Verification

_verify_all = OpDef.verify
_inert = OpTrait.verify
_verified: dict[tuple[Any, ...], Any] = {}
"""What has been verified, by the identities of all that verification asks, which it holds."""
_MOST_VERIFIED = 1 << 15


def _verify(definition: OpDef, op: Operation) -> None:
    """Verify an op by its definition. Attributes never change: what was right of some stays so."""
    if op.regions:
        return _verify_all(definition, op)
    properties, attributes, operands = op.properties, op.attributes, op._operands
    held = (
        definition,
        *[value._type for value in operands],
        *[value._type for value in op.results],
        *properties.values(),
        *attributes.values(),
    )
    counts = len(operands), len(op._successors), len(properties)
    key = (*counts, *properties, *attributes, *map(id, held))
    if key not in _verified:
        _verify_all(definition, op)
        if len(_verified) >= _MOST_VERIFIED:
            _verified.clear()
        _verified[key] = held
        return None
    for trait in definition.traits:
        if type(trait).verify is not _inert:
            trait.verify(op)
    return None
