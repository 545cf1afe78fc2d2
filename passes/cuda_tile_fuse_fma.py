"""`cuda-tile-fuse-fma`: a product that is added to or subtracted from becomes one `fma`.

    %p = mulf %a, %b : tile<f32>
    %s = subf %p, %c : tile<f32>      ->      %n = negf %c : tile<f32>
                                              %s = fma %a, %b, %n : tile<f32>

The result is rounded once where it was rounded twice: other bits. Both ops round and flush alike,
and nobody else uses the product.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tilewright.dialects.cuda_tile.builder import TileBuilder
from tilewright.dialects.cuda_tile.ops.elementwise import BinaryFloat, RoundedFloat
from tilewright.dialects.cuda_tile.ops.floating_point import AddFOp, FmaOp, MulFOp, NegFOp, SubFOp
from tilewright.dialects.frozen import frozen


@frozen
class CudaTileFuseFmaPass(ModulePass):
    """Fuse multiplications with the additions and subtractions behind them."""

    name = "cuda-tile-fuse-fma"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, AddFOp | SubFOp):
                fuse(inner)


def fuse(op: BinaryFloat) -> None:
    """Fuse a sum or difference with a product it is of, if there is one."""
    product, other = op.lhs.owner, op.rhs
    if isinstance(op, AddFOp) and not isinstance(product, MulFOp):
        product, other = op.rhs.owner, op.lhs
    if not isinstance(product, MulFOp) or not _alike(op, product):
        return
    at = TileBuilder(op)
    if isinstance(op, SubFOp):
        other = at.add(NegFOp, [other])
    result = at.add(FmaOp, [product.lhs, product.rhs, other], **op.properties)
    result.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(result)
    Rewriter.erase_op(op)
    Rewriter.erase_op(product)


def _alike(op: Operation, product: RoundedFloat) -> bool:
    """True where a product is used once, and rounded and flushed as the op that uses it."""
    return product.result.has_one_use() and product.properties == op.properties
