"""Ops on tensors: views of them, and their tiles.

%ca = cute.local_tile(%a, %tiler, %coord)       what a CTA has of a matrix: (128,32,k)
%row = cute.slice(%ca, %k)                      as of a layout; the first element moves
"""

from functools import partial
from typing import Any

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, result_def
from xdsl.parser import Parser

from tilewright.dialects.cute.ops.operands import (
    ANY_LAYOUT,
    LAYOUT,
    MEMREF,
    SHAPE,
    TENSOR,
    THREAD,
    TILE_COORD,
    TILER,
    USE,
)
from tilewright.dialects.cute.ops.operation import REGULAR, InferredOp, cute_op
from tilewright.dialects.cute.ops.properties import ELEMENT_TYPE, SpelledOf, spelled
from tilewright.dialects.cute.rules import tensors as rules
from tilewright.dialects.cute.values import read_typed
from tilewright.dialects.reading import legal_text


@cute_op("cute.make_view", rules.make_view)
class MakeViewOp(InferredOp):
    """The elements of a tensor through another layout, from the tensor's first element on."""

    source = operand_def(MEMREF)
    layout = operand_def(ANY_LAYOUT)
    result = result_def(MEMREF)


@cute_op("cute.map_shared", rules.map_shared)
class MapSharedOp(InferredOp):
    """The tensor at the same place in the shared memory of the CTA of that rank in the cluster:
    `cute.map_shared(%t, %rank)`, in `dsmem`."""

    source = operand_def(MEMREF)
    rank = operand_def(USE)
    result = result_def(MEMREF)


@cute_op("cute.get_layout", rules.get_layout)
class GetLayoutOp(InferredOp):
    """The layout of a tensor."""

    source = operand_def(TENSOR)
    result = result_def(ANY_LAYOUT)


@cute_op("cute.make_identity_tensor", rules.make_identity_tensor)
class MakeIdentityTensorOp(InferredOp):
    """The tensor whose elements are their own coordinates: what bounds are made of."""

    shape = operand_def(SHAPE)
    result = result_def(TENSOR)


@cute_op("cute.recast", rules.recast)
class RecastOp(InferredOp):
    """The bytes of a tensor in memory as elements of less than a byte, or such elements as bytes:
    `cute.recast<f4E2M1FN> (%t)`."""

    source = operand_def(MEMREF)
    element = opt_prop_def(ELEMENT_TYPE)
    result = result_def(MEMREF)


@cute_op("cute.make_fragment_like", rules.make_fragment_like)
class MakeFragmentLikeOp(InferredOp):
    """Registers for the elements of a tensor, or for as many of another type:
    `cute.make_fragment_like<bf16> (%t)`. Modes of stride 0 share registers."""

    source = operand_def(TENSOR)
    element = opt_prop_def(ELEMENT_TYPE)
    result = result_def(MEMREF)


class Projection(SpelledOf):
    """A coordinate of 1 and `_`, as a string literal."""

    def parse(self, parser: Parser) -> Attribute:
        with legal_text(parser):
            return super().parse(parser)


PROJECTION: Any = spelled("proj", partial(read_typed, "coord"), Projection)


@cute_op("cute.local_tile", rules.local_tile)
class LocalTileOp(InferredOp):
    """The tile of a tensor at a coordinate of tiles.

    `cute.local_tile(%a, %tiler, %coord)` with the tiler (128,32) and the coordinate (?,_) of a
    tensor (m,k) is (128,32,rest of k). `cute.local_tile<"(1,_,1)"> (...)` leaves out the modes of
    tiler and coordinate that are `_`, so that the tensors of a GEMM share those of (M,N,K).
    """

    assembly_format = f"(`<` $proj^ `>`)? {REGULAR}"

    source = operand_def(TENSOR)
    tiler = operand_def(TILER)
    coord = operand_def(TILE_COORD)
    proj = opt_prop_def(PROJECTION)
    result = result_def(TENSOR)


@cute_op("cute.local_partition", rules.local_partition)
class LocalPartitionOp(InferredOp):
    """The part of a tensor that one thread of a layout of threads has: of each of its tiles the
    element at that thread's place."""

    source = operand_def(TENSOR)
    threads = operand_def(LAYOUT)
    index = operand_def(THREAD)
    result = result_def(TENSOR)
