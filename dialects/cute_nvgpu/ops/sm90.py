"""`cute_nvgpu.sm90.mma` and `sm90.sparse_mma`: one `wgmma.mma_async` of a warpgroup."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import WGMMA, MajorMode
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.ops.register_mma import check_fragment
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.dialects.cute_nvgpu.types.wgmma import (
    WGMMA_ATOM_TYPES,
    Sm90MmaAtomType,
    Sm90SparseMmaAtomType,
)


class WarpgroupMmaOp(IRDLOperation):
    """D = A * B + C, asynchronous, on the matrices of a warpgroup.

    B and, unless it is a register fragment, A are matrices in shared memory. D is C's registers: it
    may be read once `wgmma.wait_group` has waited for the group that `wgmma.commit_group` put this
    op into, except as the C of an op of the same shape. Where `scale_d` is false, D = A * B.
    `negate_a` and `negate_b` negate the elements of A and B. The operands stand in the classes of
    the ops: xDSL puts a subclass's before those of its base. PTX ISA 9.7.15.5.2 and 9.7.15.6.3.
    """

    d = result_def(FragmentType)

    @property
    def multiplicands_and_c(self) -> tuple[SSAValue, SSAValue, SSAValue]:
        """A, B and C."""
        a, b, c, *_ = self.operands
        return a, b, c

    @property
    def mma_atom(self) -> WgmmaAtom:
        """The atom that it issues."""
        raise NotImplementedError

    @property
    def accumulates_if(self) -> SSAValue | None:
        """The predicate `scale_d`; None where it always accumulates."""
        raise NotImplementedError

    @property
    def negated(self) -> tuple[bool, bool]:
        """Whether A and B are negated."""
        return "negate_a" in self.properties, "negate_b" in self.properties

    def verify_(self) -> None:
        atom, (a, b, c) = self.mma_atom, self.multiplicands_and_c
        if atom.frag_kind == "rs":
            _verify_fragment(self.name, atom, "A", a.type)
        else:
            _verify_matrix(self.name, atom, "A", a.type)
        _verify_matrix(self.name, atom, "B", b.type)
        _verify_fragment(self.name, atom, "C", c.type)
        _verify_fragment(self.name, atom, "D", self.d.type)
        if any(self.negated) and not atom.row.negates:
            raise VerifyException(
                f"'{self.name}' expected no negate_a or negate_b, got one (only floating-point "
                f"multiplicands are negated; {atom.mnemonic}, PTX ISA {atom.row.section})"
            )


def _negations(negate_a: bool, negate_b: bool) -> dict[str, Attribute]:
    named = {"negate_a": negate_a, "negate_b": negate_b}
    return {name: UnitAttr() for name, there in named.items() if there}


@irdl_op_definition
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

    name = "cute_nvgpu.sm90.mma"

    a = operand_def()
    b = operand_def(SmemDescViewType)
    c = operand_def(FragmentType)
    scale_d = opt_operand_def(i1)
    atom = prop_def(Sm90MmaAtomType)
    negate_a = opt_prop_def(UnitAttr)
    negate_b = opt_prop_def(UnitAttr)

    assembly_format = (
        "$a `,` $b `,` $c (`scale_d` $scale_d^)? (`negate_a` $negate_a^)? (`negate_b` $negate_b^)?"
        " $atom attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        a: SSAValue,
        b: SSAValue,
        c: SSAValue,
        atom: WgmmaAtom,
        *,
        scale_d: SSAValue | None = None,
        negate_a: bool = False,
        negate_b: bool = False,
    ):
        properties: dict[str, Attribute] = {"atom": WGMMA_ATOM_TYPES[atom.op](atom)}
        super().__init__(
            operands=[a, b, c, scale_d],
            properties=properties | _negations(negate_a, negate_b),
            result_types=[c.type],
        )

    @property
    def mma_atom(self) -> WgmmaAtom:
        return self.atom.data

    @property
    def accumulates_if(self) -> SSAValue | None:
        return self.scale_d


@irdl_op_definition
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

    name = "cute_nvgpu.sm90.sparse_mma"

    a = operand_def()
    b = operand_def(SmemDescViewType)
    c = operand_def(FragmentType)
    e = operand_def(FragmentType)
    scale_d = opt_operand_def(i1)
    atom = prop_def(Sm90SparseMmaAtomType)
    selector = prop_def(IntegerAttr.constr(type=i64))
    negate_a = opt_prop_def(UnitAttr)
    negate_b = opt_prop_def(UnitAttr)

    assembly_format = (
        "$a `,` $b `,` $c `,` $e `[` $selector `]` (`scale_d` $scale_d^)?"
        " (`negate_a` $negate_a^)? (`negate_b` $negate_b^)?"
        " $atom attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        a: SSAValue,
        b: SSAValue,
        c: SSAValue,
        e: SSAValue,
        atom: WgmmaAtom,
        *,
        selector: int = 0,
        scale_d: SSAValue | None = None,
        negate_a: bool = False,
        negate_b: bool = False,
    ):
        properties: dict[str, Attribute] = {
            "atom": WGMMA_ATOM_TYPES[atom.op](atom),
            "selector": IntegerAttr(selector, i64),
        }
        super().__init__(
            operands=[a, b, c, e, scale_d],
            properties=properties | _negations(negate_a, negate_b),
            result_types=[c.type],
        )

    @property
    def mma_atom(self) -> WgmmaAtom:
        return self.atom.data

    @property
    def accumulates_if(self) -> SSAValue | None:
        return self.scale_d

    def verify_(self) -> None:
        super().verify_()
        _verify_fragment(self.name, self.mma_atom, "E", self.e.type)
        try:
            self.mma_atom.check_selector(self.selector.value.data)
        except AtomError as error:
            raise VerifyException(f"'{self.name}' {error}") from None


WGMMA_OPS: dict[str, type[WarpgroupMmaOp]] = {
    op.name.removeprefix("cute_nvgpu."): op for op in (MmaOp, SparseMmaOp)
}
"""Every op that issues an MMA of a warpgroup, by its op in the lattice."""


def _verify_fragment(op: str, atom: WgmmaAtom, operand: str, type_: Attribute) -> None:
    where = f"'{op}' {'result' if operand == 'D' else 'operand'} {operand}"
    check_fragment(
        where, type_, atom.element(operand), atom.tv_layout(operand), atom.mnemonic,
        atom.row.section,
    )  # fmt: skip


def _verify_matrix(op: str, atom: WgmmaAtom, operand: str, type_: Attribute) -> None:
    """Raise VerifyException unless the type is the atom's matrix of that operand."""
    where, element = f"'{op}' operand {operand}", atom.element(operand)
    major = atom.majors["AB".index(operand)]
    rows, columns = atom.extents(operand)
    legal = f"!cute_nvgpu.smem_desc_view<{rows}x{columns}x{element.mlir}, ...>"
    if not isinstance(type_, SmemDescViewType):
        raise VerifyException(
            f"{where} expected a matrix in shared memory, got {type_} "
            f"(frag_kind = {atom.frag_kind}); nearest legal: {legal}"
        )
    if type_.format is not WGMMA:
        raise VerifyException(
            f"{where} expected a descriptor of {WGMMA.name}, got one of {type_.format.name} "
            f"({atom.mnemonic}); nearest legal: {legal}"
        )
    if type_.element is not element or type_.extents != (rows, columns):
        raise VerifyException(
            f"{where} expected {rows}x{columns}x{element.mlir}, got "
            f"{type_.rows.data}x{type_.columns.data}x{type_.element_type} "
            f"({atom.mnemonic}); nearest legal: {legal}"
        )
    _verify_major(where, type_, major, element)


def _verify_major(
    where: str, type_: SmemDescViewType, major: MajorMode, element: ElementType
) -> None:
    found = type_.tile.major
    if found != major:
        raise VerifyException(
            f"{where} expected {'an MN' if major == 'mn' else 'a K'}-major matrix, as ab_major "
            f"says, got "
            f"{found.upper()}-major layout {type_.layout.data}; nearest legal: ab_major = {found} "
            f"(PTX ISA 9.7.15.5.1.2)"
        )
