"""Ops of tiled MMAs and copies: which part of a tensor is whose.

%mma = cute.make_tiled_mma : !mma
%ta = cute.tiled.mma.partition A (%mma, %sa, %thread)
%fa = cute.mma.make_fragment A (%mma, %ta)
%copy = cute.make_tiled_copy_A<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma)
"""

from abc import ABC
from typing import Any, ClassVar

from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import MemoryAllocEffect

from tilewright.dialects.accepts import ANY as EVERY_TYPE
from tilewright.dialects.cute.atoms import OPERAND_MODES
from tilewright.dialects.cute.ops.operands import MEMREF, TENSOR, THREAD, TILED_COPY, TILED_MMA
from tilewright.dialects.cute.ops.operation import REGULAR, CuteOp, InferredOp, cute_op
from tilewright.dialects.cute.ops.properties import instruction, word
from tilewright.dialects.cute.rules import tiled as rules
from tilewright.dialects.cute.types.tiled import CopyAtomAttr
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.traits import PURE


class TypedConstantOp(CuteOp, ABC):
    """A value that its type says in full: `%mma = cute.make_tiled_mma : T`; with brackets where
    executing it does something, `%s = cute.memref.alloc() : T`."""

    HAS_EFFECT: ClassVar[bool] = False

    assembly_format = "custom<Brackets>() attr-dict `:` type($result)"

    result = result_def(EVERY_TYPE)

    traits = PURE


@cute_op("cute.make_tiled_mma")
class MakeTiledMmaOp(TypedConstantOp):
    """A tiled MMA."""

    result = result_def(TILED_MMA)


@cute_op("cute.make_tiled_copy")
class MakeTiledCopyOp(TypedConstantOp):
    """A tiled copy."""

    result = result_def(TILED_COPY)


# --- copies for an MMA ----------------------------------------------------------------------------


class MakeTiledCopyForOp(InferredOp, ABC):
    """The copy of what an MMA's threads hold of an operand."""

    mma = operand_def(TILED_MMA)
    atom = prop_def(instruction(CopyAtomAttr, "a copy atom"))
    result = result_def(TILED_COPY)


@cute_op("cute.make_tiled_copy_A", rules.make_tiled_copy_for("A"))
class MakeTiledCopyAOp(MakeTiledCopyForOp):
    """Of A."""


@cute_op("cute.make_tiled_copy_B", rules.make_tiled_copy_for("B"))
class MakeTiledCopyBOp(MakeTiledCopyForOp):
    """Of B."""


@cute_op("cute.make_tiled_copy_C", rules.make_tiled_copy_for("C"))
class MakeTiledCopyCOp(MakeTiledCopyForOp):
    """Of C."""


# --- partitions -----------------------------------------------------------------------------------


class OperandOp(InferredOp, ABC):
    """An op for an operand of an MMA, whose letter stands behind the op's name."""

    assembly_format = f"$operand_id ` ` {REGULAR}"

    operand_id = prop_def(word(OPERAND_MODES, "an operand", f"one of {', '.join(OPERAND_MODES)}"))


@cute_op("cute.tiled.mma.partition", rules.mma_partition)
class MmaPartitionOp(OperandOp):
    """(V,M,K,...): what a thread has of a tensor (m,k,...), as operand A, B or C; of metadata and
    scale factors as E, SFA or SFB, whose elements k are 2-bit indices and factors."""

    mma = operand_def(TILED_MMA)
    source = operand_def(TENSOR)
    thread = operand_def(THREAD)
    result = result_def(TENSOR)


@cute_op("cute.mma.make_fragment", rules.make_fragment)
class MakeFragmentOp(OperandOp):
    """The operand of the MMA for a partition: registers; for an operand that the instruction reads
    from shared memory the partition itself."""

    mma = operand_def(TILED_MMA)
    source = operand_def(TENSOR)
    result = result_def(MEMREF)

    traits = traits_def(MemoryAllocEffect())


def _partition(side: rules.Side) -> Any:
    def rule(copy: Typed, source: Typed, thread: Typed) -> Typed:
        return rules.copy_partition(copy, source, thread, side)

    return rule


class CopyPartitionOp(InferredOp, ABC):
    """((FrgV,FrgX),M,N,...): what a thread copies of a tensor (m,n,...)."""

    copy = operand_def(TILED_COPY)
    source = operand_def(TENSOR)
    thread = operand_def(THREAD)
    result = result_def(TENSOR)


@cute_op("cute.tiled.copy.partition_S", _partition("S"))
class CopyPartitionSOp(CopyPartitionOp):
    """Of the tensor that it copies from."""


@cute_op("cute.tiled.copy.partition_D", _partition("D"))
class CopyPartitionDOp(CopyPartitionOp):
    """Of the tensor that it copies to."""


@cute_op("cute.tiled.copy.retile", rules.retile)
class RetileOp(InferredOp):
    """The registers of an MMA's fragment as the copy moves them."""

    copy = operand_def(TILED_COPY)
    fragment = operand_def(MEMREF)
    result = result_def(MEMREF)
