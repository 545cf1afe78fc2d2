"""Ops on tensors: views of them, and their tiles.

%ca = cute.local_tile(%a, %tiler, %coord)       what a CTA has of a matrix: (128,32,k)
%row = cute.slice(%ca, %k)                      as of a layout; the first element moves
"""

from abc import ABC
from functools import partial
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

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
from tilewright.dialects.cute.ops.operation import InferredOp, cute_op
from tilewright.dialects.cute.ops.properties import PrefixOp, PrefixPart
from tilewright.dialects.cute.rules import tensors as rules
from tilewright.dialects.cute.values import Typed, read_typed
from tilewright.dialects.reading import legal_text, read_text


@cute_op("cute.make_view", (MEMREF, ANY_LAYOUT), (MEMREF,), rules.make_view)
class MakeViewOp(InferredOp):
    """The elements of a tensor through another layout, from the tensor's first element on."""

    source = operand_def()
    layout = operand_def()
    result = result_def()


@cute_op("cute.map_shared", (MEMREF, USE), (MEMREF,), rules.map_shared)
class MapSharedOp(InferredOp):
    """The tensor at the same place in the shared memory of the CTA of that rank in the cluster:
    `cute.map_shared(%t, %rank)`, in `dsmem`."""

    source = operand_def()
    rank = operand_def()
    result = result_def()


@cute_op("cute.get_layout", (TENSOR,), (ANY_LAYOUT,), rules.get_layout)
class GetLayoutOp(InferredOp):
    """The layout of a tensor."""

    source = operand_def()
    result = result_def()


@cute_op("cute.make_identity_tensor", (SHAPE,), (TENSOR,), rules.make_identity_tensor)
class MakeIdentityTensorOp(InferredOp):
    """The tensor whose elements are their own coordinates: what bounds are made of."""

    shape = operand_def()
    result = result_def()


class ElementPrefixOp(PrefixOp, InferredOp, ABC):
    """An op that names an element type before its operands: `cute.recast<f4E2M1FN> (%t)`."""

    PARTS: ClassVar = (
        PrefixPart("element", Parser.parse_type, value=lambda type_: type_ and str(type_)),
    )
    IS_OPTIONAL: ClassVar = True


@cute_op("cute.recast", (MEMREF,), (MEMREF,), rules.recast)
class RecastOp(ElementPrefixOp):
    """The bytes of a tensor in memory as elements of less than a byte, or such elements as bytes:
    `cute.recast<f4E2M1FN> (%t)`."""

    source = operand_def()
    element = prop_def(Attribute)
    result = result_def()


@cute_op("cute.make_fragment_like", (TENSOR,), (MEMREF,), rules.make_fragment_like)
class MakeFragmentLikeOp(ElementPrefixOp):
    """Registers for the elements of a tensor, or for as many of another type:
    `cute.make_fragment_like<bf16> (%t)`. Modes of stride 0 share registers."""

    source = operand_def()
    element = opt_prop_def(Attribute)
    result = result_def()


def _read_projection(parser: Parser) -> Attribute:
    with legal_text(parser):
        return StringAttr(read_text(parser, "proj", partial(read_typed, "coord")).text)


def _projection(text: StringAttr | None) -> Typed | None:
    return None if text is None else read_typed("coord", text.data)


@cute_op("cute.local_tile", (TENSOR, TILER, TILE_COORD), (TENSOR,), rules.local_tile)
class LocalTileOp(PrefixOp, InferredOp):
    """The tile of a tensor at a coordinate of tiles.

    `cute.local_tile(%a, %tiler, %coord)` with the tiler (128,32) and the coordinate (?,_) of a
    tensor (m,k) is (128,32,rest of k). `cute.local_tile<"(1,_,1)"> (...)` leaves out the modes of
    tiler and coordinate that are `_`, so that the tensors of a GEMM share those of (M,N,K).
    """

    source = operand_def()
    tiler = operand_def()
    coord = operand_def()
    proj = opt_prop_def(StringAttr)
    result = result_def()

    PARTS: ClassVar = (PrefixPart("proj", _read_projection, value=_projection),)
    IS_OPTIONAL: ClassVar = True

    def print_prefix(self, printer: Printer) -> None:
        if self.proj is not None:
            super().print_prefix(printer)


@cute_op("cute.local_partition", (TENSOR, LAYOUT, THREAD), (TENSOR,), rules.local_partition)
class LocalPartitionOp(InferredOp):
    """The part of a tensor that one thread of a layout of threads has: of each of its tiles the
    element at that thread's place."""

    source = operand_def()
    threads = operand_def()
    index = operand_def()
    result = result_def()
