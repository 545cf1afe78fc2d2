"""Copies to tensor memory from shared memory, and moves within it, without threads."""

from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Attribute, Data, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition, operand_def, opt_prop_def, prop_def, var_operand_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.dialects.cute.types.memref import layout_of
from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import find_copy_shape
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import TCGEN05
from tilewright.dialects.cute_nvgpu.lattice.tmem import (
    CELL_BITS,
    LANE_STRIDE,
    SHIFTED_COLUMNS,
    TMEM_SHIFT,
)
from tilewright.dialects.cute_nvgpu.lattice.tmem_access import (
    TMEM_COPY,
    TMEM_COPY_SHAPES,
    TmemCopyShape,
)
from tilewright.dialects.cute_nvgpu.ops.matrix_copy import SrcFmtAttr
from tilewright.dialects.cute_nvgpu.ops.memory_operand import bits_of, tmem_span, verify_tmem
from tilewright.dialects.cute_nvgpu.ops.tmem import TmemOp
from tilewright.dialects.cute_nvgpu.types.copies import parse_shape
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.dialects.fields import fields_op
from tilewright.dialects.illegal import Illegal
from tilewright.dialects.reading import legal_text

_MULTICAST = {shape.multicast.replace("::", "_"): shape.multicast
              for shape in TMEM_COPY_SHAPES.values()}  # fmt: skip
"""PTX's word of a multicast, by what IR writes for it."""


@irdl_attr_definition
class CopyShapeAttr(Data[str], SpacedOpaqueSyntaxAttribute):
    """The shape of a copy to tensor memory as PTX spells it, `#cute_nvgpu<tmem_copy_shape
    64x128b warpx2_02_13>`."""

    name = "cute_nvgpu.tmem_copy_shape"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with legal_text(parser):
            name = parse_shape(parser)
            for word, multicast in _MULTICAST.items():
                if word and parser.parse_optional_keyword(word):
                    name += f".{multicast}"
            return find_copy_shape(name).spelled

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(self.data.replace("::", "_").replace(".", " "))


@fields_op("cute_nvgpu.tmem.copy", TMEM_COPY)
class CopyOp(TmemOp):
    """Start to copy a matrix from shared memory to tensor memory.

    ```mlir
    cute_nvgpu.tmem.copy %desc to %sf[%zero, %zero] shape 32x128b warpx4
      : !cute_nvgpu.smem_desc_view<32x16xui8, tcgen05, "(32,16):(16,1)">
        to memref<128x4xf8E8M0FNU, !cute.layout<"((32,4),4):((262144,4),1)">, #cute<space tmem>>
    ```

    A row of the matrix goes to a lane, or to several. The indices name the element that the first
    row begins with. `src_fmt` takes 16 elements of 4 or 6 bits and their padding apart to 16 bytes.
    One thread executes it; its MMAs that follow see the copy, other threads' do once they have
    waited for its `tcgen05.commit`. With cta_group 2, both CTAs of the pair get it. PTX ISA,
    tcgen05.cp.
    """

    source = operand_def(SmemDescViewType)
    dest = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    shape = prop_def(CopyShapeAttr)
    src_fmt = opt_prop_def(SrcFmtAttr)

    assembly_format = (
        "$source `to` $dest `[` $indices `]` `shape` $shape (`src_fmt` $src_fmt^)?"
        " (`cta_group` $cta_group^)? attr-dict `:` type($source) `to` type($dest)"
    )

    @property
    def copy_shape(self) -> TmemCopyShape:
        """The row of its shape."""
        return find_copy_shape(self.shape.data)

    @property
    def source_format(self) -> str | None:
        """PTX's name of the packed format that is taken apart, or None."""
        return None if self.src_fmt is None else self.src_fmt.data.value

    @property
    def mnemonic(self) -> str:
        """The PTX mnemonic."""
        return self.ROW.mnemonic(self.copy_shape, self.group, self.source_format)

    def verify_(self) -> None:
        super().verify_()
        memref = verify_tmem("dest", self.dest.type, len(self.indices))
        _verify_columns(memref, self.copy_shape.columns)
        self._verify_matrix()

    def _verify_matrix(self) -> None:
        """Raise Illegal unless the matrix is K-major and of the shape's bytes."""
        view, shape = self.source.type, self.copy_shape
        assert isinstance(view, SmemDescViewType)
        tile, (rows, columns) = view.tile, view.extents
        if view.format is not TCGEN05:
            raise Illegal(
                f"source expected a matrix for tcgen05, got {view} "
                "(its descriptor has another format)"
            )
        if tile.major != "k":
            raise Illegal(
                f"source expected a K-major matrix, got {view} (rows of {shape.bits} bits)"
            )
        if (rows, columns * view.element.bits) != (shape.rows, shape.bits):
            raise Illegal(
                f"source expected {shape.rows} rows of {shape.bits} bits with shape "
                f"{self.shape.data.replace('::', '_').replace('.', ' ')}, got {rows} rows of "
                f"{columns * view.element.bits} bits"
            )


def _verify_columns(type_: MemRefType[Attribute], columns: int) -> None:
    """Raise Illegal unless so many columns of tensor memory are there at all."""
    available = tmem_span("memory", type_)[1]
    if available < columns:
        raise Illegal(
            f"expected at least {columns} columns of 32-bit cells, got {available} of {type_}"
        )


@fields_op("cute_nvgpu.tmem.shift", TMEM_SHIFT)
class ShiftOp(TmemOp):
    """Start to move rows of 8 columns down by one lane, all but the last.

    ```mlir
    cute_nvgpu.tmem.shift %a[%zero, %zero]
      : memref<128x16xbf16, !cute.layout<"(128,16):(131072,1)">, #cute<space tmem>>
    ```

    The indices name the first element of the first row, whose lane is a multiple of 32. One thread
    executes it. PTX ISA, tcgen05.shift.
    """

    source = operand_def(MemRefType)
    indices = var_operand_def(IndexType())

    assembly_format = "$source `[` $indices `]`"

    def verify_(self) -> None:
        super().verify_()
        memref = verify_tmem("source", self.source.type, len(self.indices))
        _verify_columns(memref, SHIFTED_COLUMNS)
        self._verify_rows(memref)

    def _verify_rows(self, memref: MemRefType[Attribute]) -> None:
        """Raise Illegal unless some 8 columns of each row lie side by side."""
        layout, bits = layout_of(memref), bits_of(memref.element_type)
        assert layout is not None and bits is not None
        lane = LANE_STRIDE * CELL_BITS // bits
        if layout.rank() < 2 or any(layout[0](i) != i * lane for i in range(2)):
            raise Illegal(f"source expected a first mode of lanes, of stride {lane}, got {layout}")
