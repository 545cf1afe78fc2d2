"""Building fragments and taking them apart: register renaming, no instruction of its own."""

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)

from tilewright.dialects.cute_nvgpu.lattice.nearest import closest
from tilewright.dialects.cute_nvgpu.ops.instruction import BaselineOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.illegal import Illegal
from tilewright.dialects.traits import PURE


class RegistersOp(BaselineOp):
    """An op on the registers of fragments alone."""

    traits = PURE


def _verify_element(fragment: FragmentType, scalar: Attribute) -> None:
    if scalar != fragment.element_type:
        raise Illegal(
            f"expected a scalar of the fragment's element type {fragment.element_type}, "
            f"got {scalar}"
        )


@fields_op("cute_nvgpu.fragment.splat")
class SplatOp(RegistersOp):
    """Every element of the fragment is the scalar.

    ```mlir
    %acc = cute_nvgpu.fragment.splat %zero : f32 -> !cute_nvgpu.fragment<4xf32>
    ```
    """

    scalar = operand_def()
    fragment = result_def(FragmentType)

    def verify_(self) -> None:
        _verify_element(self.fragment.type, self.scalar.type)


@fields_op("cute_nvgpu.fragment.from_elements")
class FromElementsOp(RegistersOp):
    """The fragment of these scalars, in register order.

    ```mlir
    %f = cute_nvgpu.fragment.from_elements %x, %y : f32 -> !cute_nvgpu.fragment<2xf32>
    ```
    """

    elements = var_operand_def()
    fragment = result_def(FragmentType)

    def verify_(self) -> None:
        count = self.fragment.type.count.data
        if len(self.elements) != count:
            raise self.fail(f"{count} elements, got {len(self.elements)}")
        for element in self.elements:
            _verify_element(self.fragment.type, element.type)


class _IndexedOp(RegistersOp):
    """A fragment op that names one element by its place in register order."""

    position = prop_def(NUMBER)

    def verify_position(self, fragment: FragmentType, count: int = 1) -> None:
        above, position = fragment.count.data - count + 1, self.position.value.data
        if not 0 <= position < above:
            raise self.fail(
                f"a position below {above}, got {position}; nearest legal: "
                f"{closest(position, range(above))}"
            )


@fields_op("cute_nvgpu.fragment.extract")
class ExtractOp(_IndexedOp):
    """Elements of a fragment, those from a place on in register order.

    ```mlir
    %x, %y = cute_nvgpu.fragment.extract %d[2] : !cute_nvgpu.fragment<4xf32> -> f32, f32
    ```
    """

    fragment = operand_def(FragmentType)
    scalars = var_result_def()

    assembly_format = "$fragment `[` $position `]`"

    def __init__(self, fragment: SSAValue[FragmentType], position: int, count: int = 1):
        super().__init__(fragment, [fragment.type.element_type] * count, position)

    def verify_(self) -> None:
        assert isinstance(self.fragment.type, FragmentType)
        count = len(self.scalars)
        if not 0 < count <= (most := self.fragment.type.count.data):
            raise self.fail(f"1 to {most} elements, got {count}")
        self.verify_position(self.fragment.type, count)
        for scalar in self.scalars:
            _verify_element(self.fragment.type, scalar.type)


@fields_op("cute_nvgpu.fragment.insert")
class InsertOp(_IndexedOp):
    """The fragment with one element replaced.

    ```mlir
    %e = cute_nvgpu.fragment.insert %x, %d[2] : f32, !cute_nvgpu.fragment<4xf32>
    ```
    """

    scalar = operand_def()
    fragment = operand_def(FragmentType)
    result = result_def(FragmentType)

    assembly_format = "$scalar `,` $fragment `[` $position `]`"

    def __init__(self, scalar: SSAValue, fragment: SSAValue[FragmentType], position: int):
        super().__init__(scalar, fragment, fragment.type, position)

    def verify_(self) -> None:
        assert isinstance(self.fragment.type, FragmentType)
        self.verify_position(self.fragment.type)
        _verify_element(self.fragment.type, self.scalar.type)
        if self.result.type != self.fragment.type:
            raise self.fail(f"result type {self.fragment.type}, got {self.result.type}")


@fields_op("cute_nvgpu.fragment.slice")
class SliceOp(_IndexedOp):
    """Some neighbouring elements of a fragment, in whole registers, as a fragment.

    ```mlir
    %b1 = cute_nvgpu.fragment.slice %pair[4]
        : !cute_nvgpu.fragment<8xbf16> -> !cute_nvgpu.fragment<4xbf16>
    ```

    One `ldmatrix.x4` so gives the B fragments of two MMAs.
    """

    fragment = operand_def(FragmentType)
    result = result_def(FragmentType)

    assembly_format = "$fragment `[` $position `]`"

    def verify_(self) -> None:
        whole, part = self.fragment.type, self.result.type
        assert isinstance(whole, FragmentType)
        _verify_element(whole, part.element_type)
        position, width = self.position.value.data, part.element.per_register
        last = whole.count.data - part.count.data
        if position % width or not 0 <= position <= last:
            nearest = closest(position - position % width, range(max(last, 0) + 1))
            raise self.fail(
                f"{part.count.data} of {whole.count.data} elements from the start of a register, "
                f"got position {position}; nearest legal: {nearest}"
            )


@fields_op("cute_nvgpu.fragment.concat")
class ConcatOp(RegistersOp):
    """Fragments one after the other as one fragment: what `slice` takes apart.

    ```mlir
    %pair = cute_nvgpu.fragment.concat %b0, %b1
        : !cute_nvgpu.fragment<4xbf16>, !cute_nvgpu.fragment<4xbf16> -> !cute_nvgpu.fragment<8xbf16>
    ```
    """

    fragments = var_operand_def(FragmentType)
    result = result_def(FragmentType)

    def verify_(self) -> None:
        whole, count = self.result.type, 0
        for fragment in self.fragments:
            assert isinstance(fragment.type, FragmentType)
            _verify_element(whole, fragment.type.element_type)
            count += fragment.type.count.data
        if count != whole.count.data:
            raise self.fail(f"{whole.count.data} elements, got {count}")


@fields_op("cute_nvgpu.fragment.cast")
class CastOp(RegistersOp):
    """The same registers under another fragment type: element type, count or layout.

    ```mlir
    %a = cute_nvgpu.fragment.cast %f : !cute_nvgpu.fragment<8xbf16> -> !cute_nvgpu.fragment<16xsi8>
    ```

    The bits stay where they are; both fragments must fill the same registers.
    """

    source = operand_def(FragmentType)
    result = result_def(FragmentType)

    def verify_(self) -> None:
        assert isinstance(self.source.type, FragmentType)
        bits = [t.count.data * t.element.bits for t in (self.source.type, self.result.type)]
        if bits[0] != bits[1]:
            raise self.fail(f"fragments of equal size, got {bits[0]} and {bits[1]} bits")


def register_sources(value: SSAValue) -> list[SSAValue]:
    """The value and all others of whose registers fragment ops made it.

    Elements narrower than a register are packed into registers of their own.
    """
    sources = [value]
    match value.owner:
        case CastOp() | InsertOp() | SliceOp() | ConcatOp():
            parts = [
                operand
                for operand in value.owner.operands
                if isinstance(operand.type, FragmentType)
            ]
        case SplatOp() | FromElementsOp() as op if op.fragment.type.element.per_register == 1:
            parts = list(op.operands)
        case _:
            parts = []
    for part in parts:
        sources += register_sources(part)
    return sources
