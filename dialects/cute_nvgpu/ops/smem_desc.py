"""`cute_nvgpu.make_smem_desc`: the descriptor of a matrix in shared memory, from its layout."""

from xdsl.dialects.builtin import DenseArrayBase, IndexType, MemRefType, i64
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, result_def, var_operand_def

from tilewright.dialects.cute import (
    ComposedLayout,
    Layout,
    LayoutError,
    Swizzle,
    coalesce,
    composition,
    equivalent,
    make_layout,
    recast_layout,
)
from tilewright.dialects.cute.swizzle import AnyLayout, outer_of
from tilewright.dialects.cute.types.memref import Space, layout_of
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.ops.instruction import BaselineOp
from tilewright.dialects.cute_nvgpu.ops.memory_operand import verify_memref
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.dialects.fields import fields_op
from tilewright.dialects.illegal import Illegal
from tilewright.dialects.traits import PURE


@fields_op("cute_nvgpu.make_smem_desc")
class MakeSmemDescOp(BaselineOp):
    """The matrix that begins at an element of a memref in shared memory.

    ```mlir
    %d = cute_nvgpu.make_smem_desc %smem[%stage, %m, %k]
       : memref<4x128x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,128,64):(8192,64,1)">, 3>
       -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
    ```

    The memref's last two modes are (mn, k); `modes [2, 1]` names others. The result's layout is
    that of the memref, cut to the matrix. The matrix begins at a multiple of its extents wherever
    the memref's mode is more than one stride. In a line of memory, plain or through a swizzle, the
    matrix lies as the result's layout says, from the element at the index on:

    ```mlir
    %d = cute_nvgpu.make_smem_desc %line[%at]
       : memref<32768xbf16, !cute.composed_layout<"S<3,3,3> o 0 o 32768:1">, 3>
       -> !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
    ```

    PTX ISA 9.7.15.5.1.2.
    """

    source = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    modes = opt_prop_def(DenseArrayBase.constr(i64))
    result = result_def(SmemDescViewType)

    traits = PURE

    assembly_format = "$source `[` $indices `]`"

    @property
    def matrix_modes(self) -> tuple[int, int]:
        """Which modes of the memref are mn and k."""
        if self.modes is not None:
            mn, k = self.modes.get_values()
            return mn, k
        rank = len(self.indices)
        return rank - 2, rank - 1

    @property
    def in_a_line(self) -> bool:
        """True where the memref is a line of memory, in which the result's layout alone counts."""
        return len(self.indices) == 1

    @property
    def extents(self) -> dict[int, int]:
        """How many elements of the memref the matrix takes from the index on, by dimension."""
        result = self.result.type
        per_item = _per_item(result)
        if self.in_a_line:
            return {0: _plain(result.layout.data).cosize() // per_item}
        rows, columns = result.extents
        mn, k = self.matrix_modes
        return {mn: rows, k: columns // per_item}

    def verify_(self) -> None:
        type_ = verify_memref("memory", self.source.type, len(self.indices), Space.SMEM)
        layout, result = layout_of(type_), self.result.type
        if layout is None:
            raise self.fail(f"a memref of static layout, got {type_}")
        _verify_element(type_.element_type, result.element)
        if self.in_a_line:
            self._verify_line(layout, type_)
        else:
            self._verify_matrix(layout, type_)

    def _verify_line(self, layout: AnyLayout, type_: Attribute) -> None:
        """A matrix of a line of memory: it goes through the line's swizzle, and fits."""
        matrix = self.result.type.layout.data
        if self.modes is not None:
            raise self.fail("no modes of a line of memory")
        if not is_line(layout):
            raise self.fail(
                "two modes (mn, k), or a line of memory (stride 1, plain or through a swizzle), "
                f"got {type_}"
            )
        per_item = _per_item(self.result.type)
        legal = _swizzle(layout)
        if per_item > 1 and legal is not None:
            legal = recast_layout(self.result.type.element.bits, 8, legal)
        offset = matrix.offset if isinstance(matrix, ComposedLayout) else 0
        if _swizzle(matrix) != legal or offset != 0:
            fitting = _plain(matrix) if legal is None else ComposedLayout(legal, 0, _plain(matrix))
            raise self.fail(
                f"a matrix that lies as its memory {type_}, got {matrix}; nearest legal: {fitting}"
            )
        if (span := self.extents[0]) > (there := layout.size()):
            raise self.fail(f"a matrix within {there} elements, got {matrix}, which takes {span}")

    def _verify_matrix(self, layout: AnyLayout, type_: MemRefType) -> None:
        """A matrix of two modes of a memref: its layout is theirs."""
        result = self.result.type
        self._verify_modes(len(type_.shape))
        self._verify_extents(layout, type_)
        try:
            matrix = cut_to_matrix(layout, self.matrix_modes, result)
        except LayoutError as error:
            raise self.fail(
                f"a matrix of {result.rows.data}x{result.columns.data} within {type_}: {error}"
            ) from None
        if not _same(matrix, result.layout.data):
            raise self.fail(
                f"layout {matrix}, that of the memref, got {result.layout.data}; nearest legal: "
                f"{result.with_layout(matrix)}"
            )

    def _verify_extents(self, layout: AnyLayout, type_: Attribute) -> None:
        result, (mn, k) = self.result.type, self.matrix_modes
        most = layout[mn].size(), layout[k].size() * _per_item(result)
        if any(wanted > there for wanted, there in zip(result.extents, most, strict=True)):
            raise self.fail(
                f"a matrix of at most {most[0]}x{most[1]} within {type_}, got "
                f"{result.rows.data}x{result.columns.data}"
            )

    def _verify_modes(self, rank: int) -> None:
        modes = (rank - 2, rank - 1) if self.modes is None else self.modes.get_values()
        if len(set(modes)) != 2 or not all(0 <= mode < rank for mode in modes):
            raise self.fail(f"two modes (mn, k) of {rank}, got {list(modes)}")


_BYTES = ("i8", "ui8")
_STORED_AS = {
    "tf32": ("f32",),
    **dict.fromkeys(("s8", "u8", "b1"), ("i8",)),
    **dict.fromkeys(("e4m3", "e5m2", "e3m2", "e2m3", "e2m1"), _BYTES),
}
"""The other types of which a memref may hold a matrix of these; an i8 holds eight b1, two e2m1
or, of 16 of them, a sixteenth of what tcgen05 unpacks."""


def stored_types(element: ElementType) -> tuple[str, ...]:
    """The types of which a memref may hold elements that are none of its own."""
    return _STORED_AS.get(element.name, ())


def _verify_element(memory: Attribute, element: ElementType) -> None:
    legal = (element.mlir, *stored_types(element))
    if element.padded:
        legal = stored_types(element)
    if str(memory) not in legal:
        raise Illegal(
            f"expected a memref of {' or '.join(legal)}, got {memory} "
            f"(the matrix is of {element.mlir})"
        )


def _per_item(type_: SmemDescViewType) -> int:
    """How many elements of the matrix an element of the memref holds."""
    return max(8 // type_.element.bits, 1)


def _plain(layout: AnyLayout) -> Layout:
    outer = outer_of(layout)
    assert isinstance(outer, Layout)
    return outer


def _swizzle(layout: AnyLayout) -> Swizzle | None:
    """The swizzle before the layout, or None where there is none."""
    inner = layout.inner if isinstance(layout, ComposedLayout) else None
    return inner if isinstance(inner, Swizzle) and inner.bits else None


def is_line(layout: AnyLayout) -> bool:
    """True for memory taken as it is, or through a swizzle: n:1."""
    offset = layout.offset if isinstance(layout, ComposedLayout) else 0
    plain = coalesce(_plain(layout))
    return offset == 0 and plain.depth() == 0 and plain.stride in (0, 1)


def cut_to_matrix(layout: AnyLayout, modes: tuple[int, int], type_: SmemDescViewType) -> AnyLayout:
    """The layout of a matrix within that of a memref: what its first element's neighbours have.

    Raises LayoutError where the memref has no matrix of such extents.
    """
    plain = outer_of(layout)
    per_item = _per_item(type_)
    rows, columns = type_.extents
    cut = make_layout(
        *(
            composition(plain.mode(mode), Layout(extent, 1))
            for mode, extent in zip(modes, (rows, columns // per_item), strict=True)
        )
    )
    matrix = recast_layout(type_.element.bits, 8, cut) if per_item > 1 else cut
    if isinstance(layout, Layout):
        return matrix
    inner = layout.inner
    if per_item > 1 and isinstance(inner, Swizzle):
        inner = recast_layout(type_.element.bits, 8, inner)
    return ComposedLayout(inner, 0, matrix)


def _same(a: AnyLayout, b: AnyLayout) -> bool:
    """True where two layouts are one function through one swizzle."""
    if isinstance(a, ComposedLayout) and isinstance(b, ComposedLayout):
        return a.inner == b.inner and a.offset == b.offset and equivalent(a.outer, b.outer)
    return isinstance(a, Layout) and isinstance(b, Layout) and equivalent(a, b)
