"""Contractions of one tile among the ops of `linalg`, and what MMA atoms need to know of them.

A contraction is `linalg.matmul`, or a `linalg.generic` in that form: two parallel loops and one
reduction; of its operands A, B and C each lacks one of the loops, in any order of dimensions; and
the body adds the product of A and B, extended or not, to C.
"""

import difflib
from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IntegerType,
    MemRefType,
    ShapedType,
    TensorType,
    VectorType,
    i1,
    i8,
)
from xdsl.dialects.linalg import IteratorType
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.utils.hints import isa

from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES
from tilewright.dialects.cute_nvgpu.lattice.row import Shape
from tilewright.dialects.cute_nvgpu.types.fragments import element_of
from tilewright.dialects.frozen import frozen
from tilewright.source.diagnostic import OpError

_SIGNED: dict[Attribute, str] = {IntegerType(4): "s4", i8: "s8"}
_UNSIGNED: dict[Attribute, str] = {i1: "b1", IntegerType(4): "u4", i8: "u8"}
# The body says whether integers are signed, their type does not.
_LEGAL = list(dict.fromkeys(row.mlir.lstrip("su") for row in ELEMENT_TYPES.values()))


@frozen
class LinalgContraction:
    """A contraction in IR: its extents (M, N, K) and the element types of a, b, c and d."""

    op: Operation
    shape: Shape
    types: tuple[str, str, str, str]


def contraction_of(op: Operation) -> LinalgContraction | None:
    """The contraction that the op is, or None where it is none of one tile.

    Raises OpError for a contraction whose extents are not static, or whose elements no MMA knows.
    """
    if not isinstance(op, LinalgStructuredOperation):
        return None
    loops = _loops(op)
    if loops is None:
        return None
    signed = _signedness(op.body.block)
    if signed is None:
        return None
    m, n, k = (_extent(op, loop) for loop in loops)
    a, b, c = (
        _element(op, operand.type, unsigned)
        for operand, unsigned in zip(op.operands, (*signed, False), strict=True)
    )
    return LinalgContraction(op, (m, n, k), (a, b, c, c))


def _loops(op: LinalgStructuredOperation) -> Shape | None:
    """The loops over M, N and K, or None where they are not those of a matrix product."""
    kinds = [type_.data for type_ in op.get_iterator_types()]
    maps = [map_.data for map_ in op.get_indexing_maps()]
    if sorted(kinds) != sorted([IteratorType.PARALLEL] * 2 + [IteratorType.REDUCTION]):
        return None
    uses = [
        {result.position for result in map_.results if isinstance(result, AffineDimExpr)}
        for map_ in maps
    ]
    if [len(map_.results) for map_ in maps] != [2, 2, 2] or any(len(use) != 2 for use in uses):
        return None
    a, b, c = uses
    k = kinds.index(IteratorType.REDUCTION)
    if k not in a & b or k in c or a == b:
        return None
    return min(a - {k}), min(b - {k}), k


def _signedness(body: Block) -> tuple[bool, bool] | None:
    """For A and for B, the body takes it as unsigned; None where it does not add their product to
    its last argument."""
    terminator = body.last_op
    if terminator is None or len(terminator.operands) != 1:
        return None
    total = terminator.operands[0].owner
    if not isinstance(total, arith.AddfOp | arith.AddiOp):
        return None
    terms = [operand for operand in total.operands if operand is not body.args[2]]
    if len(terms) != 1:
        return None
    product = terms[0].owner
    if not isinstance(product, arith.MulfOp | arith.MuliOp):
        return None
    factors = dict(map(_extended, product.operands))
    signs = [factors.get(argument) for argument in body.args[:2]]
    return None if None in signs else (bool(signs[0]), bool(signs[1]))


def _extended(value: SSAValue) -> tuple[SSAValue, bool]:
    """The value that was extended to this one, in one way, and whether as an unsigned number."""
    kind = type(value.owner)
    if kind not in (arith.ExtFOp, arith.ExtSIOp, arith.ExtUIOp):
        return value, False
    while isinstance(value, OpResult) and type(value.owner) is kind:
        value = value.owner.operands[0]
    return value, kind is arith.ExtUIOp


def _extent(op: LinalgStructuredOperation, loop: int) -> int:
    sizes = [
        size
        for operand, map_ in zip(op.operands, op.get_indexing_maps(), strict=True)
        for size, index in zip(_shape(operand.type), map_.data.results, strict=True)
        if index == AffineDimExpr(loop)
    ]
    if max(sizes) < 0:
        types = ", ".join(str(type_) for type_ in op.operand_types)
        raise OpError(
            op,
            f"'{op.name}' expected a tile with static extents, got {types} "
            "(atoms cover a tile of known size)",
        )
    return max(sizes)


def _shape(type_: Attribute) -> Sequence[int]:
    assert isinstance(type_, ShapedType)
    return type_.get_shape()


def _element(op: Operation, type_: Attribute, unsigned: bool) -> str:
    """The PTX name of a tile's elements."""
    assert isa(type_, MemRefType | TensorType | VectorType)
    element = type_.get_element_type()
    name = (_UNSIGNED if unsigned else _SIGNED).get(element)
    if name is not None:
        return name
    row = element_of(element)
    if row is None:
        near = difflib.get_close_matches(str(element), _LEGAL, n=1, cutoff=0.0)[0]
        legal = ", ".join(_LEGAL)
        raise OpError(
            op,
            f"'{op.name}' expected element types of {legal}, got {element}; nearest legal: {near}",
        )
    return row.name
