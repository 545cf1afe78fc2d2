"""Judging one line: a PTX mnemonic, or a whole instruction with its operands."""

from tilewright.dialects.cute_nvgpu.lattice.operand_text import split
from tilewright.tools.instructions.catalogue import canonical, legal_mnemonics, runs
from tilewright.tools.instructions.why_mnemonic import is_judged, why_illegal_mnemonic
from tilewright.tools.instructions.why_operands import fit, why_illegal_operands


def is_legal(line: str, arch: str | None) -> bool | None:
    """True where the target runs it; one or other, where it is None. None for an instruction that
    is not judged: there are mnemonics of its kind beyond those that are listed."""
    if line in legal_mnemonics(arch):
        return True
    parts = split(line)
    if parts is None:
        return False
    mnemonic, operands = parts
    if not runs(mnemonic := canonical(mnemonic), arch):
        return False if is_judged(mnemonic) else None
    return operands is None or fit(mnemonic, operands, arch)


def why_illegal(line: str, arch: str | None) -> str | None:
    """Why it is illegal or not judged, and the nearest legal; None where it is legal."""
    parts = split(line)
    if parts is None:
        return f"expected one instruction a line, got '{line}'"
    mnemonic, operands = parts
    reason = why_illegal_mnemonic(mnemonic, arch)
    if reason is not None or operands is None:
        return reason
    return why_illegal_operands(canonical(mnemonic), operands, arch)
