"""`cute.convert`: registers in another element type."""

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_operand_def, prop_def, traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute.ops.elements import WriteOp, tensor_of
from tilewright.dialects.cute.ops.operands import MEMREF
from tilewright.dialects.cute.ops.operation import cute_op
from tilewright.dialects.cute.ops.properties import PrefixOp, atom
from tilewright.dialects.cute.rules.gemm import extents
from tilewright.dialects.cute.types.tiled import ConversionAttr
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement


@cute_op("cute.convert", operands=(MEMREF,))
class ConvertOp(PrefixOp, WriteOp):
    """The elements of a register tensor in another type, in the order of their coordinates:
    `cute.convert<#cute_nvgpu.convert<"rn.satfinite.e2m1x2.f32">> (%source, %destination)`.

    Where the rounding is stochastic, a third tensor of i32 has a word of random bits for every two
    or four elements, as many as an instruction takes.
    """

    PARTS: ClassVar = (atom("atom", ConversionAttr, "a conversion"),)

    atom = prop_def()
    source = operand_def()
    destination = operand_def()
    random = opt_operand_def()

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @property
    def conversion(self) -> ConversionAttr:
        """The instruction."""
        assert isinstance(self.atom, ConversionAttr)
        return self.atom

    def requirement(self) -> Requirement:
        return self.conversion.requirement()

    @classmethod
    def types(cls, operand_types: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        tensors = [tensor_of(type_) for type_ in operand_types]
        given = ", ".join(f"'{type_}'" for type_ in operand_types)
        if any(tensor.space != "rmem" for tensor in tensors):
            raise VerifyException(f"expected tensors in rmem, got {given}")
        if extents(tensors[0].modes) != extents(tensors[1].modes):
            raise VerifyException(f"expected tensors of one shape, got {given}")
        return ()

    def verify_(self) -> None:
        super().verify_()
        if not isinstance(self.atom, ConversionAttr):
            raise self.fail(f"a conversion, got {self.atom}")
        source, result, *random = (tensor_of(type_) for type_ in self.operand_types)
        count = source.modes.size()
        self.refuse(self.atom.why_not(source.element, result.element, count))
        shared = self.atom.random_words
        wanted = [("i32", count // shared)] if shared else []
        if [(bits.element, bits.modes.size()) for bits in random] != wanted:
            words = f"{count // shared} words of i32" if shared else "no random bits"
            got = f"'{self.random.type}'" if self.random is not None else "none"
            raise self.fail(f"{words} for {self.atom}, got {got}")
