"""Faster ways for xDSL to do its work on every op: the same results and the same errors.

`PATCHES` has each by the name of its patch file in `upstream/`, which is the same change to xDSL's
sources; `benchmarks/xdsl_patches.py` measures what each gains.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, Protocol

from xdsl.dialects.builtin import DenseArrayBase, LocationAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, SSAValues, Use
from xdsl.ir.core import BlockOps, IRWithName, IRWithUses, OpOperands, _IRNode
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedOperandSegments,
    IRDLOperation,
    OpDef,
    OptionalDef,
    RangeConstraint,
    operations,
)
from xdsl.irdl.operations import (
    BaseAccessor,
    BaseAttrAccessor,
    BeforeVariadicSingleAccessor,
    VarIRConstruct,
)
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.mlir_lexer import MLIRLexer

from tilewright.dialects.field_counts import FieldCounts, field_counts, flattened, segments
from tilewright.dialects.locations import LocatedLater
from tilewright.dialects.once import once_each
from tilewright.xdsl_patches import dense, lexer, verification
from tilewright.xdsl_patches.assignments import Patches

# pyright: reportPrivateUsage=false


_new = object.__new__


# isinstance


class IRMeta(type(Protocol)):
    """The metaclass of classes of IR, whose instances are those of the classes that inherit: none
    has the virtual subclasses that ABCMeta asks for."""

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


def _classes_of_ir(roots: Iterable[Any]) -> Iterator[Any]:
    """Classes and all that inherit from them, which there are when this is asked for."""
    for root in roots:
        if isinstance(root, ABCMeta) and not isinstance(root, IRMeta):
            yield root
        yield from _classes_of_ir(root.__subclasses__())


# Walks

_Walk = Callable[..., Iterable[Operation]]


def _walking(general: _Walk, children: Callable[[Any], Iterator[Operation]]) -> _Walk:
    """The walk of a node, forwards and an op before its regions; of others the general one."""

    def walk(self: Any, *, reverse: bool = False, region_first: bool = False) -> Any:
        if reverse or region_first:
            return general(self, reverse=reverse, region_first=region_first)
        return children(self)

    return walk


def _of_op(root: Operation) -> Iterator[Operation]:
    return _walk(root, None, [])


def _of_region(region: Region) -> Iterator[Operation]:
    return _walk(None, None, [iter(region.blocks)])


def _of_block(block: Block) -> Iterator[Operation]:
    return _walk(None, block._first_op, [])


def _walk(
    root: Operation | None, op: Operation | None, stack: list[Iterator[Block] | Operation]
) -> Iterator[Operation]:
    """An op, those from another one on in its block, and those of the stack, each before the ops in
    its regions; what follows an op is asked for before the op is given, as xDSL does, so that it
    may be erased then."""
    if root is not None:
        yield root
        stack += [iter(region.blocks) for region in reversed(root.regions)]
    while True:
        while op is not None:
            following = op._next_op
            yield op
            if op.regions:
                if following is not None:
                    stack.append(following)
                stack += [iter(region.blocks) for region in reversed(op.regions)]
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


# Values


def _values(item: Any) -> Any:
    return SSAValues(item) if item.__class__ is tuple else item


def _operands_of(op: Operation) -> OpOperands:
    view: Any = _new(OpOperands)
    view._op = op
    return view


def _operand_of(view: OpOperands, index: Any) -> Any:
    return _values(view._op._operands[index])


_tuple: Any = tuple
_SET_OPERANDS: Any = Operation.operands.fset  # pyright: ignore[reportAttributeAccessIssue]
_OPERANDS = property(_operands_of, _SET_OPERANDS)
_OPERAND, _RESULT = VarIRConstruct.OPERAND, VarIRConstruct.RESULT


def _of(op: Any, construct: VarIRConstruct) -> Any:
    """The values, or regions or successors, of an op: operands without the view of them."""
    if construct is _OPERAND:
        return op._operands
    return op.results if construct is _RESULT else operations.get_op_constructs(op, construct)


def _get(accessor: Any, op: Any, _class: Any = None) -> Any:
    return _values(accessor.index(_of(op, accessor.construct)))


def _get_one(accessor: Any, op: Any, _class: Any = None) -> Any:
    construct = accessor.construct
    if construct is _OPERAND:
        return op._operands[accessor.idx]
    if construct is _RESULT:
        return op.results[accessor.idx]
    return _of(op, construct)[accessor.idx]


@once_each
def _numbers(sizes: DenseArrayBase[Any]) -> Sequence[int]:
    return sizes.get_values()


def _get_sized(accessor: Any, op: Any, _class: Any = None) -> Any:
    option, construct = accessor.option, accessor.construct
    sizes = _numbers(option.container(op)[option.attribute_name])
    values = op._operands if construct is _OPERAND else _of(op, construct)
    return _values(accessor.index(sizes, values))


# Construction

_no_more = Operation.__post_init__


class _Use:
    """A use, without a dictionary of its own."""

    __slots__ = ("_index", "_next_use", "_operation", "_prev_use")
    operation, index = Use.operation, Use.index
    __repr__ = Use.__repr__


_NONE = SSAValues[Any]()


class _EarlierType:
    """The type of a value that is older than the patch; of others it is their own attribute."""

    def __get__(self, value: Any, _class: Any = None) -> Any:
        return self if value is None else value.__dict__["_type"]


_TYPE = property(attrgetter("type"), lambda value, type_: setattr(value, "type", type_))
"""An own attribute of each value is `type`, which is read most often; xDSL keeps it in `_type`."""


def _construct(
    self: Any,
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] = {},
    attributes: Mapping[str, Attribute] = {},
    location: LocationAttr | None = None,
    successors: Sequence[Block] = (),
    regions: Sequence[Region] = (),
) -> None:
    """Make an op: its uses and results without constructors of their own; what it has none of is
    the class's."""
    if successors:
        self.successors = successors
    for region in regions:
        self.add_region(region)
    if location is not None:
        self.location = location
    # A tuple is made three times as fast as SSAValues, and nobody sees it: accessors wrap parts.
    self._operands = values = tuple(operands)
    uses: list[Any] = []  # list[Any]() takes half a microsecond
    for index, value in enumerate(values):
        use: Any = _new(_Use)
        use._operation, use._index, use._prev_use = self, index, None
        use._next_use = first = value.first_use
        if first is not None:
            first._prev_use = use
        value.first_use = use
        uses.append(use)
    self._operand_uses = tuple(uses)
    results: list[Any] = []
    for type_ in result_types:
        result: Any = _new(OpResult)
        result.type, result.op, result.index = type_, self, len(results)
        results.append(result)
    self.results = SSAValues(results) if results else _NONE
    self.properties, self.attributes = dict(properties), dict(attributes)
    for name in _added(self.__class__):
        if name not in properties:
            return self.__post_init__()
    # An implicit builder takes the place of Operation's own.
    if Operation.__post_init__ is not _no_more:
        self.__post_init__()


