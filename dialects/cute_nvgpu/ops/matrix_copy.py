"""Copies of whole matrices that feed MMAs: ldmatrix, stmatrix and movmatrix."""

from typing import ClassVar

from xdsl.dialects.builtin import IndexType, UnitAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Data, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    irdl_attr_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import (
    MatrixCopy,
    check_trans,
    find_row,
    transposing,
)
from tilewright.dialects.cute_nvgpu.lattice import MOVMATRIX, MatrixCopyRow
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import RUN_BYTES, WARP, Shape
from tilewright.dialects.cute_nvgpu.lattice.row import shape_text
from tilewright.dialects.cute_nvgpu.ops.instruction import FragmentAccessOp, NvgpuOp, verify_holders
from tilewright.dialects.cute_nvgpu.ops.memory_operand import verify_contiguous, verify_memref
from tilewright.dialects.cute_nvgpu.types.fragments import MLIR_TYPES, FragmentType
from tilewright.dialects.fields import fields_op
from tilewright.dialects.illegal import Illegal

DEFAULT_SHAPE: Shape = (8, 8)


@irdl_attr_definition
class MatrixShapeAttr(Data[Shape], SpacedOpaqueSyntaxAttribute):
    """The shape M x N of the matrices of a copy, `#cute_nvgpu<matrix_shape 16x16>`."""

    name = "cute_nvgpu.matrix_shape"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Shape:
        start = parser.pos
        shape = parser.parse_dimension_list()
        if len(shape) != 2:
            parser.raise_error("expected a shape MxN, such as 16x16", start, parser.pos)
        return shape[0], shape[1]

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(shape_text(self.data))


class SrcFmt(StrEnum):
    """How 16 narrow elements and their padding lie in a row of 16 bytes: PTX's `.src_fmt`."""

    B6X16_P32 = "b6x16_p32"
    B4X16_P64 = "b4x16_p64"


@irdl_attr_definition
class SrcFmtAttr(EnumAttribute[SrcFmt], SpacedOpaqueSyntaxAttribute):
    """A packed source format, `#cute_nvgpu<src_fmt b4x16_p64>`."""

    name = "cute_nvgpu.src_fmt"


class MatrixCopyOp(FragmentAccessOp):
    """The base of ldmatrix and stmatrix: their memory side and their fragment."""

    CHIP_CHOOSES: ClassVar[bool | None] = False

    trans = opt_prop_def(UnitAttr)
    shape = opt_prop_def(MatrixShapeAttr)

    @property
    def row(self) -> MatrixCopyRow:
        """The row of the lattice. Raises AtomError where there is none."""
        shape = DEFAULT_SHAPE if self.shape is None else self.shape.data
        return find_row(self.name.removeprefix("cute_nvgpu."), shape, self.source_format)

    @property
    def form(self) -> str:
        """The shape and type of its matrices: `m8n8.b16`."""
        return self.row.form

    @property
    def source_format(self) -> str | None:
        """PTX's name of the packed format that is loaded, or None."""
        return None

    @property
    def matrix_copy(self) -> MatrixCopy:
        """The copy that it issues."""
        row = self.row
        return MatrixCopy(
            row, self.fragment_type.registers // row.registers, self.trans is not None
        )

    def spelled(self) -> str:
        return self.matrix_copy.mnemonic

    def verify_(self) -> None:
        type_ = verify_memref("memory", self.memory.type, len(self.indices), Space.SMEM)
        row = self.row
        check_trans(row, self.trans is not None)
        self._verify_elements(row, type_.element_type)
        self._verify_count(row)
        verify_contiguous("memory", type_, RUN_BYTES)
        width = row.neighbours * row.bits // self.fragment_type.element.bits
        verify_neighbours(self.fragment_type, width)
        for fragment in self.operands:
            if isinstance(fragment.type, FragmentType):
                verify_holders(self, "a fragment", fragment)

    def _verify_elements(self, row: MatrixCopyRow, memory: Attribute) -> None:
        fragment = self.fragment_type
        if row.source is not None:
            legal = [MLIR_TYPES[name] for name in row.source.elements]
            if memory != MLIR_TYPES["u8"] or fragment.element_type not in legal:
                raise self.fail(
                    f"memory of ui8 and a fragment of {' or '.join(map(str, legal))} with src_fmt "
                    f"{row.source.name}, got {memory} and {fragment.element_type}"
                )
        elif memory != fragment.element_type:
            raise self.fail(f"a fragment of {memory}, got {fragment.element_type}")
        if self.trans is not None and fragment.element.bits != row.bits:
            raise Illegal(
                f"expected {row.bits}-bit elements with trans, got "
                f"{fragment.element_type} (.{row.ptx_shape}.trans moves {row.bits}-bit elements)"
                + _nearest_transposing(row, fragment.element)
            )

    def _verify_count(self, row: MatrixCopyRow) -> None:
        fragment, counts = self.fragment_type, [number * row.registers for number in row.numbers]
        if fragment.element.register != "b32" or fragment.registers not in counts:
            legal = " or ".join(str(count * fragment.element.per_register) for count in counts)
            *others, last = (f".x{number}" for number in row.numbers)
            raise self.fail(
                f"a fragment of {legal} elements a thread ({', '.join(others)} or {last}), got "
                f"{fragment.count.data}"
            )


