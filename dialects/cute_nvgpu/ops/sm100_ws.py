"""`cute_nvgpu.sm100.mma_ws` and `mma_ws_sp`: one weight-stationary `tcgen05.mma.ws`."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, MemRefType, StringAttr, UnitAttr, i1, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
)

from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.ops.umma import Sources, UmmaOp, flags, numbers, words
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.dialects.cute_nvgpu.types.umma import (
    UMMA_ATOM_TYPES,
    Sm100MmaWsAtomType,
    Sm100MmaWsSpAtomType,
)


@irdl_op_definition
class MmaWsOp(UmmaOp):
    """D = A * B + D, B kept for the MMAs that follow: weight-stationary, for M of 32, 64 and 128.

    ```mlir
    cute_nvgpu.sm100.mma_ws %d, %a, %b enable_input_d %more collector "b0::fill"
       <32x64x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : ...
    ```

    `zero_column_mask` is a descriptor of columns of B that count as zeros. PTX ISA, tcgen05.mma.ws.
    """

    name = "cute_nvgpu.sm100.mma_ws"

    d = operand_def(MemRefType)
    a = operand_def()
    b = operand_def(SmemDescViewType)
    enable_input_d = opt_operand_def(i1)
    zero_column_mask = opt_operand_def(i64)
    atom = prop_def(Sm100MmaWsAtomType)
    negate_a = opt_prop_def(UnitAttr)
    negate_b = opt_prop_def(UnitAttr)
    collector = opt_prop_def(StringAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$d `,` $a `,` $b"
        " (`enable_input_d` $enable_input_d^)?"
        " (`zero_column_mask` $zero_column_mask^)?"
        " (`negate_a` $negate_a^)? (`negate_b` $negate_b^)?"
        " (`collector` $collector^)? $atom attr-dict"
        " `:` type($d) `,` type($a) `,` type($b)"
    )

    def __init__(
        self,
        d: SSAValue,
        a: SSAValue,
        b: SSAValue,
        atom: UmmaAtom,
        *,
        enable_input_d: SSAValue | None = None,
        zero_column_mask: SSAValue | None = None,
        negate_a: bool = False,
        negate_b: bool = False,
        collector: str | None = None,
    ):
        super().__init__(
            operands=[d, a, b, enable_input_d, zero_column_mask],
            properties={
                "atom": UMMA_ATOM_TYPES[atom.op](atom),
                **flags(negate_a=negate_a, negate_b=negate_b),
                **words(collector=collector),
            },
        )

    @property
    def mma_atom(self) -> UmmaAtom:
        return self.atom.data

    @property
    def sources(self) -> Sources:
        return {"D": self.d, "A": self.a, "B": self.b}


@irdl_op_definition
class MmaWsSpOp(UmmaOp):
    """A weight-stationary MMA with a structured-sparse A.

    ```mlir
    cute_nvgpu.sm100.mma_ws_sp %d, %a, %b, %e[0] enable_input_d %more
       <64x64x32, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : ...
    ```

    PTX ISA, tcgen05.mma.ws.sp.
    """

    name = "cute_nvgpu.sm100.mma_ws_sp"

    d = operand_def(MemRefType)
    a = operand_def()
    b = operand_def(SmemDescViewType)
    e = operand_def(MemRefType)
    enable_input_d = opt_operand_def(i1)
    zero_column_mask = opt_operand_def(i64)
    atom = prop_def(Sm100MmaWsSpAtomType)
    selector = prop_def(IntegerAttr.constr(type=i64))
    negate_a = opt_prop_def(UnitAttr)
    negate_b = opt_prop_def(UnitAttr)
    collector = opt_prop_def(StringAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$d `,` $a `,` $b `,` $e `[` $selector `]`"
        " (`enable_input_d` $enable_input_d^)?"
        " (`zero_column_mask` $zero_column_mask^)?"
        " (`negate_a` $negate_a^)? (`negate_b` $negate_b^)?"
        " (`collector` $collector^)? $atom attr-dict"
        " `:` type($d) `,` type($a) `,` type($b) `,` type($e)"
    )

    def __init__(
        self,
        d: SSAValue,
        a: SSAValue,
        b: SSAValue,
        e: SSAValue,
        atom: UmmaAtom,
        *,
        selector: int = 0,
        enable_input_d: SSAValue | None = None,
        zero_column_mask: SSAValue | None = None,
        negate_a: bool = False,
        negate_b: bool = False,
        collector: str | None = None,
    ):
        super().__init__(
            operands=[d, a, b, e, enable_input_d, zero_column_mask],
            properties={
                "atom": UMMA_ATOM_TYPES[atom.op](atom),
                **numbers(selector=selector),
                **flags(negate_a=negate_a, negate_b=negate_b),
                **words(collector=collector),
            },
        )

    @property
    def mma_atom(self) -> UmmaAtom:
        return self.atom.data

    @property
    def sources(self) -> Sources:
        return {"D": self.d, "A": self.a, "B": self.b, "E": self.e}
