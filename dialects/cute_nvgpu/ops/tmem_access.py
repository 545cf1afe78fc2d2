"""Loads of warps from tensor memory and stores to it, and the waits for them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import IndexType, MemRefType, UnitAttr
from xdsl.ir import Attribute, Data, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    irdl_attr_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.dialects.cute import Layout, LayoutError, composition, equivalent
from tilewright.dialects.cute.types.memref import layout_of
from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import (
    PACKED_BITS,
    TmemAccess,
    find_access,
    find_tmem_shape,
    why_overlapping,
)
from tilewright.dialects.cute_nvgpu.atoms.tmem_layouts import lane_stride
from tilewright.dialects.cute_nvgpu.lattice.tmem import CELL_BITS, TMEM_WAIT_LOAD, TMEM_WAIT_STORE
from tilewright.dialects.cute_nvgpu.lattice.tmem_access import TMEM_LOAD, TMEM_STORE
from tilewright.dialects.cute_nvgpu.ops.instruction import FragmentAccessOp, NvgpuOp
from tilewright.dialects.cute_nvgpu.ops.memory_operand import verify_tmem
from tilewright.dialects.cute_nvgpu.types.copies import parse_shape
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.fields import NUMBER, FieldsOp, fields_op
from tilewright.dialects.illegal import Illegal
from tilewright.dialects.integers import constant_integer
from tilewright.dialects.reading import legal_text


@irdl_attr_definition
class TmemShapeAttr(Data[str], SpacedOpaqueSyntaxAttribute):
    """The shape of an access to tensor memory, `#cute_nvgpu<tmem_shape 16x256b>`."""

    name = "cute_nvgpu.tmem_shape"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with legal_text(parser):
            return find_tmem_shape(parse_shape(parser)).name

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(self.data)


class ShapedAccessOp(FieldsOp):
    """A load from tensor memory or a store to it, of a shape, at either level."""

    HALF_CELLS: ClassVar[str]
    """The field of those whose registers hold the low halves of two cells."""

    if TYPE_CHECKING:
        shape: Data[str]

    half = opt_prop_def(NUMBER)

    @property
    def registers(self) -> int:
        """The registers of a thread that it loads or stores."""
        raise NotImplementedError

    @property
    def access(self) -> TmemAccess:
        """The access that it issues. Raises AtomError where there is none."""
        half = None if self.half is None else self.half.value.data
        shape = find_tmem_shape(self.shape.data)
        return find_access(
            shape, self.registers, packed=self.HALF_CELLS in self.properties, half=half
        )

    def verify_half(self) -> None:
        """Raise VerifyException where a second half is left of the first."""
        if (half := self.access.half) < 0:
            raise self.fail(
                f"a second half at column 0 or more, got {half}; nearest legal: 0 (ptxas checks no "
                "range)"
            )


class TmemAccessOp(ShapedAccessOp, FragmentAccessOp):
    """The base of loads and stores: their tile of tensor memory and their fragment.

    The indices name the tile's first element. All threads of a warp execute it together and give
    the same indices, whose lane is the first of the warp's 32 (of 16 lanes, or the 16th).
    """

    shape = prop_def(TmemShapeAttr)

    @property
    def tile_operand(self) -> tuple[SSAValue, Sequence[SSAValue]]:
        """The memref, and the indices of the tile's first element."""
        return self.memory, self.indices

    @property
    def registers(self) -> int:
        return self.fragment_type.registers

    @property
    def packed(self) -> bool:
        """True where a register holds the low halves of two cells."""
        return self.HALF_CELLS in self.properties

    @property
    def tv_layout(self) -> Layout:
        """The layout of the fragment: (thread, value) -> lane + lanes * element along it."""
        return self.access.tile(self.fragment_type.element.bits)

    def verify_(self) -> None:
        access = self.access
        memory, indices = self.tile_operand
        memref = verify_tmem("memory", memory.type, len(indices))
        self._verify_elements(memref.element_type)
        self.verify_half()
        self._verify_tile(memref, access)
        self._verify_begin(memref, access, indices)
        self._verify_layout()

    def _verify_elements(self, memory: Attribute) -> None:
        fragment = self.fragment_type
        if memory != fragment.element_type:
            raise self.fail(f"a fragment of {memory}, got {fragment.element_type}")
        if self.packed and fragment.element.bits != PACKED_BITS:
            raise self.fail(
                f"elements of {PACKED_BITS} bits with {self.HALF_CELLS}, got {memory}; nearest "
                f"legal: no {self.HALF_CELLS}"
            )

    def _verify_tile(self, type_: MemRefType[Attribute], access: TmemAccess) -> None:
        """The last two modes of the memref are lanes and columns as the shape has them."""
        layout, bits = layout_of(type_), self.fragment_type.element.bits
        assert isinstance(layout, Layout)
        if layout.rank() < 2:
            raise Illegal(
                f"memory expected two or more dimensions, got {type_} "
                "(the last two are lanes and columns)"
            )
        stride = CELL_BITS // bits if self.packed else 1
        steps = (lane_stride(bits), stride)
        for place, (extent, step) in enumerate(zip(access.extents(bits), steps, strict=True)):
            mode = layout.mode(layout.rank() - 2 + place)
            wanted = Layout(extent, step)
            if mode.size() < extent or not _begins_with(mode, wanted):
                what = ("lanes", "elements of a lane")[place]
                raise Illegal(
                    f"memory expected {extent} {what} as {wanted} in mode "
                    f"{layout.rank() - 2 + place}, got {mode} of {type_}" + self._hint(mode, wanted)
                )

    def _verify_begin(
        self, type_: MemRefType[Attribute], access: TmemAccess, indices: Sequence[SSAValue]
    ) -> None:
        """As far as the indices are constants, the tile begins where a warp's may, and fits."""
        layout, bits = layout_of(type_), self.fragment_type.element.bits
        assert isinstance(layout, Layout)
        first = layout.rank() - 2
        for mode, extent in enumerate(access.extents(bits), first):
            size, index = layout[mode].size(), constant_integer(indices[mode])
            if index is not None and not 0 <= index <= size - extent:
                raise self.fail(
                    f"index {mode} of at most {size - extent}, got {index} (the tile has {extent} "
                    f"of {size})"
                )
            lane = 0 if index is None or mode > first else layout[mode](index) // lane_stride(bits)
            if lane % access.shape.lanes:
                nearest = lane // access.shape.lanes * access.shape.lanes
                raise self.fail(
                    f"a lane that is a multiple of {access.shape.lanes} with shape "
                    f"{access.shape.name}, got {lane}; nearest legal: {nearest} (a warp reaches "
                    "the 32 lanes from 32 * (warp % 4) on)"
                )

    def _hint(self, mode: Layout, wanted: Layout) -> str:
        """Elements of 16 bits lie two in a cell, or one: say what would load what is there."""
        unpacked = CELL_BITS // PACKED_BITS
        step = mode(1) if mode.size() > 1 else None
        if self.fragment_type.element.bits == PACKED_BITS and {step, wanted.stride} == {
            1,
            unpacked,
        }:
            what = f"no {self.HALF_CELLS}" if self.packed else self.HALF_CELLS
            return f"; nearest legal: {what}"
        return ""

    def _verify_layout(self) -> None:
        declared, wanted = self.fragment_type.tv_layout, self.tv_layout
        if declared is not None and not equivalent(declared, wanted):
            raise self.fail(f"a fragment with layout {wanted}, got {declared}")


