"""Matrix multiply-accumulate in tensor memory: `tcgen05.mma`, dense, sparse, block-scaled and
weight-stationary. PTX ISA, tcgen05.mma."""

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def

from tilewright.dialects.cute_nvgpu.atoms.operands import umma_operands
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom, UmmaFragmentKind
from tilewright.dialects.cute_nvgpu.atoms.umma_lookup import umma_of
from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import UmmaMnemonic, parse_mnemonic
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.sm100 import (
    LANE_MASK_WORDS,
    LARGEST_INPUT_SCALE,
    LONG_K,
    SCALES_INPUT,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.cute_nvgpu.ops.cta_group import CtaGroupOp
from tilewright.dialects.fields import NUMBER, Field, fields_op
from tilewright.dialects.illegal import Illegal
from tilewright.dialects.ptx.instruction import PtxOp, content
from tilewright.dialects.ptx.registers import ConstOp
from tilewright.dialects.ptx.types import B32, B64, PRED, RegType, reg

_PREFIX = "tcgen05.mma."


@fields_op("ptx.tcgen05.mma")
class Tcgen05MmaOp(PtxOp, CtaGroupOp):
    """`tcgen05.mma... [d], a, b-desc{, [sp-meta]}, idesc{, lanes}{, [sfa], [sfb]}, enable-input-d;`

    ```mlir
    ptx.tcgen05.mma "cta_group::1.kind::f16" %d, %a, %b, %idesc enable_input_d %p : !ptx.reg<b64>
    ```

    The form is the mnemonic without `tcgen05.mma.`. `a` is a descriptor or, in a 32-bit register,
    an address of tensor memory. Without the predicate it accumulates always or, with `zero`, never.
    `lanes` are the words of disable-output-lane, a list of registers.
    """

    ASKS_OPERANDS = True

    d = operand_def(B32)
    a = operand_def(RegType)
    b = operand_def(B64)
    idesc = operand_def(B32)
    metadata = opt_operand_def(B32)
    lanes = opt_operand_def(RegType)
    sfa = opt_operand_def(B32)
    sfb = opt_operand_def(B32)
    enable_input_d = opt_operand_def(PRED)
    zero_column_mask = opt_operand_def(B64)

    form = prop_def(StringAttr)
    zero = opt_prop_def(UnitAttr)
    scale_input_d = opt_prop_def(NUMBER)

    assembly_format = (
        "$form $d `,` $a `,` $b `,` $idesc (`metadata` $metadata^)? (`lanes` $lanes^ `:` "
        "type($lanes))? (`scales` $sfa^ `,` $sfb)? (`enable_input_d` $enable_input_d^)? (`zero` "
        "$zero^)? (`scale_input_d` $scale_input_d^)?"
    )

    def __init__(
        self,
        mnemonic: str,
        d: SSAValue,
        a: SSAValue,
        b: SSAValue,
        idesc: SSAValue,
        *,
        scales: tuple[SSAValue, SSAValue] | None,
        scale_input_d: int,
        **fields: Field,
    ):
        sfa, sfb = (None, None) if scales is None else scales
        form = mnemonic.removeprefix(_PREFIX)
        super().__init__(
            d, a, b, idesc, form, sfa=sfa, sfb=sfb, scale_input_d=scale_input_d or None, **fields
        )

    @property
    def mnemonic(self) -> str:
        return _PREFIX + self.form.data

    @property
    def said(self) -> UmmaMnemonic:
        """The parts of the mnemonic. Raises AtomError where it is none."""
        return parse_mnemonic(self.mnemonic)

    @property
    def group(self) -> int:
        return self.said.cta_group

    @property
    def sources(self) -> dict[str, SSAValue]:
        """Its tensors by operand."""
        tensors = {
            "A": self.a, "B": self.b, "D": self.d, "E": self.metadata, "SFA": self.sfa,
            "SFB": self.sfb,
        }  # fmt: skip
        return {name: value for name, value in tensors.items() if value is not None}

    @property
    def mma_atom(self) -> UmmaAtom | None:
        """The atom that it issues, where its instruction descriptor is a constant."""
        owner = self.idesc.owner
        return self.atom_of(owner.unsigned) if isinstance(owner, ConstOp) else None

    def atom_of(self, idesc: int) -> UmmaAtom:
        """The atom that it issues with an instruction descriptor. Raises AtomError or
        DescriptorError where there is none."""
        return umma_of(self.mnemonic, idesc, "ss" if self.a.type == B64 else "ts")

    @property
    def lane_mask(self) -> Sequence[SSAValue]:
        """The words of disable-output-lane, a list of registers."""
        return () if self.lanes is None else (self.lanes,)

    @property
    def shifts_a(self) -> bool:
        """True where the rows of A move up by one, but the last."""
        return self.said.ashift

    @property
    def input_scale(self) -> int:
        """D is multiplied by 2 to minus this first."""
        return content(self.scale_input_d) or 0

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        place = "ss" if self.a.type == B64 else "ts"
        return _operand_forms(self.mnemonic, place, self.lanes is not None)

    @property
    def accumulates(self) -> SSAValue | int:
        """The predicate by which it does, or whether it always does."""
        return int(self.zero is None) if self.enable_input_d is None else self.enable_input_d

    def requirement(self) -> Requirement:
        spelling, needed = self.said.spelling, self.said.spelling.target
        if (atom := self.mma_atom) is not None and atom.row.k == LONG_K:
            needed = atom.row.target
        elif self.scale_input_d is not None:
            needed = SCALES_INPUT
        return Requirement(needed, spelling.ptx_version)

    def verify_(self) -> None:
        said = self.said
        _ = self.mma_atom
        self.verify_group()
        if self.a.type not in (B64, B32):
            raise Illegal(
                f"operand A expected {reg('b64')} (a descriptor) or {reg('b32')} (an "
                f"address), got {self.a.type}"
            )
        self._verify_presence(said)
        self._verify_modifiers(said)

    def _verify_presence(self, said: UmmaMnemonic) -> None:
        row = said.rows[0]
        for what, given, expected in (
            ("metadata", self.metadata is not None, row.sparse),
            ("scale factors of A", self.sfa is not None, row.scale is not None),
            ("scale factors of B", self.sfb is not None, row.scale is not None),
        ):
            if given != expected:
                raise self.fail(f"{'' if expected else 'no '}{what} ({self.mnemonic})")
        if self.enable_input_d is not None and self.zero is not None:
            raise self.fail("enable_input_d or zero, got both")
        if self.zero_column_mask is not None and not row.ws:
            raise self.fail(f"no zero-column mask ({self.mnemonic} is not weight-stationary)")

    def _verify_modifiers(self, said: UmmaMnemonic) -> None:
        row = said.rows[0]
        if self.scale_input_d is not None and not row.scales_input:
            raise self.fail(f"no scale_input_d, got {self.input_scale} ({self.mnemonic})")
        if not 0 <= self.input_scale <= LARGEST_INPUT_SCALE:
            nearest = min(max(self.input_scale, 0), LARGEST_INPUT_SCALE)
            raise self.fail(
                f"scale_input_d of 0 to {LARGEST_INPUT_SCALE}, got {self.input_scale}; nearest "
                f"legal: {nearest}"
            )
        if said.ashift and self.a.type != B32:
            raise self.fail(
                f"the address of an A in tensor memory to shift, got {self.a.type}; nearest legal: "
                f"{reg('b32')}"
            )
        legal = reg("b32", LANE_MASK_WORDS[said.cta_group])
        if self.lanes is not None and (row.ws or row.scale is not None or self.lanes.type != legal):
            wanted = "no lanes" if row.ws or row.scale is not None else f"lanes of {legal}"
            raise self.fail(f"{wanted}, got {self.lanes.type} ({self.mnemonic})")


@cache
def _operand_forms(mnemonic: str, place: UmmaFragmentKind, masked: bool) -> Sequence[OperandForm]:
    return umma_operands(parse_mnemonic(mnemonic), place, masked=masked)
