"""Copies that feed MMAs: ldmatrix, stmatrix and cp.async."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    MemRefType,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute import ComposedLayout, Layout, Swizzle, flatten
from tilewright.dialects.cute.dialect import Space, is_memref, layout_mismatch, layout_of, space_of
from tilewright.dialects.cute_nvgpu.atom import WARP
from tilewright.dialects.cute_nvgpu.attributes import Cache, CacheAttr, FragmentType, element_of
from tilewright.dialects.cute_nvgpu.lattice import CP_ASYNC, LDMATRIX, STMATRIX, MatrixCopyRow


def verify_memref(
    op: str, what: str, type_: Attribute, indices: int, space: Space
) -> MemRefType[Attribute]:
    """The type, if it is a memref of that space and rank. Raises VerifyException otherwise."""
    if not is_memref(type_):
        raise VerifyException(f"'{op}' {what} expected a memref, got {type_}")
    if space_of(type_.memory_space) is not space:
        raise VerifyException(
            f"'{op}' {what} expected memory space {space.value}, got {type_} "
            f"(PTX takes a {space.value} address here)"
        )
    if len(type_.shape) != indices:
        raise VerifyException(
            f"'{op}' {what} expected {len(type_.shape)} indices for {type_}, got {indices}"
        )
    if (reason := layout_mismatch(type_)) is not None:
        raise VerifyException(f"'{op}' {what} {reason}")
    return type_


def verify_contiguous(op: str, what: str, type_: MemRefType[Attribute], wanted: int) -> None:
    """Raise VerifyException unless `wanted` bytes along the last index lie side by side, and
    every such run starts on a multiple of `wanted` bytes from the memref's start."""
    bits, layout = _bits(type_.element_type), layout_of(type_)
    if bits is None or layout is None:
        return
    if wanted * 8 < bits:
        raise VerifyException(
            f"'{op}' {what} expected elements of at most {wanted} bytes, got {type_.element_type}"
        )
    count = wanted * 8 // bits
    plain = layout
    if isinstance(layout, ComposedLayout):
        plain, swizzle = layout.outer, layout.inner
        if isinstance(swizzle, Swizzle) and swizzle.bits and (1 << swizzle.base) < count:
            raise VerifyException(
                f"'{op}' {what} expected a swizzle that keeps {count} elements ({wanted} bytes) "
                f"together, got {swizzle}; nearest legal: "
                f"{Swizzle(swizzle.bits, count.bit_length() - 1, swizzle.shift)}"
            )
    assert isinstance(plain, Layout)
    last, *rest = (_steps(plain[mode]) for mode in reversed(range(plain.rank())))
    run = last[0] if last else (1, 1)
    others = [stride for _, stride in last[1:] + [step for mode in rest for step in mode]]
    if run[1] != 1 or run[0] % count or any(stride % count for stride in others):
        raise VerifyException(
            f"'{op}' {what} expected {count} elements ({wanted} bytes) side by side along the "
            f"last index, each run on its own {wanted} bytes, got layout {layout}"
        )


def _bits(type_: Attribute) -> int | None:
    """The width of an element in memory, or None where it has none."""
    if (element := element_of(type_)) is not None:
        return element.bits
    return type_.bitwidth if isinstance(type_, FixedBitwidthType) else None


def _steps(mode: Layout) -> list[tuple[int, int]]:
    """The (extent, stride) pairs of a mode that move at all."""
    pairs = zip(flatten(mode.shape), flatten(mode.stride), strict=True)
    return [
        (extent, stride)
        for extent, stride in pairs
        if isinstance(extent, int) and isinstance(stride, int) and extent != 1
    ]


