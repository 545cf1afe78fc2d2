"""Loads from tensor memory that also reduce what each thread loads."""

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, MemRefType, UnitAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    irdl_attr_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.cute_nvgpu.lattice.tmem_access import TMEM_LOAD_REDUCE
from tilewright.dialects.cute_nvgpu.ops.tmem_access import TmemAccessOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.fields import Field, fields_op


class Reduction(StrEnum):
    """The element, of those that it loads, that a thread is given."""

    MIN = "min"
    MAX = "max"


@irdl_attr_definition
class ReductionAttr(EnumAttribute[Reduction], SpacedOpaqueSyntaxAttribute):
    """A reduction, `#cute_nvgpu<reduction max>`."""

    name = "cute_nvgpu.reduction"


_REDUCED = {"f32": ("f32",), "i32": ("s32", "u32")}
"""PTX types that each MLIR type may be reduced as; the second is that of `unsigned`."""


@fields_op("cute_nvgpu.tmem.load_reduce", TMEM_LOAD_REDUCE)
class LoadReduceOp(TmemAccessOp):
    """Load a tile, and give each thread the least or the greatest of the elements that it loads.

    ```mlir
    %f, %m = cute_nvgpu.tmem.load_reduce %d[%row, %col] max shape 32x32b abs
       : memref<128x128xf32, !cute.layout<"(128,128):(65536,1)">, #cute<space tmem>>
       -> !cute_nvgpu.fragment<32xf32>, f32
    ```

    `abs` compares magnitudes, `nan` lets a NaN win, both for f32; `unsigned` is for i32. Both
    results are there after `tmem.wait_load`. PTX ISA, tcgen05.ld.
    """

    HALF_CELLS = "pack"

    source = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    reduction = prop_def(ReductionAttr)
    abs = opt_prop_def(UnitAttr)
    nan = opt_prop_def(UnitAttr)
    unsigned = opt_prop_def(UnitAttr)
    fragment = result_def(FragmentType)
    reduced = result_def()

    assembly_format = "$source `[` $indices `]` $reduction `shape` $shape (`half` $half^)?"

    def __init__(
        self, source: SSAValue, indices: Sequence[SSAValue], fragment: FragmentType, shape: str,
        reduction: Reduction, **named: Field,
    ):  # fmt: skip
        reduced = fragment.element_type
        super().__init__(
            source, indices, fragment, reduced, reduction=reduction, shape=shape, **named
        )

    @property
    def ptx_type(self) -> str:
        """The type that PTX reduces: f32, s32 or u32."""
        return _REDUCED[str(self.fragment_type.element_type)][self.unsigned is not None]

    @property
    def modifiers(self) -> str:
        """`.abs.NaN`, as PTX writes them."""
        return (".abs" if self.abs is not None else "") + (".NaN" if self.nan is not None else "")

    @property
    def form(self) -> str:
        """`max.abs.NaN.f32`, as PTX writes it."""
        return f"{self.reduction.data.value}{self.modifiers}.{self.ptx_type}"

    def verify_(self) -> None:
        super().verify_()
        self._verify_shape()
        self._verify_flags()
        if self.reduced.type != self.fragment_type.element_type:
            raise self.fail(
                f"a result of {self.fragment_type.element_type}, got {self.reduced.type}"
            )

    def _verify_shape(self) -> None:
        access = self.access
        if not access.shape.reduces:
            raise self.fail(
                f"shape 32x32b or 16x32bx2, got {access.shape.name}; nearest legal: 32x32b"
            )
        if access.number < 2:
            raise self.fail(f"2 registers or more, got {access.number}; nearest legal: 2")

    def _verify_flags(self) -> None:
        element = str(self.fragment_type.element_type)
        if element not in _REDUCED:
            raise self.fail(f"elements of {' or '.join(_REDUCED)}, got {element}")
        wrong = ("unsigned",) if element == "f32" else ("abs", "nan")
        for name in wrong:
            if self.properties.get(name) is not None:
                raise self.fail(f"no {name} with elements of {element}, got {name}")
