"""A row of an instruction that has neither shape nor layout: what it does, and its operands."""

from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.targets import NeedingRow, Requirement
from tilewright.dialects.frozen import frozen


@frozen
class InstructionRow(NeedingRow):
    """An instruction.

    `op` is its op in IR, `does` what it does in words, `mnemonics` all its forms, that of the op
    first; `operands` stand in PTX's order. Where one may have other operands instead,
    `alternatives` gives those lists. `threads` says who issues it, where not each for itself.
    """

    op: str
    does: str
    mnemonics: tuple[str, ...]
    needs: Requirement
    section: str
    operands: tuple[OperandForm, ...] = ()
    alternatives: tuple[tuple[OperandForm, ...], ...] = ()
    threads: str = ""

    @property
    def mnemonic(self) -> str:
        """That of the op."""
        return self.mnemonics[0]
