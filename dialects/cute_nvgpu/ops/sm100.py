"""`cute_nvgpu.sm100.mma` and its likes: one `tcgen05.mma` of a CTA or of a pair of CTAs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, MemRefType, StringAttr, UnitAttr, i1, i32, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)

from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.ops.sm100_ws import MmaWsOp, MmaWsSpOp
from tilewright.dialects.cute_nvgpu.ops.umma import Sources, UmmaOp, flags, numbers, words
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.dialects.cute_nvgpu.types.umma import (
    UMMA_ATOM_TYPES,
    Sm100MmaAtomType,
    Sm100MmaBsAtomType,
    Sm100MmaBsSpAtomType,
    Sm100MmaSpAtomType,
)


@irdl_op_definition
class MmaOp(UmmaOp):
    """D = A * B + D on f16, bf16, tf32, floats of 8, 6 and 4 bits, or bytes.

    ```mlir
    cute_nvgpu.sm100.mma %d, %a, %b enable_input_d %more
       <128x256x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>
       : memref<128x256xf32, !cute.layout<"(128,256):(65536,1)">, #cute<space tmem>>,
         !cute_nvgpu.smem_desc_view<128x16xbf16, tcgen05, "S<3,3,3> o 0 o (128,16):(64,1)">,
         !cute_nvgpu.smem_desc_view<256x16xbf16, tcgen05, "S<3,3,3> o 0 o (256,16):(64,1)">
    ```

    `disable_output_lane` names lanes of D that keep what they hold, a bit each; `scale_input_d`
    divides D by a power of two first. PTX ISA, tcgen05.mma.
    """

    name = "cute_nvgpu.sm100.mma"

    d = operand_def(MemRefType)
    a = operand_def()
    b = operand_def(SmemDescViewType)
    enable_input_d = opt_operand_def(i1)
    disable_output_lane = var_operand_def(i32)
    atom = prop_def(Sm100MmaAtomType)
    scale_input_d = opt_prop_def(IntegerAttr.constr(type=i64))
    ashift = opt_prop_def(UnitAttr)
    negate_a = opt_prop_def(UnitAttr)
    negate_b = opt_prop_def(UnitAttr)
    collector = opt_prop_def(StringAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$d `,` $a `,` $b"
        " (`enable_input_d` $enable_input_d^)? (`scale_input_d` $scale_input_d^)?"
        " (`disable_output_lane` `(` $disable_output_lane^ `)`)?"
        " (`negate_a` $negate_a^)? (`negate_b` $negate_b^)?"
        " (`ashift` $ashift^)? (`collector` $collector^)? $atom attr-dict"
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
        scale_input_d: int | None = None,
        disable_output_lane: Sequence[SSAValue] = (),
        negate_a: bool = False,
        negate_b: bool = False,
        ashift: bool = False,
        collector: str | None = None,
    ):
        super().__init__(
            operands=[d, a, b, enable_input_d, disable_output_lane],
            properties={
                "atom": UMMA_ATOM_TYPES[atom.op](atom),
                **numbers(scale_input_d=scale_input_d),
                **flags(negate_a=negate_a, negate_b=negate_b, ashift=ashift),
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
class MmaSpOp(UmmaOp):
    """D = A * B + D with a structured-sparse A, of which half the K is stored.

    ```mlir
    cute_nvgpu.sm100.mma_sp %d, %a, %b, %e[0] enable_input_d %more
       <128x64x32, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss> : ...
    ```

    The selector says which of two columns of an even pair the metadata are in. PTX ISA,
    tcgen05.mma.sp.
    """

    name = "cute_nvgpu.sm100.mma_sp"

    d = operand_def(MemRefType)
    a = operand_def()
    b = operand_def(SmemDescViewType)
    e = operand_def(MemRefType)
    enable_input_d = opt_operand_def(i1)
    disable_output_lane = var_operand_def(i32)
    atom = prop_def(Sm100MmaSpAtomType)
    selector = prop_def(IntegerAttr.constr(type=i64))
    scale_input_d = opt_prop_def(IntegerAttr.constr(type=i64))
    ashift = opt_prop_def(UnitAttr)
    negate_a = opt_prop_def(UnitAttr)
    negate_b = opt_prop_def(UnitAttr)
    collector = opt_prop_def(StringAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$d `,` $a `,` $b `,` $e `[` $selector `]`"
        " (`enable_input_d` $enable_input_d^)? (`scale_input_d` $scale_input_d^)?"
        " (`disable_output_lane` `(` $disable_output_lane^ `)`)?"
        " (`negate_a` $negate_a^)? (`negate_b` $negate_b^)?"
        " (`ashift` $ashift^)? (`collector` $collector^)? $atom attr-dict"
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
        scale_input_d: int | None = None,
        disable_output_lane: Sequence[SSAValue] = (),
        negate_a: bool = False,
        negate_b: bool = False,
        ashift: bool = False,
        collector: str | None = None,
    ):
        super().__init__(
            operands=[d, a, b, e, enable_input_d, disable_output_lane],
            properties={
                "atom": UMMA_ATOM_TYPES[atom.op](atom),
                **numbers(selector=selector, scale_input_d=scale_input_d),
                **flags(negate_a=negate_a, negate_b=negate_b, ashift=ashift),
                **words(collector=collector),
            },
        )

    @property
    def mma_atom(self) -> UmmaAtom:
        return self.atom.data

    @property
    def sources(self) -> Sources:
        return {"D": self.d, "A": self.a, "B": self.b, "E": self.e}


@irdl_op_definition
class MmaBsOp(UmmaOp):
    """D = (A * SFA) * (B * SFB) + D, the scale factors by row of A, column of B and block of K.

    ```mlir
    cute_nvgpu.sm100.mma_bs %d, %a, %b, %sfa[2], %sfb[2] enable_input_d %more
       <128x128x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss,
        kind = mxf4, scale_vec = 2, scale_type = f8E8M0FNU> : ...
    ```

    The ids say at which byte of a word the scale factors start. PTX ISA, tcgen05.mma.
    """

    name = "cute_nvgpu.sm100.mma_bs"

    d = operand_def(MemRefType)
    a = operand_def()
    b = operand_def(SmemDescViewType)
    sfa = operand_def(MemRefType)
    sfb = operand_def(MemRefType)
    enable_input_d = opt_operand_def(i1)
    atom = prop_def(Sm100MmaBsAtomType)
    sfa_id = prop_def(IntegerAttr.constr(type=i64))
    sfb_id = prop_def(IntegerAttr.constr(type=i64))
    negate_a = opt_prop_def(UnitAttr)
    negate_b = opt_prop_def(UnitAttr)
    collector = opt_prop_def(StringAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$d `,` $a `,` $b `,` $sfa `[` $sfa_id `]` `,` $sfb `[` $sfb_id `]`"
        " (`enable_input_d` $enable_input_d^)?"
        " (`negate_a` $negate_a^)? (`negate_b` $negate_b^)?"
        " (`collector` $collector^)? $atom attr-dict"
        " `:` type($d) `,` type($a) `,` type($b) `,` type($sfa) `,` type($sfb)"
    )

    def __init__(
        self,
        d: SSAValue,
        a: SSAValue,
        b: SSAValue,
        sfa: SSAValue,
        sfb: SSAValue,
        atom: UmmaAtom,
        *,
        sfa_id: int = 0,
        sfb_id: int = 0,
        enable_input_d: SSAValue | None = None,
        negate_a: bool = False,
        negate_b: bool = False,
        collector: str | None = None,
    ):
        super().__init__(
            operands=[d, a, b, sfa, sfb, enable_input_d],
            properties={
                "atom": UMMA_ATOM_TYPES[atom.op](atom),
                **numbers(sfa_id=sfa_id, sfb_id=sfb_id),
                **flags(negate_a=negate_a, negate_b=negate_b),
                **words(collector=collector),
            },
        )

    @property
    def mma_atom(self) -> UmmaAtom:
        return self.atom.data

    @property
    def sources(self) -> Sources:
        return {"D": self.d, "A": self.a, "B": self.b, "SFA": self.sfa, "SFB": self.sfb}


@irdl_op_definition
class MmaBsSpOp(UmmaOp):
    """A block-scaled MMA with a structured-sparse A.

    ```mlir
    cute_nvgpu.sm100.mma_bs_sp %d, %a, %b, %e[0], %sfa[0], %sfb[0] enable_input_d %more
       <128x128x64, elem_type = (f8E4M3FN, f8E5M2, f32), ab_major = (k, k), frag_kind = ss,
        kind = mxf8f6f4, scale_vec = 1, scale_type = f8E8M0FNU> : ...
    ```

    PTX ISA, tcgen05.mma.sp.
    """

    name = "cute_nvgpu.sm100.mma_bs_sp"

    d = operand_def(MemRefType)
    a = operand_def()
    b = operand_def(SmemDescViewType)
    e = operand_def(MemRefType)
    sfa = operand_def(MemRefType)
    sfb = operand_def(MemRefType)
    enable_input_d = opt_operand_def(i1)
    atom = prop_def(Sm100MmaBsSpAtomType)
    selector = prop_def(IntegerAttr.constr(type=i64))
    sfa_id = prop_def(IntegerAttr.constr(type=i64))
    sfb_id = prop_def(IntegerAttr.constr(type=i64))
    negate_a = opt_prop_def(UnitAttr)
    negate_b = opt_prop_def(UnitAttr)
    collector = opt_prop_def(StringAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$d `,` $a `,` $b `,` $e `[` $selector `]`"
        " `,` $sfa `[` $sfa_id `]` `,` $sfb `[` $sfb_id `]`"
        " (`enable_input_d` $enable_input_d^)?"
        " (`negate_a` $negate_a^)? (`negate_b` $negate_b^)?"
        " (`collector` $collector^)? $atom attr-dict"
        " `:` type($d) `,` type($a) `,` type($b) `,` type($e) `,` type($sfa) `,` type($sfb)"
    )

    def __init__(
        self,
        d: SSAValue,
        a: SSAValue,
        b: SSAValue,
        e: SSAValue,
        sfa: SSAValue,
        sfb: SSAValue,
        atom: UmmaAtom,
        *,
        selector: int = 0,
        sfa_id: int = 0,
        sfb_id: int = 0,
        enable_input_d: SSAValue | None = None,
        negate_a: bool = False,
        negate_b: bool = False,
        collector: str | None = None,
    ):
        super().__init__(
            operands=[d, a, b, e, sfa, sfb, enable_input_d],
            properties={
                "atom": UMMA_ATOM_TYPES[atom.op](atom),
                **numbers(selector=selector, sfa_id=sfa_id, sfb_id=sfb_id),
                **flags(negate_a=negate_a, negate_b=negate_b),
                **words(collector=collector),
            },
        )

    @property
    def mma_atom(self) -> UmmaAtom:
        return self.atom.data

    @property
    def sources(self) -> Sources:
        return {
            "D": self.d,
            "A": self.a,
            "B": self.b,
            "E": self.e,
            "SFA": self.sfa,
            "SFB": self.sfb,
        }


UMMA_OPS: dict[str, type[UmmaOp]] = {
    op.name.removeprefix("cute_nvgpu."): op
    for op in (MmaOp, MmaSpOp, MmaBsOp, MmaBsSpOp, MmaWsOp, MmaWsSpOp)
}
"""Every op that issues a `tcgen05.mma`, by its op in the lattice."""
