"""`wmma`: MMAs of one warp with loads and stores of their own. PTX ISA 9.7.14.4."""

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, result_def

from tilewright.dialects.cute_nvgpu.atoms.operands import wmma_access_operands
from tilewright.dialects.cute_nvgpu.atoms.wmma import WmmaAccess, parse_access, why_not_loaded
from tilewright.dialects.cute_nvgpu.lattice.data_movement import SPACES
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.wmma import WmmaAccessRow, WmmaSpace
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import AlignedOp, OffsetOp
from tilewright.dialects.ptx.matrix import WarpMmaOp
from tilewright.dialects.ptx.registers import ConstOp
from tilewright.dialects.ptx.types import B32, RegType, reg
from tilewright.dialects.register_origins import origins


@fields_op("ptx.wmma.mma")
class MmaOp(WarpMmaOp):
    """`wmma.mma{.op.popc}.sync.aligned.ALAYOUT.BLAYOUT.SHAPE... d, a, b, c`. PTX ISA 9.7.14.4.5.

    ```mlir
    %d = ptx.wmma.mma "row.col.m16n16k16.f32.f32" %a, %b, %c
       : (!ptx.reg<b32 x 8>, !ptx.reg<b32 x 8>, !ptx.reg<f32 x 8>) -> !ptx.reg<f32 x 8>
    ```

    The form is the mnemonic without `wmma.mma.` and `sync.aligned.`.
    """

    ASKS_OPERANDS = True

    def verify_(self) -> None:
        super().verify_()
        loaded = [
            [op.access for op in origins(value) if isinstance(op, LoadOp)] for value in self.inputs
        ]
        self.refuse(why_not_loaded(self.mma_atom, *loaded))


class WmmaAccessOp(OffsetOp, AlignedOp):
    """A matrix between memory and registers.

    Every thread of the warp gives the same address, the first operand, and the same stride, in
    elements of the matrix, the last one.
    """

    ASKS_OPERANDS = True

    @property
    def access(self) -> WmmaAccess:
        """The access: which matrix it moves, and how. Raises AtomError where its mnemonic is
        none."""
        return parse_access(self.mnemonic)[0]

    @property
    def space(self) -> WmmaSpace | None:
        """Where the matrix lies; None where its address says so."""
        return parse_access(self.mnemonic)[1]

    @property
    def stride(self) -> SSAValue:
        """The stride between rows or columns."""
        return self.operands[-1]

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return wmma_access_operands(self.access)

    @property
    def row(self) -> WmmaAccessRow:
        return self.access.row

    def verify_(self) -> None:
        access, space = parse_access(self.mnemonic)
        address, legal = self.operands[0].type, reg(SPACES[space or "global"])
        if address != legal:
            raise self.fail(f"a {space or 'generic'} address in {legal}, got {address}")
        self.expect(self.data, reg(*access.row.registers))
        self._verify_stride(access)

    def _verify_stride(self, access: WmmaAccess) -> None:
        """A stride that is known must be long enough, and keep rows or columns aligned."""
        if isinstance(owner := self.stride.owner, ConstOp):
            self.refuse(access.why_stride(owner.bits.value.data, self.space))


@fields_op("ptx.wmma.load")
class LoadOp(WmmaAccessOp):
    """`wmma.load.{a,b,c}.sync.aligned.LAYOUT.SHAPE.SPACE.TYPE r, [p], stride`.
    PTX ISA 9.7.14.4.3.

    ```mlir
    %a = ptx.wmma.load "a.row.m16n16k16.shared.f16" %p, 32, %stride
       : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32 x 8>
    ```
    """

    address = operand_def(RegType)
    elements = operand_def(B32)
    result = result_def(RegType)

    assembly_format = "$form $address `,` $offset `,` $elements"

    def __init__(
        self, access: WmmaAccess, space: WmmaSpace, address: SSAValue, stride: SSAValue,
        offset: int = 0,
    ):  # fmt: skip
        result = reg(*access.row.registers)
        super().__init__(address, stride, result, offset, self.form_of(access.mnemonic(space)))


@fields_op("ptx.wmma.store")
class StoreOp(WmmaAccessOp):
    """`wmma.store.d.sync.aligned.LAYOUT.SHAPE.SPACE.TYPE [p], r, stride`. PTX ISA 9.7.14.4.4.

    ```mlir
    ptx.wmma.store "d.row.m16n16k16.global.f32" %p, 0, %d, %stride
      : !ptx.reg<b64>, !ptx.reg<f32 x 8>
    ```
    """

    address = operand_def(RegType)
    value = operand_def(RegType)
    elements = operand_def(B32)

    assembly_format = "$form $address `,` $offset `,` $value `,` $elements"

    def __init__(
        self, access: WmmaAccess, space: WmmaSpace, address: SSAValue, value: SSAValue,
        stride: SSAValue, offset: int = 0,
    ):  # fmt: skip
        super().__init__(address, value, stride, offset, self.form_of(access.mnemonic(space)))
