"""`cute_nvgpu.sm80.mma`: one dense `mma.sync` of a warp."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute import equivalent
from tilewright.dialects.cute_nvgpu.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.attributes import MLIR_TYPES, FragmentType, Sm80MmaAtomType
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS, Operand


@irdl_op_definition
class MmaOp(IRDLOperation):
    """D = A * B + C on the fragments of one warp.

    ```mlir
    %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)>
       : (!cute_nvgpu.fragment<8xbf16>, !cute_nvgpu.fragment<4xbf16>,
          !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>
    ```

    Every thread of the warp executes it together (`.sync.aligned`). PTX ISA 9.7.14.5.14.
    """

    name = "cute_nvgpu.sm80.mma"

    a = operand_def()
    b = operand_def()
    c = operand_def()

    atom = prop_def(Sm80MmaAtomType)

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
            properties={"atom": Sm80MmaAtomType(atom)},
            result_types=[c.type if result_type is None else result_type],
        )

    def verify_(self) -> None:
        atom = self.atom.data
        for operand, value in zip(OPERANDS, (self.a, self.b, self.c, self.d), strict=True):
            verify_fragment(self.name, atom, operand, value.type)


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
