"""Assumptions and printing. Tile IR specification, miscellaneous."""

import re

from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    var_operand_def,
)

from tilewright.dialects.accepts import ANY, STRING, instance_of
from tilewright.dialects.cuda_tile.attributes import AssumePredicateAttr
from tilewright.dialects.cuda_tile.constraints import TILE, TOKEN
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp, tile_op
from tilewright.dialects.cuda_tile.predicates import wrong_predicate
from tilewright.dialects.cuda_tile.versions import V13_2
from tilewright.dialects.traits import WRITES

CONVERSION = re.compile(r"%[^diuoxXeEfFgGaAcsSpn%]*(?P<end>[diuoxXeEfFgGaAcsSpn%])?")
"""A conversion of printf."""


@tile_op("cuda_tile.assume", 0x06)
class AssumeOp(CudaTileOp):
    """A value with something known of it: `assume div_by<16>, %p : tile<ptr<f32>>`."""

    assembly_format = "custom<AssumedPredicate>($predicate) `,` $value"
    SAME_TYPES = "value result"

    value = operand_def(ANY)
    predicate = prop_def(
        instance_of("div_by<...>, same_elements<...> or bounded<...>", AssumePredicateAttr)
    )
    result = result_def(ANY)

    def verify_types(self) -> None:
        predicate = self.predicate
        assert isinstance(predicate, AssumePredicateAttr)
        if (wrong := wrong_predicate(predicate, self.value.type)) is not None:
            raise self.fail(wrong)


@tile_op("cuda_tile.print_tko", 0x55, token=V13_2, result_token=V13_2)
class PrintTkoOp(CudaTileOp):
    """Print as C's printf does: `%t = print_tko "%d", %x : tile<4xi32> -> token`."""

    assembly_format = (
        "$str (`,` $args^)? (`token` `` `=` `` $token^)? attr-dict (`:` type($args)^)? `->` "
        "type($result_token)"
    )

    str_ = prop_def(STRING, prop_name="str")
    args = var_operand_def(TILE)
    token = opt_operand_def(TOKEN)
    result_token = result_def(TOKEN)

    traits = WRITES

    def verify_types(self) -> None:
        text = self.str_.data
        wanted = 0
        for place in CONVERSION.finditer(text):
            if place["end"] is None:
                raise self.fail(f"a conversion like %d or %f at every %, got {place[0][:8]!r}")
            wanted += place[0] != "%%"
        if wanted != len(self.args):
            raise self.fail(f"{wanted} operands as {text!r} has conversions, got {len(self.args)}")
