"""`cute_nvgpu.sm90.mma` and `sm90.sparse_mma`: one `wgmma.mma_async` of a warpgroup."""

from collections.abc import Sequence
from functools import partial

from xdsl.dialects.builtin import UnitAttr, i1
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, result_def

from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.ops.instruction import AtomOp, atom_op
from tilewright.dialects.cute_nvgpu.ops.memory_operand import verify_matrix
from tilewright.dialects.cute_nvgpu.ops.register_mma import verify_fragment
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.cute_nvgpu.types.shared_atoms import WGMMA_ATOM_TYPES
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.dialects.fields import NUMBER, Field


class WarpgroupMmaOp(AtomOp):
    """D = A * B + C, asynchronous, on the matrices of a warpgroup.

    B and, unless it is a register fragment, A are matrices in shared memory. D is C's registers: it
    may be read once `wgmma.wait_group` has waited for the group that `wgmma.commit_group` put this
    op into, except as the C of an op of the same shape. Where `scale_d` is false, D = A * B.
    `negate_a` and `negate_b` negate the elements of A and B. PTX ISA 9.7.15.5.2 and 9.7.15.6.3.
    """

    a = operand_def()
    b = operand_def(SmemDescViewType)
    c = operand_def(FragmentType)
    scale_d = opt_operand_def(i1)
    negate_a = opt_prop_def(UnitAttr)
    negate_b = opt_prop_def(UnitAttr)
    d = result_def(FragmentType)

    def __init__(
        self, inputs: Sequence[SSAValue], atom: WgmmaAtom, *, selector: int = 0, **named: Field
    ):
        """The MMA of A, B, C and, where it is sparse, the metadata."""
        if atom.row.sparse:
            named["selector"] = selector
        issued = WGMMA_ATOM_TYPES[atom.op](atom)
        super().__init__(*inputs, inputs[2].type, atom=issued, **named)

    @property
    def multiplicands_and_c(self) -> tuple[SSAValue, SSAValue, SSAValue]:
        """A, B and C."""
        return self.a, self.b, self.c

    @property
    def mma_atom(self) -> WgmmaAtom:
        """The atom that it issues."""
        return self.issued

    @property
    def accumulates_if(self) -> SSAValue | None:
        """The predicate `scale_d`; None where it always accumulates."""
        return self.scale_d

    @property
    def negated(self) -> tuple[bool, bool]:
        """(A is negated, B is negated)."""
        return "negate_a" in self.properties, "negate_b" in self.properties

    def verify_(self) -> None:
        atom = self.mma_atom
        if atom.frag_kind == "rs":
            verify_fragment(atom, "A", self.a.type)
        else:
            verify_matrix(atom, "A", self.a.type)
        verify_matrix(atom, "B", self.b.type)
        verify_fragment(atom, "C", self.c.type)
        verify_fragment(atom, "D", self.d.type)
        if any(self.negated) and not atom.row.negates:
            raise self.fail(
                "no negate_a or negate_b, got one (only floating-point multiplicands are negated; "
                f"{atom.mnemonic}, PTX ISA {atom.row.section})"
            )


WGMMA_OPS: dict[str, type[WarpgroupMmaOp]] = {}
"""Every op that issues an MMA of a warpgroup, by its op in the lattice."""
_mma = partial(atom_op, types=WGMMA_ATOM_TYPES, ops=WGMMA_OPS)


@_mma("sm90.mma")
class MmaOp(WarpgroupMmaOp):
    """D = A * B + C on f16, bf16, tf32, fp8, integers or single bits.

    ```mlir
    %d = cute_nvgpu.sm90.mma %a, %b, %c scale_d %more
       <64x128x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>
       : (!cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">,
          !cute_nvgpu.smem_desc_view<128x16xbf16, "S<3,3,3> o 0 o (128,16):(64,1)">,
          !cute_nvgpu.fragment<64xf32>, i1) -> !cute_nvgpu.fragment<64xf32>
    ```
    """

    assembly_format = (
        "$a `,` $b `,` $c (`scale_d` $scale_d^)? (`negate_a` $negate_a^)? (`negate_b` $negate_b^)?"
        " $atom attr-dict `:` functional-type(operands, results)"
    )


@_mma("sm90.sparse_mma")
class SparseMmaOp(WarpgroupMmaOp):
    """D = A * B + C with a structured-sparse A, of which half the K is stored.

    ```mlir
    %d = cute_nvgpu.sm90.sparse_mma %a, %b, %c, %e[0]
       <64x64x32, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = rs>
       : (!cute_nvgpu.fragment<8xf16>,
          !cute_nvgpu.smem_desc_view<64x32xf16, "S<3,3,3> o 0 o (64,32):(64,1)">,
          !cute_nvgpu.fragment<32xf32>, !cute_nvgpu.fragment<16xui2>)
       -> !cute_nvgpu.fragment<32xf32>
    ```
    """

    # xDSL puts a subclass's operands before those of its base.
    a = operand_def()
    b = operand_def(SmemDescViewType)
    c = operand_def(FragmentType)
    e = operand_def(FragmentType)
    scale_d = opt_operand_def(i1)
    selector = prop_def(NUMBER)

    assembly_format = (
        "$a `,` $b `,` $c `,` $e `[` $selector `]` (`scale_d` $scale_d^)?"
        " (`negate_a` $negate_a^)? (`negate_b` $negate_b^)?"
        " $atom attr-dict `:` functional-type(operands, results)"
    )

    def verify_(self) -> None:
        super().verify_()
        verify_fragment(self.mma_atom, "E", self.e.type)
        self.mma_atom.check_selectors((self.selector.value.data,))
