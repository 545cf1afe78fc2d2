"""Arithmetic of each thread on the registers of fragments."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import (
    BaseAttr,
    VarConstraint,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.universal_fma import UniversalFma, fma_of
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.cute_nvgpu.ops.instruction import BaselineOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.fields import fields_op


@fields_op("cute_nvgpu.fragment.fma")
class FmaOp(BaselineOp):
    """d = a * b + c, element by element, each rounded once: `fma.rn` on f32, f64, f16x2, bf16x2.

    ```mlir
    %d = cute_nvgpu.fragment.fma %a, %b, %c : !cute_nvgpu.fragment<2xf16>
    ```

    PTX ISA 9.7.3.6 and 9.7.4.4.
    """

    T: ClassVar = VarConstraint("T", BaseAttr(FragmentType))
    a = operand_def(T)
    b = operand_def(T)
    c = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$a `,` $b `,` $c attr-dict `:` type($result)"

    @property
    def fma(self) -> UniversalFma:
        """The instruction. Raises AtomError where there is none."""
        return fma_of(self.result.type.element.name)

    def requirement(self) -> Requirement:
        return self.fma.form.requirement

    def verify_(self) -> None:
        try:
            _ = self.fma
        except AtomError as error:
            raise VerifyException(f"'{self.name}' {error}") from None