def _create(class_: Any, **fields: Any) -> Any:
    op = _new(class_)
    _construct(op, **fields)
    return op


@cache
def _added(class_: Any) -> Sequence[str]:
    """The properties that an op gets where it was not given them; with an empty name where it may
    get attributes, or does more."""
    if not hasattr(class_, "get_irdl_definition"):  # an op that nobody registered
        return [""]
    definition: OpDef = class_.get_irdl_definition()
    is_other = class_.__post_init__ is not IRDLOperation.__post_init__
    more = is_other or any(field.default_value for field in definition.attributes.values())
    named = definition.properties.items()
    names = [
        name for name, field in named
        if field.default_value is not None and not isinstance(field, OptionalDef)
    ]  # fmt: skip
    return [*names, ""] if more else names


_built = operations.irdl_op_init


def _build(self: Any, op_def: Any, *, operands: Any, result_types: Any, **rest: Any) -> None:
    """Initialise an op of its fields, if it has values, attributes and single successors alone."""
    if "_counts" not in op_def.__dict__:
        op_def._counts = field_counts(op_def)
    counts: FieldCounts | None = op_def._counts
    values = types = None
    blocks = rest["successors"]
    is_plain = len(blocks) == len(op_def.successors) and all(type(one) is Block for one in blocks)
    if counts and is_plain and not rest["regions"]:
        values = flattened(operands, counts.operands, SSAValue)
        types = flattened(result_types, counts.results, Attribute)
    if counts is None or values is None or types is None:
        _built(self, op_def, operands=operands, result_types=result_types, **rest)
        return
    fields: dict[str, Any] = {
        part: {name: value for name, value in rest[part].items() if value is not None}
        for part in ("properties", "attributes")
    }
    if counts.sizes is not None:
        fields[counts.sizes][AttrSizedOperandSegments.attribute_name] = segments(values[1])
    Operation.__init__(self, operands=values[0], result_types=types[0], successors=blocks, **fields)