class _MatrixCopyOp(IRDLOperation):
    """What ldmatrix and stmatrix share: their memory side and their fragment."""

    def verify_matrices(
        self, row: MatrixCopyRow, memref: Attribute, indices: int, fragment: FragmentType
    ) -> None:
        type_ = verify_memref(self.name, "memory", memref, indices, Space.SMEM)
        if type_.element_type != fragment.element_type:
            raise VerifyException(
                f"'{self.name}' expected a fragment of {type_.element_type}, "
                f"got {fragment.element_type}"
            )
        if fragment.element.register != "b32" or fragment.registers not in row.numbers:
            legal = " or ".join(str(n * fragment.element.per_register) for n in row.numbers)
            raise VerifyException(
                f"'{self.name}' expected a fragment of {legal} elements a thread "
                f"(.x1, .x2 or .x4), got {fragment.count.data}"
            )
        verify_contiguous(self.name, "memory", type_, row.row_bytes)
        self._verify_layout(fragment)

    def _verify_layout(self, fragment: FragmentType) -> None:
        """Thread t holds columns w*(t%4).. of row t/4: the declared layout must say the same."""
        layout, width = fragment.tv_layout, fragment.element.per_register
        if layout is None:
            return
        column = layout(WARP if width > 1 else 1) - layout(0)
        for thread in range(4):
            for value in range(width):
                place = layout(thread + WARP * value) - layout(0)
                if place != column * (thread * width + value):
                    raise VerifyException(
                        f"'{self.name}' expected a layout in which threads 0 to 3 hold "
                        f"{4 * width} neighbouring columns of one row, got {layout}"
                    )


@irdl_op_definition
class LdmatrixOp(_MatrixCopyOp):
    """Load 1, 2 or 4 8x8 matrices of 16-bit elements from shared memory into a fragment.

    ```mlir
    %a = cute_nvgpu.ldmatrix %smem[%row, %col] : memref<64x32xbf16, #cute<space smem>>
       -> !cute_nvgpu.fragment<8xbf16>
    ```

    Each thread's indices name one row of 16 bytes: thread 8*i + r gives row r of matrix i.
    `trans` transposes every matrix on the way. PTX ISA 9.7.14.5.15.
    """

    name = "cute_nvgpu.ldmatrix"

    source = operand_def()
    indices = var_operand_def(IndexType)
    trans = opt_prop_def(UnitAttr)
    fragment = result_def(FragmentType)

    assembly_format = (
        "$source `[` $indices `]` (`trans` $trans^)? attr-dict"
        " `:` type($source) `->` type($fragment)"
    )

    def __init__(
        self,
        source: SSAValue,
        indices: Sequence[SSAValue],
        fragment: FragmentType,
        *,
        trans: bool = False,
    ):
        super().__init__(
            operands=[source, indices],
            properties={"trans": UnitAttr() if trans else None},
            result_types=[fragment],
        )

    def verify_(self) -> None:
        self.verify_matrices(LDMATRIX, self.source.type, len(self.indices), self.fragment.type)
        if self.trans is not None and self.fragment.type.element.bits != 16:
            raise VerifyException(
                f"'{self.name}' expected 16-bit elements with trans, got "
                f"{self.fragment.type.element_type} (.trans moves 16-bit elements)"
            )


@irdl_op_definition
class StmatrixOp(_MatrixCopyOp):
    """Store a fragment to shared memory as 1, 2 or 4 8x8 matrices of 16-bit elements.

    ```mlir
    cute_nvgpu.stmatrix %d, %smem[%row, %col]
      : !cute_nvgpu.fragment<4xbf16>, memref<64x32xbf16, #cute<space smem>>
    ```

    The inverse of `ldmatrix`. PTX ISA 9.7.14.5.16.
    """

    name = "cute_nvgpu.stmatrix"

    fragment = operand_def(FragmentType)
    dest = operand_def()
    indices = var_operand_def(IndexType)
    trans = opt_prop_def(UnitAttr)

    assembly_format = (
        "$fragment `,` $dest `[` $indices `]` (`trans` $trans^)? attr-dict"
        " `:` type($fragment) `,` type($dest)"
    )

    def __init__(
        self,
        fragment: SSAValue,
        dest: SSAValue,
        indices: Sequence[SSAValue],
        *,
        trans: bool = False,
    ):
        super().__init__(
            operands=[fragment, dest, indices],
            properties={"trans": UnitAttr() if trans else None},
        )

    def verify_(self) -> None:
        fragment = self.fragment.type
        assert isinstance(fragment, FragmentType)
        self.verify_matrices(STMATRIX, self.dest.type, len(self.indices), fragment)
        if self.trans is not None and fragment.element.bits != 16:
            raise VerifyException(
                f"'{self.name}' expected 16-bit elements with trans, got {fragment.element_type} "
                "(.trans moves 16-bit elements)"
            )


