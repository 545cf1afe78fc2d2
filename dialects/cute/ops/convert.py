"""`cute.convert`: registers in another element type."""

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_operand_def, prop_def

from tilewright.dialects.cute.ops.elements import WriteOp, tensor_of
from tilewright.dialects.cute.ops.operands import MEMREF
from tilewright.dialects.cute.ops.operation import cute_op, quoted
from tilewright.dialects.cute.ops.properties import instruction
from tilewright.dialects.cute.rules import required
from tilewright.dialects.cute.rules.gemm import extents
from tilewright.dialects.cute.types.tiled import ConversionAttr
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.traits import READS_AND_WRITES


@cute_op("cute.convert")
class ConvertOp(WriteOp):
    """The elements of a register tensor in another type, in the order of their coordinates:
    `cute.convert<#cute_nvgpu.convert<"rn.satfinite.e2m1x2.f32">> (%source, %destination)`.

    Where the rounding is stochastic, a third tensor of i32 has a word of random bits for every two
    or four elements, as many as an instruction takes.
    """

    atom = prop_def(instruction(ConversionAttr, "a conversion"))
    source = operand_def(MEMREF)
    destination = operand_def(MEMREF)
    random = opt_operand_def(MEMREF)

    traits = READS_AND_WRITES

    @property
    def conversion(self) -> ConversionAttr:
        """The instruction."""
        return self.atom

    def requirement(self) -> Requirement:
        return self.conversion.requirement()

    @classmethod
    def element_types(cls, *types: Attribute) -> None:
        tensors = [tensor_of(type_) for type_ in types]
        given = quoted(types)
        required(
            all(tensor.space == "rmem" for tensor in tensors),
            f"expected tensors in rmem, got {given}",
        )
        required(
            extents(tensors[0].modes) == extents(tensors[1].modes),
            f"expected tensors of one shape, got {given}",
        )

    def verify_types(self) -> None:
        super().verify_types()
        source, result, *random = (tensor_of(type_) for type_ in self.operand_types)
        count = source.modes.size()
        self.refuse(self.conversion.why_not(source.element, result.element, count))
        shared = self.conversion.random_words
        wanted = [("i32", count // shared)] if shared else []
        if [(bits.element, bits.modes.size()) for bits in random] != wanted:
            words = f"{count // shared} words of i32" if shared else "no random bits"
            got = f"'{self.random.type}'" if self.random is not None else "none"
            raise self.fail(f"{words} for {self.atom}, got {got}")