_attach_any = Block._attach_op


def _attach(block: Block, op: Operation) -> None:
    """Let an op be one of a block: one without regions contains no block."""
    if op.parent is not None or op.regions:
        _attach_any(block, op)
    op.parent = block


_append_any = Block.add_op


def _append(block: Block, op: Operation) -> None:
    last = block._last_op
    if last is None or op.parent is not None or op.regions:
        return _append_any(block, op)
    op.parent, op._prev_op, op._next_op = block, last, None
    last._next_op = block._last_op = op
    return None


# Erasure

_erase_any = Operation.erase


def _erase(op: Operation, safe_erase: bool = True, drop_references: bool = True) -> None:
    """Erase an op. What is in an isolated one nobody else uses: it is taken apart, and so is gone
    at once, not when the garbage collector has looked for cycles."""
    if not safe_erase and op.has_trait(IsolatedFromAbove):
        for region in op.regions:
            inner: Any
            for inner in region.walk():
                for use in inner._operand_uses:
                    use._prev_use = None
                for result in inner.results:
                    result.op = result.first_use = None
                inner._operands, inner._operand_uses, inner.results = _NONE, (), _NONE
                inner.parent = inner._prev_op = inner._next_op = None
    _erase_any(op, safe_erase, drop_references)


_ROOTS: tuple[Any, ...] = (
    _IRNode, IRWithUses, IRWithName, Attribute, AttrConstraint, RangeConstraint,
)  # fmt: skip
PATCHES: Patches = {
    "isinstance_of_ir": ((class_, "__class__", IRMeta) for class_ in _classes_of_ir(_ROOTS)),
    "walks": (
        (Operation, "walk", _walking(Operation.walk, _of_op)),
        (Region, "walk", _walking(Region.walk, _of_region)),
        (Block, "walk", _walking(Block.walk, _of_block)),
        (BlockOps, "__iter__", _ops),
    ),
    "identities": [
        (class_, name, getattr(object, name))
        for class_ in (_IRNode, SSAValue, Use, IRDLOperation)
        for name in ("__hash__", "__eq__")
    ],
    "constructed_ops": (
        (Operation, "__init__", _construct),
        (Operation, "create", classmethod(_create)),
        (Operation, "location", LocatedLater()),
        (SSAValue, "type", _EarlierType()),
        (SSAValue, "_type", _TYPE),
        (OpResult, "owner", property(attrgetter("op"))),
        (OpOperands, "__getitem__", _operand_of),
    ),
    "indexed_values": (
        (Operation, "operands", _OPERANDS),
        (SSAValues, "__getitem__", _tuple.__getitem__),
        (BaseAccessor, "__get__", _get),
        (BeforeVariadicSingleAccessor, "__get__", _get_one),
        (BaseAttrAccessor, "__get__", _get_sized),
    ),
    "values_alone": ((operations, "irdl_op_init", _build),),
    "attaching": ((Block, "_attach_op", _attach), (Block, "add_op", _append)),
    "erasure": ((Operation, "erase", _erase),),
    "lexer": ((MLIRLexer, "lex", lexer.lex),),
    **dense.PATCHES,
    **verification.PATCHES,
}
