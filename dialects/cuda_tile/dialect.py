"""The `cuda_tile` dialect."""

from xdsl.ir import Dialect

from tilewright.dialects.cuda_tile.attributes import (
    BoundedAttr,
    ComparisonOrderingAttr,
    ComparisonPredicateAttr,
    DivByAttr,
    IntegerOverflowAttr,
    MultimemReductionKindAttr,
    OptimizationHintsAttr,
    PtrAttrAttr,
    RoundingModeAttr,
    SameElementsAttr,
    SignednessAttr,
    SymbolVisibilityAttr,
)
from tilewright.dialects.cuda_tile.debug_info import DEBUG_INFO
from tilewright.dialects.cuda_tile.elements import ElementsAttr
from tilewright.dialects.cuda_tile.ops import OPS
from tilewright.dialects.cuda_tile.ops.floating_point import FPowFOp
from tilewright.dialects.cuda_tile.types import TYPES

CUDA_TILE = Dialect(
    "cuda_tile",
    [*OPS, FPowFOp],
    [
        *TYPES,
        SignednessAttr,
        IntegerOverflowAttr,
        RoundingModeAttr,
        ComparisonOrderingAttr,
        ComparisonPredicateAttr,
        SymbolVisibilityAttr,
        MultimemReductionKindAttr,
        PtrAttrAttr,
        DivByAttr,
        SameElementsAttr,
        BoundedAttr,
        OptimizationHintsAttr,
        ElementsAttr,
        *DEBUG_INFO,
    ],
)
