"""Reductions, scans and functions of elements: a region of scalars is run on tiles.

Triton's folds have no identity. One operation whose identity changes no bit is Tile IR's own fold;
any other region combines halves of the tiles until one element is left, and prefixes of blocks of
one, two, four elements and so on for a scan. The first arguments of the region are what came
before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, ArrayAttr, FloatAttr, IntegerAttr, IntegerType, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.ops import aggregate
from tilewright.dialects.cuda_tile.ops.control_flow import YieldOp
from tilewright.lowering.triton.control_flow import converted_blocks
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.lowering.triton.elementwise import row_of
from tilewright.passes.cuda_tile.layouts.elements import shape_of

_INF = float("inf")
_FLOAT_IDENTITIES: dict[type[Operation], float] = {
    arith.AddfOp: -0.0, arith.MulfOp: 1.0, arith.MaxnumfOp: -_INF, arith.MinnumfOp: _INF,
    arith.MaximumfOp: -_INF, arith.MinimumfOp: _INF,
}  # fmt: skip
_NUMBERS_LOST = (arith.MaxnumfOp, arith.MinnumfOp)
"""Of these an identity hides a NaN that stands alone, so that no scan may begin with it."""


def _identity(kind: type[Operation], element: Attribute) -> Attribute | None:
    """The element that an operation leaves others as they are with, if there is one."""
    if isinstance(element, AnyFloat):
        number = _FLOAT_IDENTITIES.get(kind)
        return None if number is None else FloatAttr(number, element)
    integer: Any = element
    width: int = integer.bitwidth
    least, greatest = -(1 << width - 1), (1 << width - 1) - 1
    numbers: dict[type[Operation], int] = {
        arith.AddiOp: 0, arith.OrIOp: 0, arith.XOrIOp: 0, arith.MuliOp: 1, arith.AndIOp: -1,
        arith.MaxSIOp: least, arith.MinSIOp: greatest, arith.MaxUIOp: 0, arith.MinUIOp: -1,
    }  # fmt: skip
    number = numbers.get(kind)
    if number is None:
        return None
    return IntegerAttr(number, IntegerType(width), truncate_bits=True)


def _single(block: Block, at: TritonConversion) -> Attribute | None:
    """The identity of a region that is one operation of its two arguments, else None."""
    first, second = block.first_op, block.last_op
    if first is None or first.next_op is not second or second is None or len(block.args) != 2:
        return None
    if set(first.operands) != set(block.args) or list(second.operands) != list(first.results):
        return None
    return _identity(type(first), at.element(block.args[0].type))


def _body(op: Operation, at: TritonConversion) -> Region:
    """The region of a fold of one operand as Tile IR's."""
    (block,) = op.regions[0].blocks
    type_ = at.tile(block.args[0].type)
    first = block.first_op
    row = None if first is None else row_of(first)
    assert first is not None and row is not None
    with at.inside(Block(arg_types=[type_, type_])) as body:
        operands = [body.args[block.args.index(x)] for x in first.operands]
        result = at.add(row[0], operands, **row[1])
        at.insert(YieldOp.create(operands=[result]))
    return Region(body)


def fold(
    at: TritonConversion, kind: type[aggregate.Aggregate], value: SSAValue, type_: Attribute,
    axis: int, identity: Attribute, body: Region, **properties: Attribute,
) -> SSAValue:  # fmt: skip
    """A fold of one tile by a region that has an identity."""
    properties |= {"dim": IntegerAttr(axis, i32), "identities": ArrayAttr([identity])}
    return at.insert(kind.create(
        operands=[value], result_types=[type_], regions=[body], properties=properties
    )).results[0]  # fmt: skip


def _combined(
    block: Block, at: TritonConversion, before: Sequence[SSAValue], values: Sequence[SSAValue]
) -> list[SSAValue]:
    """A region of scalars on tiles of one shape."""
    at.bind(block.args, [*before, *values])
    with at.lifted(shape_of(before[0])):
        return at.convert_body(block)


@converts
def _reduce(op: triton.ReduceOp, at: TritonConversion) -> Sequence[SSAValue]:
    axis, (block,) = op.number("axis"), op.combineOp.blocks
    values, types = at.all(op.srcs), [at.tile(result.type) for result in op.results]
    identity = _single(block, at)
    if identity is not None:
        return [fold(at, aggregate.ReduceOp, values[0], types[0], axis, identity, _body(op, at))]
    extent = shape_of(values[0])[axis]
    while extent > 1:
        extent //= 2
        halves = ([at.part(value, axis, i, extent) for value in values] for i in range(2))
        values = _combined(block, at, *halves)
    return [at.reshape(value, type_.shape) for value, type_ in zip(values, types, strict=True)]


@converts
def _scan(op: triton.ScanOp, at: TritonConversion) -> Sequence[SSAValue]:
    axis, reverse, (block,) = op.number("axis"), op.number("reverse"), op.combineOp.blocks
    values, backwards = at.all(op.srcs), bool(reverse)
    identity = _single(block, at)
    if identity is not None and not isinstance(block.first_op, _NUMBERS_LOST):
        [value], body = values, _body(op, at)
        direction = IntegerAttr(backwards, 1)
        return [fold(at, aggregate.ScanOp, value, value.type, axis, identity, body,
                     reverse=direction)]  # fmt: skip
    extent, size = shape_of(values[0])[axis], 1
    while size < extent:
        values = _scanned_pairs(block, at, values, axis, size, backwards)
        size *= 2
    return values


def _scanned_pairs(
    block: Block,
    at: TritonConversion,
    values: Sequence[SSAValue],
    axis: int,
    size: int,
    backwards: bool,
) -> list[SSAValue]:
    """The prefixes of blocks of twice a size, from those of blocks of that size."""
    shape = shape_of(values[0])
    outer, inner = shape[:axis], shape[axis + 1 :]
    pairs = (*outer, shape[axis] // (2 * size), 2, size, *inner)
    split = [at.reshape(value, pairs) for value in values]
    halves = [[at.part(value, axis + 1, i, 1) for value in split] for i in range(2)]
    first, second = halves[::-1] if backwards else halves
    last = [at.part(value, axis + 2, 0 if backwards else size - 1, 1) for value in first]
    carried = [at.broadcast(value, shape_of(first[0])) for value in last]
    both = first, _combined(block, at, carried, second)
    joined = (at.joined(pair[::-1] if backwards else pair, axis + 1)
              for pair in zip(*both, strict=True))  # fmt: skip
    return [at.reshape(value, shape) for value in joined]


@converts
def _map(op: triton.MapElementwiseOp, at: TritonConversion) -> Sequence[SSAValue]:
    block, pack = op.scalarOp.blocks[0], op.number("pack")
    values, types = at.all(op.srcs), [at.tile(result.type) for result in op.results]
    shape, groups = shape_of(values[0]), types[0].elements // pack
    packs = [at.reshape(value, (groups, pack)) for value in values]
    lanes = [at.part(value, 1, i, 1) for value in packs for i in range(pack)]
    at.bind(block.args, lanes)
    with at.lifted((groups, 1)):
        results = converted_blocks(at, block)
    joined = (at.joined(results[i : i + pack], 1) for i in range(0, len(results), pack))
    return [at.reshape(value, shape) for value in joined]