@irdl_op_definition
class CpAsyncOp(IRDLOperation):
    """Start an asynchronous copy of `size` bytes from global to shared memory.

    ```mlir
    cute_nvgpu.cp.async %g[%i, %k] to %s[%r, %c] size 16 cache cg fill %bytes
      : memref<?x?xbf16, strided<[?, 1]>> to memref<64x32xbf16, #cute<space smem>>
    ```

    `fill` gives the bytes that are read; the rest of `size` is written as zeros, and with
    `fill` 0 the source address is not touched. The copy is complete for the executing thread
    after a `cp.async.wait_group`. PTX ISA 9.7.9.25.3.1.
    """

    name = "cute_nvgpu.cp.async"

    source = operand_def()
    source_indices = var_operand_def(IndexType)
    dest = operand_def()
    dest_indices = var_operand_def(IndexType)
    fill = opt_operand_def(i32)

    size = prop_def(IntegerAttr.constr(type=i64))
    cache = prop_def(CacheAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$source `[` $source_indices `]` `to` $dest `[` $dest_indices `]`"
        " `size` $size `cache` $cache (`fill` $fill^)? attr-dict"
        " `:` type($source) `to` type($dest)"
    )

    def __init__(
        self,
        source: SSAValue,
        source_indices: Sequence[SSAValue],
        dest: SSAValue,
        dest_indices: Sequence[SSAValue],
        size: int,
        cache: Cache = Cache.CG,
        fill: SSAValue | None = None,
    ):
        super().__init__(
            operands=[source, source_indices, dest, dest_indices, fill],
            properties={"size": IntegerAttr(size, i64), "cache": CacheAttr(cache)},
        )

    def verify_(self) -> None:
        source = verify_memref(
            self.name, "source", self.source.type, len(self.source_indices), Space.GMEM
        )
        dest = verify_memref(self.name, "dest", self.dest.type, len(self.dest_indices), Space.SMEM)
        if source.element_type != dest.element_type:
            raise VerifyException(
                f"'{self.name}' expected equal element types, got {source.element_type} and "
                f"{dest.element_type}"
            )
        size, cache = self.size.value.data, self.cache.data.value
        legal = CP_ASYNC.sizes[cache]
        if size not in legal:
            nearest = min(legal, key=lambda each: abs(each - size))
            raise VerifyException(
                f"'{self.name}' expected size {' or '.join(map(str, legal))} with cache {cache}, "
                f"got {size}; nearest legal: {nearest} (PTX ISA {CP_ASYNC.section})"
            )
        verify_contiguous(self.name, "dest", dest, size)


@irdl_op_definition
class CpAsyncCommitGroupOp(IRDLOperation):
    """Close the executing thread's group of pending `cp.async`.

    ```mlir
    cute_nvgpu.cp.async.commit_group
    ```

    PTX ISA 9.7.9.25.3.2.
    """

    name = "cute_nvgpu.cp.async.commit_group"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class CpAsyncWaitGroupOp(IRDLOperation):
    """Wait until at most `pending` of the executing thread's latest groups are in flight.

    ```mlir
    cute_nvgpu.cp.async.wait_group 1
    ```

    PTX ISA 9.7.9.25.3.3.
    """

    name = "cute_nvgpu.cp.async.wait_group"

    pending = prop_def(IntegerAttr.constr(type=i64))

    assembly_format = "$pending attr-dict"

    def __init__(self, pending: int):
        super().__init__(properties={"pending": IntegerAttr(pending, i64)})

    def verify_(self) -> None:
        if self.pending.value.data < 0:
            raise VerifyException(
                f"'{self.name}' expected a count of groups, got {self.pending.value.data}; "
                "nearest legal: 0"
            )
