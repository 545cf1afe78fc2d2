"""Ops of tiled MMAs and copies: which part of a tensor is whose.

%mma = cute.make_tiled_mma : !mma
%ta = cute.tiled.mma.partition A (%mma, %sa, %thread)
%fa = cute.mma.make_fragment A (%mma, %ta)
%copy = cute.make_tiled_copy_A<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma)
"""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect, Pure

from tilewright.dialects.cute.atoms import OPERAND_MODES
from tilewright.dialects.cute.ops.operands import (
    MEMREF,
    TENSOR,
    THREAD,
    TILED_COPY,
    TILED_MMA,
    Accepts,
)
from tilewright.dialects.cute.ops.operation import CuteOp, InferredOp, cute_op
from tilewright.dialects.cute.ops.properties import PrefixOp, atom
from tilewright.dialects.cute.rules import tiled as rules
from tilewright.dialects.cute.types.tiled import CopyAtomAttr
from tilewright.dialects.cute.values import Typed


class TypedConstantOp(CuteOp, ABC):
    """A value that its type says in full: `%mma = cute.make_tiled_mma : T`; with brackets where
    executing it does something, `%s = cute.memref.alloc() : T`."""

    OPERANDS: ClassVar = ()
    HAS_EFFECT: ClassVar[bool] = False

    result = result_def()

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> TypedConstantOp:
        if parser.parse_optional_punctuation("("):
            parser.parse_punctuation(")")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(result_types=[parser.parse_type()], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string("()" if self.HAS_EFFECT else "")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@cute_op("cute.make_tiled_mma", results=(TILED_MMA,))
class MakeTiledMmaOp(TypedConstantOp):
    """A tiled MMA."""


@cute_op("cute.make_tiled_copy", results=(TILED_COPY,))
class MakeTiledCopyOp(TypedConstantOp):
    """A tiled copy."""


# --- copies for an MMA ----------------------------------------------------------------------------


class MakeTiledCopyForOp(PrefixOp, InferredOp, ABC):
    """The copy of what an MMA's threads hold of an operand."""

    OPERANDS: ClassVar = (TILED_MMA,)
    RESULTS: ClassVar = (TILED_COPY,)
    PARTS: ClassVar = (atom("atom", CopyAtomAttr, "a copy atom"),)

    mma = operand_def()
    atom = prop_def(Attribute)
    result = result_def()


@cute_op("cute.make_tiled_copy_A", rule=rules.make_tiled_copy_for("A"))
class MakeTiledCopyAOp(MakeTiledCopyForOp):
    """Of A."""


@cute_op("cute.make_tiled_copy_B", rule=rules.make_tiled_copy_for("B"))
class MakeTiledCopyBOp(MakeTiledCopyForOp):
    """Of B."""


@cute_op("cute.make_tiled_copy_C", rule=rules.make_tiled_copy_for("C"))
class MakeTiledCopyCOp(MakeTiledCopyForOp):
    """Of C."""


# --- partitions -----------------------------------------------------------------------------------


class OperandOp(InferredOp, ABC):
    """An op for an operand of an MMA, whose letter stands behind the op's name."""

    operand_id = prop_def(StringAttr)

    @classmethod
    def arguments(cls, properties: dict[str, Attribute]) -> tuple[Any, ...]:
        return (cast("StringAttr", properties["operand_id"]).data,)

    @classmethod
    def parse_prefix(cls, parser: Parser) -> dict[str, Attribute]:
        start = parser.pos
        which = parser.parse_identifier(" for an operand")
        if which not in OPERAND_MODES:
            legal = ", ".join(OPERAND_MODES)
            parser.raise_error(f"expected one of {legal}, got {which}", start, parser.pos)
        return {"operand_id": StringAttr(which)}

    def verify_(self) -> None:
        if (which := self.operand_id.data) not in OPERAND_MODES:
            raise self.fail(f"one of {', '.join(OPERAND_MODES)}, got {which}")
        super().verify_()

    def print_prefix(self, printer: Printer) -> None:
        printer.print_string(f" {self.operand_id.data} ")


@cute_op("cute.tiled.mma.partition", (TILED_MMA, TENSOR, THREAD), (TENSOR,), rules.mma_partition)
class MmaPartitionOp(OperandOp):
    """(V,M,K,...): what a thread has of a tensor (m,k,...), as operand A, B or C; of metadata and
    scale factors as E, SFA or SFB, whose elements k are 2-bit indices and factors."""

    mma = operand_def()
    source = operand_def()
    thread = operand_def()
    result = result_def()


@cute_op("cute.mma.make_fragment", (TILED_MMA, TENSOR), (MEMREF,), rules.make_fragment)
class MakeFragmentOp(OperandOp):
    """The operand of the MMA for a partition: registers; for an operand that the instruction reads
    from shared memory the partition itself."""

    mma = operand_def()
    source = operand_def()
    result = result_def()

    traits = traits_def(MemoryAllocEffect())


def _partition(side: rules.Side) -> Any:
    def rule(copy: Typed, source: Typed, thread: Typed) -> Typed:
        return rules.copy_partition(copy, source, thread, side)

    return rule


class CopyPartitionOp(InferredOp, ABC):
    """((FrgV,FrgX),M,N,...): what a thread copies of a tensor (m,n,...)."""

    OPERANDS: ClassVar[tuple[Accepts, ...]] = (TILED_COPY, TENSOR, THREAD)
    RESULTS: ClassVar[tuple[Accepts, ...]] = (TENSOR,)

    copy = operand_def()
    source = operand_def()
    thread = operand_def()
    result = result_def()


@cute_op("cute.tiled.copy.partition_S", rule=_partition("S"))
class CopyPartitionSOp(CopyPartitionOp):
    """Of the tensor that it copies from."""


@cute_op("cute.tiled.copy.partition_D", rule=_partition("D"))
class CopyPartitionDOp(CopyPartitionOp):
    """Of the tensor that it copies to."""


@cute_op("cute.tiled.copy.retile", (TILED_COPY, MEMREF), (MEMREF,), rules.retile)
class RetileOp(InferredOp):
    """The registers of an MMA's fragment as the copy moves them."""

    copy = operand_def()
    fragment = operand_def()
    result = result_def()