def _nearest_transposing(row: MatrixCopyRow, element: ElementType) -> str:
    nearest = transposing(row.op, element.bits)
    return "" if nearest is None else f"; nearest legal: trans shape {shape_text(nearest.shape)}"


def verify_neighbours(fragment: FragmentType, width: int) -> None:
    """Thread t holds columns width*(t%4).. of row t/4: a declared layout must say the same.

    Raises Illegal where it does not.
    """
    layout = fragment.tv_layout
    if layout is None:
        return
    column = layout(WARP if width > 1 else 1) - layout(0)
    for thread in range(4):
        for value in range(width):
            place = layout(thread + WARP * value) - layout(0)
            if place != column * (thread * width + value):
                raise Illegal(
                    f"expected a layout in which threads 0 to 3 hold "
                    f"{4 * width} neighbouring columns of one row, got {layout}"
                )


@fields_op("cute_nvgpu.ldmatrix")
class LdmatrixOp(MatrixCopyOp):
    """Load 1, 2 or 4 matrices from shared memory into a fragment.

    ```mlir
    %a = cute_nvgpu.ldmatrix %smem[%row, %col] : memref<64x32xbf16, #cute<space smem>>
       -> !cute_nvgpu.fragment<8xbf16>
    %t = cute_nvgpu.ldmatrix %bytes[%k, %m] trans shape 16x16
       : memref<32x64xsi8, #cute<space smem>> -> !cute_nvgpu.fragment<16xsi8>
    %f = cute_nvgpu.ldmatrix %rows[%m, %k] shape 8x16 src_fmt b6x16_p32
       : memref<64x64xui8, #cute<space smem>> -> !cute_nvgpu.fragment<16xui8>
    ```

    Without a shape they are 8x8, of 16-bit elements. Each thread's indices name 16 bytes, a row of
    a matrix or, with `trans`, a column: of an 8x8 or 8x16 matrix thread 8*i + r those of matrix i,
    of a 16x16 one thread 16*i + r. `src_fmt` unpacks 6- or 4-bit elements: 16 bytes of ui8 are 16
    elements and padding, and each lands in the low bits of a byte. PTX ISA 9.7.14.5.15.
    """

    source = operand_def()
    indices = var_operand_def(IndexType)
    src_fmt = opt_prop_def(SrcFmtAttr)
    fragment = result_def(FragmentType)

    assembly_format = "$source `[` $indices `]` (`trans` $trans^)? (`shape` $shape^)?"

    @property
    def source_format(self) -> str | None:
        return None if self.src_fmt is None else self.src_fmt.data.value


@fields_op("cute_nvgpu.stmatrix")
class StmatrixOp(MatrixCopyOp):
    """Store a fragment to shared memory as 1, 2 or 4 matrices.

    ```mlir
    cute_nvgpu.stmatrix %d, %smem[%row, %col]
      : !cute_nvgpu.fragment<4xbf16>, memref<64x32xbf16, #cute<space smem>>
    cute_nvgpu.stmatrix %e, %bytes[%n, %m] trans shape 16x8
      : !cute_nvgpu.fragment<8xsi8>, memref<32x64xsi8, #cute<space smem>>
    ```

    Without a shape they are 8x8, of 16-bit elements: the inverse of `ldmatrix`. Each thread's
    indices name 16 bytes, thread 8*i + r those of matrix i. PTX ISA 9.7.14.5.16.
    """

    fragment = operand_def(FragmentType)
    dest = operand_def()
    indices = var_operand_def(IndexType)

    assembly_format = "$fragment `,` $dest `[` $indices `]`"


@fields_op("cute_nvgpu.movmatrix", MOVMATRIX)
class MovmatrixOp(NvgpuOp):
    """Transpose an 8x8 matrix of 16-bit elements across the warp.

    ```mlir
    %t = cute_nvgpu.movmatrix %f : !cute_nvgpu.fragment<2xbf16> -> !cute_nvgpu.fragment<2xbf16>
    ```

    A thread holds of the result what it held of the source, rows and columns exchanged.
    PTX ISA 9.7.14.5.17.
    """

    fragment = operand_def(FragmentType)
    result = result_def(FragmentType)

    traits = traits_def(NoMemoryEffect())

    def verify_(self) -> None:
        source, result = self.fragment.type, self.result.type
        assert isinstance(source, FragmentType)
        self._verify_matrix(source)
        if (result.count, result.element_type) != (source.count, source.element_type):
            raise self.fail(f"a result of {source.count.data}x{source.element_type}, got {result}")
        for fragment in (source, result):
            verify_neighbours(fragment, MOVMATRIX.values)

    def _verify_matrix(self, fragment: FragmentType) -> None:
        count, fits = MOVMATRIX.values, fragment.element.bits == MOVMATRIX.bits
        if fits and fragment.count.data == count:
            return
        nearest = FragmentType.get(count, fragment.element_type if fits else MLIR_TYPES["f16"])
        raise self.fail(
            f"a fragment of {count} {MOVMATRIX.bits}-bit elements a thread (one "
            f"{shape_text(MOVMATRIX.shape)} matrix), got {fragment}; nearest legal: {nearest}"
        )