def _begins_with(mode: Layout, wanted: Layout) -> bool:
    """True where the first so many of a mode lie as wanted."""
    try:
        return equivalent(composition(mode, Layout(wanted.size(), 1)), wanted)
    except LayoutError:
        return False


@fields_op("cute_nvgpu.tmem.load", TMEM_LOAD)
class LoadOp(TmemAccessOp):
    """Load a tile from tensor memory into a fragment.

    ```mlir
    %f = cute_nvgpu.tmem.load %d[%row, %col] shape 32x32b
       : memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
       -> !cute_nvgpu.fragment<32xf32>
    %g = cute_nvgpu.tmem.load %e[%row, %col] shape 16x256b pack
       : memref<128x128xf16, !cute.layout<"(128,128):(131072,2)">, #cute<space tmem>>
       -> !cute_nvgpu.fragment<32xf16>
    %h = cute_nvgpu.tmem.load %d[%row, %col] shape 16x32bx2 half 8
       : memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
       -> !cute_nvgpu.fragment<8xf32>
    ```

    How often the shape repeats follows from the fragment. `pack` puts the elements of 16 bits that
    have a cell each, as in D, two in a register. Threads from 16 on of 16x32bx2 begin `half` cells
    further right. The registers are there after `tmem.wait_load`. PTX ISA, tcgen05.ld.
    """

    HALF_CELLS = "pack"

    source = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    pack = opt_prop_def(UnitAttr)
    fragment = result_def(FragmentType)

    assembly_format = "$source `[` $indices `]` `shape` $shape"


@fields_op("cute_nvgpu.tmem.store", TMEM_STORE)
class StoreOp(TmemAccessOp):
    """Store a fragment to a tile of tensor memory: the inverse of `tmem.load`.

    ```mlir
    cute_nvgpu.tmem.store %f, %a[%row, %col] shape 32x32b : !cute_nvgpu.fragment<16xbf16>,
      memref<128x64xbf16, !cute.layout<"(128,64):(131072,1)">, #cute<space tmem>>
    ```

    With `unpack`, the two elements of 16 bits in a register get a cell each. It is done after
    `tmem.wait_store`. PTX ISA, tcgen05.st.
    """

    HALF_CELLS = "unpack"

    fragment = operand_def(FragmentType)
    dest = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    unpack = opt_prop_def(UnitAttr)

    assembly_format = "$fragment `,` $dest `[` $indices `]` `shape` $shape"

    def verify_(self) -> None:
        super().verify_()
        self.refuse(why_overlapping(self.access))


@fields_op("cute_nvgpu.tmem.wait_load", TMEM_WAIT_LOAD)
class WaitLoadOp(NvgpuOp):
    """Wait until the threads' loads from tensor memory are complete. Before the registers are read,
    and before anything else writes what was loaded. All threads of the warp execute it together.
    PTX ISA, tcgen05.wait."""


@fields_op("cute_nvgpu.tmem.wait_store", TMEM_WAIT_STORE)
class WaitStoreOp(NvgpuOp):
    """Wait until the threads' stores to tensor memory are complete. All threads of the warp execute
    it together. PTX ISA, tcgen05.wait."""
