"""What the MMAs of one warp share, whose operands all live in registers."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, operand_def, result_def, traits_def
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute import equivalent
from tilewright.dialects.cute_nvgpu.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.attributes import MLIR_TYPES, MMA_ATOM_TYPES, FragmentType
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS, Operand


class RegisterMmaOp(IRDLOperation):
    """D = A * B + C on the fragments of one warp.

    Every thread of the warp executes it together (`.sync.aligned`). PTX ISA 9.7.14.5.14.
    """

    a = operand_def()
    b = operand_def()
    c = operand_def()

    d = result_def()

    traits = traits_def(NoMemoryEffect())

    assembly_format = "$a `,` $b `,` $c $atom attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        a: SSAValue,
        b: SSAValue,
        c: SSAValue,
        atom: MmaAtom,
        result_type: Attribute | None = None,
    ):
        super().__init__(
            operands=[a, b, c],
            properties={"atom": MMA_ATOM_TYPES[atom.op](atom)},
            result_types=[c.type if result_type is None else result_type],
        )

    @property
    def mma_atom(self) -> MmaAtom:
        """The atom that it issues."""
        raise NotImplementedError

    def verify_(self) -> None:
        values = (self.a, self.b, self.c, self.d)
        for operand, value in zip(OPERANDS, values, strict=True):
            verify_fragment(self.name, self.mma_atom, operand, value.type)


def verify_fragment(op: str, atom: MmaAtom, operand: Operand, type_: Attribute) -> None:
    """Raise VerifyException unless the type is the atom's fragment of that operand."""
    where = f"'{op}' operand {operand}" if operand != "D" else f"'{op}' result D"
    element, count = atom.element(operand), atom.values(operand)
    legal = FragmentType.get(count, MLIR_TYPES[element.name])
    if not isinstance(type_, FragmentType):
        raise VerifyException(
            f"{where} expected a register fragment, got {type_} "
            f"({atom.mnemonic} takes registers); nearest legal: {legal}"
        )
    if type_.element.name != element.name:
        raise VerifyException(
            f"{where} expected element type {element.mlir}, got {type_.element_type} "
            f"({atom.mnemonic}); nearest legal: {legal}"
        )
    if type_.count.data != count:
        raise VerifyException(
            f"{where} expected {count} elements a thread, got {type_.count.data} "
            f"({atom.mnemonic}); nearest legal: {legal}"
        )
    declared, canonical = type_.tv_layout, atom.tv_layout(operand)
    if declared is not None and declared != canonical and not equivalent(declared, canonical):
        raise VerifyException(
            f"{where} expected layout {canonical}, got {declared} "
            f"({atom.mnemonic}, PTX ISA {atom.row.section})"
        )
