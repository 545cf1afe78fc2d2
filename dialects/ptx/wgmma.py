"""Matrix multiply-accumulate of a warpgroup: `wgmma.mma_async` and what orders it.

PTX ISA 9.7.15.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, UnitAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, result_def

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.operands import wgmma_operands
from tilewright.dialects.cute_nvgpu.atoms.wgmma import (
    LEGAL_IMMEDIATES,
    FragmentKind,
    Immediate,
    WgmmaAtom,
)
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import parse_wgmma
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import MAJOR_MODES
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.row import Operand
from tilewright.dialects.cute_nvgpu.ops import wgmma_sync
from tilewright.dialects.fields import NUMBER, Field, fields_op
from tilewright.dialects.ptx.instruction import AlignedOp, Given, numbers, twin
from tilewright.dialects.ptx.types import B32, B64, PRED, RegType


@fields_op("ptx.wgmma.mma_async")
class WgmmaOp(AlignedOp):
    """`wgmma.mma_async{.sp}.sync.aligned... d, a, b-desc{, sp-meta, sp-sel}, scale-d, ...;`

    ```mlir
    %d = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %a, %b, %c scale_d %p immediates [1, 1, 0, 0]
       : !ptx.reg<b64>, !ptx.reg<f32 x 4>
    ```

    The form is the mnemonic without `wgmma.mma_async.` and `sync.aligned.`. `a` is a descriptor or
    a list of registers; `d` has the registers of `c`, which the instruction reads and writes.
    Without the predicate `scale_d` it accumulates always or, with `zero`, never. `immediates` are
    those after scale-d, in PTX's order. PTX ISA 9.7.15.5.2 and 9.7.15.6.3.
    """

    a = operand_def(RegType)
    b = operand_def(B64)
    c = operand_def(RegType)
    metadata = opt_operand_def(B32)
    scale_d = opt_operand_def(PRED)
    d = result_def(RegType)

    selector = opt_prop_def(NUMBER)
    zero = opt_prop_def(UnitAttr)
    immediates = opt_prop_def(DenseArrayBase.constr(i64))

    assembly_format = "$form $a `,` $b `,` $c (`,` $metadata^ `[` $selector `]`)?"

    def __init__(
        self,
        a: SSAValue,
        b: SSAValue,
        c: SSAValue,
        atom: WgmmaAtom,
        *,
        negated: tuple[bool, bool],
        **fields: Field,
    ):
        flags = {
            "imm-scale-a": negated[0],
            "imm-scale-b": negated[1],
            "imm-trans-a": atom.majors[0] == "mn",
            "imm-trans-b": atom.majors[1] == "mn",
        }
        immediates = [LEGAL_IMMEDIATES[name][flags[name]] for name in atom.immediates]
        form = self.form_of(atom.mnemonic)
        super().__init__(a, b, c, c.type, form, immediates=immediates or None, **fields)

    @property
    def mma_atom(self) -> WgmmaAtom:
        """The atom, its operands where they are. Raises AtomError where there is none."""
        atom = parse_wgmma(self.mnemonic)
        atom = replace(atom, frag_kind="ss" if self.a.type == B64 else "rs")
        values = self.immediate_values(atom)
        majors = [values.get(name, 0) for name in ("imm-trans-a", "imm-trans-b")]
        return replace(atom, majors=(MAJOR_MODES[majors[0]], MAJOR_MODES[majors[1]]))

    def immediate_values(self, atom: WgmmaAtom) -> dict[Immediate, int]:
        """The immediates by name. Raises AtomError unless they are those of the atom."""
        given = numbers(self.immediates)
        if len(given) != len(atom.immediates):
            raise AtomError(
                f"{atom.mnemonic} expected immediates {', '.join(atom.immediates) or 'none'}, "
                f"got {len(given)}"
            )
        values = dict(zip(atom.immediates, given, strict=True))
        for name, value in values.items():
            if value not in (legal := LEGAL_IMMEDIATES[name]):
                nearest = min(legal, key=lambda choice: abs(choice - value))
                raise AtomError(
                    f"{atom.mnemonic} expected {name} {legal[0]} or {legal[1]}, got {value}; "
                    f"nearest legal: {nearest}"
                )
        return values

    @property
    def negated(self) -> tuple[bool, bool]:
        """For A and B each, True where it is negated."""
        values = self.immediate_values(self.mma_atom)
        return values.get("imm-scale-a", 1) == -1, values.get("imm-scale-b", 1) == -1

    @property
    def row(self) -> Any:
        return self.mma_atom.row

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return _operand_forms(self.mnemonic, "ss" if self.a.type == B64 else "rs")

    def operand_values(self) -> Mapping[str, Given]:
        given = zip(self.mma_atom.immediates, numbers(self.immediates), strict=True)
        return {**super().operand_values(), **dict(given)}

    @property
    def accumulates(self) -> SSAValue | int:
        """The predicate by which it does, or whether it always does."""
        return int(self.zero is None) if self.scale_d is None else self.scale_d

    def verify_(self) -> None:
        atom = self.mma_atom
        if self.selector is not None:
            atom.check_selectors((self.selector.value.data,))
        if {self.metadata is not None, self.selector is not None} != {atom.row.sparse}:
            expected = "metadata and a selector" if atom.row.sparse else "no metadata"
            raise self.fail(f"{expected} ({atom.mnemonic})")
        if self.scale_d is not None and self.zero is not None:
            raise self.fail("scale_d or zero, got both")
        vectors: dict[Operand, SSAValue] = {"C": self.c, "D": self.d}
        if atom.frag_kind == "rs":
            vectors["A"] = self.a
        self.verify_registers(atom, vectors)


@cache
def _operand_forms(mnemonic: str, kind: FragmentKind) -> Sequence[OperandForm]:
    return wgmma_operands(replace(parse_wgmma(mnemonic), frag_kind=kind))


WgmmaFenceOp = twin(wgmma_sync.WgmmaFenceOp)
WgmmaCommitGroupOp = twin(wgmma_sync.WgmmaCommitGroupOp)
WgmmaWaitGroupOp = twin(wgmma_sync.WgmmaWaitGroupOp)
FenceProxyAsyncOp = twin(wgmma_sync.FenceProxyAsyncOp)
