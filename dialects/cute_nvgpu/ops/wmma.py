"""`cute_nvgpu.wmma.*`: MMAs whose fragments only their own loads and stores know."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, var_operand_def

from tilewright.dialects.cute.types.memref import is_memref
from tilewright.dialects.cute_nvgpu.atoms.wmma import WmmaAccess, why_not_loaded
from tilewright.dialects.cute_nvgpu.ops.instruction import AtomOp, FragmentAccessOp, verify_holders
from tilewright.dialects.cute_nvgpu.ops.register_mma import DenseMma, check_fragment
from tilewright.dialects.cute_nvgpu.ops.wmma_memory import static_stride, verify_memory
from tilewright.dialects.cute_nvgpu.types.atoms import MMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.cute_nvgpu.types.wmma import WMMA_ACCESS_TYPES
from tilewright.dialects.fields import fields_op
from tilewright.dialects.register_origins import origins


@fields_op("cute_nvgpu.wmma.mma")
class MmaOp(DenseMma):
    """D = A * B + C on the fragments of `wmma.load`s of its shape, types and layouts.

    ```mlir
    %d = cute_nvgpu.wmma.mma %a, %b, %c
       <16x16x16, elem_type = (f16, f16, f32), layouts = (row, col)>
       : (!cute_nvgpu.fragment<16xf16>, !cute_nvgpu.fragment<16xf16>,
          !cute_nvgpu.fragment<8xf32>)
       -> !cute_nvgpu.fragment<8xf32>
    ```

    PTX ISA 9.7.14.4.5.
    """

    CHIP_CHOOSES: ClassVar[bool | None] = True

    atom = prop_def(MMA_ATOM_TYPES["wmma.mma"])

    def verify_(self) -> None:
        super().verify_()
        loaded = [
            [op.access for op in origins(value) if isinstance(op, LoadOp)]
            for value in (self.a, self.b, self.c)
        ]
        self.refuse(why_not_loaded(self.mma_atom, *loaded))


class WmmaAccessOp(AtomOp, FragmentAccessOp):
    """A matrix between memory and the registers of a warp.

    All threads of the warp execute it together, with the same indices: those of the matrix's first
    element. The last two dimensions of the memref are the rows and columns of the matrix, A (M, K),
    B (K, N), C and D (M, N), wherever they lie; `layout` says which of them is contiguous.
    """

    CHIP_CHOOSES: ClassVar[bool | None] = True

    indices = var_operand_def(IndexType)

    @property
    def access(self) -> WmmaAccess:
        """The matrix that it moves."""
        return self.issued

    def spelled(self) -> str:
        return self.access.mnemonic()

    @property
    def memory_type(self) -> MemRefType[Attribute]:
        """The memref's type."""
        type_ = self.memory.type
        assert is_memref(type_)
        return type_

    @property
    def leading_dimension(self) -> int:
        """The dimension of the memref whose stride is that of the instruction."""
        rank = self.memory_type.get_num_dims()
        return rank - 2 if self.access.major == "row" else rank - 1

    @property
    def stride(self) -> int | None:
        """The stride between rows (columns) in elements of the memref, where its type says it."""
        return static_stride(self.memory_type, self.leading_dimension)

    def verify_(self) -> None:
        access = self.access
        verify_memory(access, self.memory.type, len(self.indices))
        check_fragment(
            "", self.fragment.type, access.element, access.tv_layout,
            access.mnemonic(), access.row.section,
        )  # fmt: skip
        verify_holders(self, "a fragment", self.fragment)


@fields_op("cute_nvgpu.wmma.load")
class LoadOp(WmmaAccessOp):
    """Load A, B or C of a `wmma.mma` from global or shared memory.

    ```mlir
    %a = cute_nvgpu.wmma.load %smem[%i, %k]
       <16x16x16, operand = a, elem_type = f16, layout = row>
       : memref<64x64xf16, #cute<space smem>> -> !cute_nvgpu.fragment<16xf16>
    ```

    Rows (or columns) must lie on `WmmaAccess.alignment()` bytes. PTX ISA 9.7.14.4.3.
    """

    source = operand_def()
    atom = prop_def(WMMA_ACCESS_TYPES["wmma.load"])
    fragment = result_def(FragmentType)

    assembly_format = "$source `[` $indices `]` $atom"

    def __init__(self, source: SSAValue, indices: Sequence[SSAValue], access: WmmaAccess):
        result = FragmentType.of(access.element, access.row.values)
        super().__init__(source, indices, result, WMMA_ACCESS_TYPES["wmma.load"](access))


@fields_op("cute_nvgpu.wmma.store")
class StoreOp(WmmaAccessOp):
    """Store D of a `wmma.mma` to global or shared memory.

    ```mlir
    cute_nvgpu.wmma.store %d, %out[%i, %j]
      <16x16x16, operand = d, elem_type = f32, layout = row>
      : !cute_nvgpu.fragment<8xf32>, memref<64x64xf32>
    ```

    Rows (or columns) must lie on `WmmaAccess.alignment()` bytes. PTX ISA 9.7.14.4.4.
    """

    fragment = operand_def(FragmentType)
    dest = operand_def()
    atom = prop_def(WMMA_ACCESS_TYPES["wmma.store"])

    assembly_format = "$fragment `,` $dest `[` $indices `]` $atom"
