"""Triton's TTIR: types, ops, text. Source: TritonOps.td and TritonTypes.td of Triton 3.6 to 3.9."""

from tilewright.dialects.llvm import AssumeOp
from tilewright.dialects.triton.ops.descriptors import (
    DescriptorGatherOp,
    DescriptorLoadOp,
    DescriptorReduceOp,
    DescriptorScatterOp,
    DescriptorStoreOp,
    MakeTensorDescOp,
)
from tilewright.dialects.triton.ops.elementwise import (
    ApproxDivFOp,
    BitcastOp,
    ClampFOp,
    ElementwiseInlineAsmOp,
    ExternElementwiseOp,
    FpToFpOp,
    IntToPtrOp,
    MulhiUIOp,
    PreciseDivFOp,
    PreciseSqrtOp,
    PtrToIntOp,
)
from tilewright.dialects.triton.ops.functions import (
    CallOp,
    FuncOp,
    ReturnOp,
)
from tilewright.dialects.triton.ops.memory import (
    AddPtrOp,
    AdvanceOp,
    AtomicCASOp,
    AtomicLoadOp,
    AtomicPollOp,
    AtomicRMWOp,
    AtomicStoreOp,
    LoadOp,
    MakeTensorPtrOp,
    StoreOp,
)
from tilewright.dialects.triton.ops.products import (
    DotOp,
    DotScaledOp,
)
from tilewright.dialects.triton.ops.program import (
    AssertOp,
    BarrierOp,
    GetNumProgramsOp,
    GetProgramIdOp,
    HistogramOp,
    PrintOp,
)
from tilewright.dialects.triton.ops.regions import (
    MapElementwiseOp,
    MapElementwiseReturnOp,
    ReduceOp,
    ReduceReturnOp,
    ScanOp,
    ScanReturnOp,
)
from tilewright.dialects.triton.ops.shapes import (
    BroadcastOp,
    CatOp,
    ExpandDimsOp,
    GatherOp,
    JoinOp,
    MakeRangeOp,
    ReshapeOp,
    SplatOp,
    SplitOp,
    TransOp,
    UnsplatOp,
)
from tilewright.dialects.triton.types import CachePolicyAttr, PointerType, TensorDescType

__all__ = [
    "AddPtrOp", "AdvanceOp", "ApproxDivFOp", "AssertOp", "AssumeOp", "AtomicCASOp",
    "AtomicLoadOp", "AtomicPollOp", "AtomicRMWOp", "AtomicStoreOp", "BarrierOp", "BitcastOp",
    "BroadcastOp", "CachePolicyAttr", "CallOp", "CatOp", "ClampFOp", "DescriptorGatherOp",
    "DescriptorLoadOp", "DescriptorReduceOp", "DescriptorScatterOp", "DescriptorStoreOp", "DotOp",
    "DotScaledOp", "ElementwiseInlineAsmOp", "ExpandDimsOp", "ExternElementwiseOp", "FpToFpOp",
    "FuncOp", "GatherOp", "GetNumProgramsOp", "GetProgramIdOp", "HistogramOp", "IntToPtrOp",
    "JoinOp", "LoadOp", "MakeRangeOp", "MakeTensorDescOp", "MakeTensorPtrOp", "MapElementwiseOp",
    "MapElementwiseReturnOp", "MulhiUIOp", "PointerType", "PreciseDivFOp", "PreciseSqrtOp",
    "PrintOp", "PtrToIntOp", "ReduceOp", "ReduceReturnOp", "ReshapeOp", "ReturnOp", "ScanOp",
    "ScanReturnOp", "SplatOp", "SplitOp", "StoreOp", "TensorDescType", "TransOp", "UnsplatOp",
]  # fmt: skip
