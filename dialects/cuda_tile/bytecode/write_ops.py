"""The bytes of a function's ops."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, i1
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.cuda_tile.bytecode.attributes import AttributeWriter
from tilewright.dialects.cuda_tile.bytecode.codecs import BOOLS
from tilewright.dialects.cuda_tile.bytecode.debug_info import DebugWriter
from tilewright.dialects.cuda_tile.bytecode.encoder import Encoder
from tilewright.dialects.cuda_tile.bytecode.error import TooOldError
from tilewright.dialects.cuda_tile.bytecode.op_format import Encoding, Operand, Property, formats
from tilewright.dialects.cuda_tile.ops.memory import WIDER
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp
from tilewright.dialects.cuda_tile.ops.scalar_programs import ScalarProgram, SpecialRegisterTkoOp
from tilewright.dialects.cuda_tile.versions import Version
from tilewright.dialects.field_counts import Arity
from tilewright.dialects.frozen import factory
from tilewright.source.diagnostic import OpError


@dataclass(slots=True)
class OpWriter:
    """Writes the ops of one file."""

    version: Version
    attributes: AttributeWriter
    debug: DebugWriter
    out: Encoder = factory(Encoder)
    values: dict[SSAValue, int] = factory(dict)
    next_value: int = 0

    def body(self, block: Block) -> bytes:
        """The ops of a function's block."""
        self.out, self.values, self.next_value = Encoder(), {}, 0
        self._define(block.args)
        for op in block.ops:
            self.operation(op)
        return bytes(self.out)

    def operation(self, op: Operation) -> None:
        """One op with all that is in it. Raises OpError."""
        if not isinstance(op, CudaTileOp) or isinstance(op, ScalarProgram | SpecialRegisterTkoOp):
            raise OpError(op, f"'{op.name}' expected ops of CUDA Tile IR alone (only ops from "
                          "the 'cuda_tile' dialect are allowed)")  # fmt: skip
        if WIDER in op.attributes:
            raise OpError(op, f"'{op.name}' expected elements of CUDA Tile IR, got wider ones, "
                          "which bytecode has not")  # fmt: skip
        try:
            self._operation(op)
        except ValueError as error:
            if isinstance(error, TooOldError):
                raise
            raise OpError(op, str(error)) from None

    def _operation(self, op: CudaTileOp) -> None:
        format_ = formats(self.version).get(op.opcode)
        if format_ is None:
            what = f"operation '{op.name}' is not available in bytecode version {self.version}"
            raise TooOldError(op, what, op.since)
        self.debug.place(op)
        out = self.out
        out.varint(op.opcode)
        results = op.results
        if missing := len(format_.missing_results):
            self._check_unused(op, results[len(results) - missing :])
            results = results[: len(results) - missing]
        if format_.counted_results:
            out.varint(len(results))
        for result in results:
            out.varint(self.attributes.types.index(result.type))
        segments = [op.values_of(operand.name) for operand in format_.operands]
        self._flags(op, format_, segments)
        for property_ in format_.properties:
            self._property(op, property_)
        self._operands(format_, segments, op)
        self._regions(op, format_)
        self._define(results)

    def _check_unused(self, op: CudaTileOp, results: Sequence[SSAValue]) -> None:
        for result, (name, _) in zip(reversed(results), reversed(op.definition.results),
                                     strict=False):  # fmt: skip
            if result.first_use is not None:
                since = op.later[name]
                what = f"result '{name}' requires bytecode version {since} but is being used and "
                raise TooOldError(op, f"{what}targeting {self.version}", since)

    def _flags(
        self, op: CudaTileOp, format_: Encoding, segments: Sequence[Sequence[SSAValue]]
    ) -> None:
        flags = 0
        for property_ in format_.properties:
            if property_.mask and property_.name in op.properties:
                self._check_optional(op, property_, "attribute")
                flags |= property_.mask
        for operand, values in zip(format_.operands, segments, strict=True):
            if operand.mask and values:
                self._check_optional(op, operand, "operand")
                flags |= operand.mask
        if format_.has_flags:
            self.out.varint(flags)

    def _check_optional(self, op: CudaTileOp, part: Property | Operand, what: str) -> None:
        if not part.available:
            raise TooOldError(
                op,
                f"optional {what} '{part.name}' is provided but requires bytecode version "
                f"{part.since}, targeting {self.version}",
                part.since,
            )

    def _property(self, op: CudaTileOp, property_: Property) -> None:
        value = op.properties.get(property_.name, property_.default)
        if property_.mask:
            if value is None:
                return
        elif not property_.available:
            if value != property_.default and any(_flags_of(value)):
                what = f"attribute '{property_.name}' requires bytecode version"
                raise TooOldError(
                    op, f"{what} {property_.since}+, but targeting {self.version}", property_.since
                )
            return
        if property_.codec is BOOLS and value is None:  # as many as there are indices
            value = DenseArrayBase.from_list(i1, [0] * len(op.index))  # pyright: ignore
        property_.codec.write(self.attributes, self.out, value)

    def _operands(
        self, format_: Encoding, segments: Sequence[Sequence[SSAValue]], op: CudaTileOp
    ) -> None:
        if format_.counted_operands:
            self.out.varint(len(op.operands))
        for operand, values in zip(format_.operands, segments, strict=True):
            if format_.segments and operand.arity is Arity.ANY:
                self.out.varint(len(values))
            for value in values:
                self.out.varint(self.values[value])

    def _regions(self, op: CudaTileOp, format_: Encoding) -> None:
        if not format_.regions:
            return
        self.out.varint(len(op.regions))
        for region in op.regions:
            self.out.varint(len(region.blocks))
            for block in region.blocks:
                outer = self.next_value
                self.out.varint(len(block.args))
                for argument in block.args:
                    self.out.varint(self.attributes.types.index(argument.type))
                self._define(block.args)
                self.out.varint(len(block.ops))
                for inner in block.ops:
                    self.operation(inner)
                self.next_value = outer

    def _define(self, values: Sequence[SSAValue]) -> None:
        for value in values:
            self.values[value] = self.next_value
            self.next_value += 1


def _flags_of(value: Any) -> Sequence[int]:
    """The entries of a list of booleans; of what is no list, one that is true."""
    return value.get_values() if hasattr(value, "get_values") else (value is not None,)
