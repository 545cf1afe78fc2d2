"""Why the operands of a legal mnemonic are illegal, and the legal ones nearest to them."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.cute_nvgpu.lattice.undocumented import UNDOCUMENTED_SELECTORS
from tilewright.tools.instructions.catalogue import listings, operand_lists
from tilewright.tools.instructions.operand_forms import Constant, Misfit, OperandForm
from tilewright.tools.instructions.ptx_operands import Written, read


def fit(mnemonic: str, operands: Sequence[Written], arch: str | None) -> bool:
    """Whether a mnemonic of the lattice takes these operands on a target; on one or other, where it
    is None."""
    return any(_fits(forms, operands, arch) for forms in operand_lists(mnemonic))


def _fits(forms: Sequence[OperandForm], operands: Sequence[Written], arch: str | None) -> bool:
    if not _required(forms) <= len(operands) <= len(forms):
        return False
    pairs = zip(forms, operands, strict=False)
    return all(_misfit(form, written, arch) is None for form, written in pairs)


def _misfit(form: OperandForm, written: Written, arch: str | None) -> Misfit | None:
    """What is wrong with an operand, or with its being there on the target."""
    found = form.misfit(written)
    if found is not None or arch is None or not isinstance(form, Constant) or form.target is None:
        return found
    if target(arch).supports(form.target):
        return None
    return Misfit(f"nothing on {arch} (it requires {form.target.at_least})", "nothing")


def why_illegal_operands(
    mnemonic: str, operands: Sequence[Written], arch: str | None
) -> str | None:
    """What is wrong with the number of the operands, or with the first one that does not fit; None
    where they are legal."""
    lists = operand_lists(mnemonic)
    if any(_fits(forms, operands, arch) for forms in lists):
        return None
    forms = max(lists, key=lambda each: _likeness(each, operands))
    if not _required(forms) <= len(operands) <= len(forms):
        return _wrong_number(mnemonic, forms, operands)
    for form, written in zip(forms, operands, strict=False):
        if (misfit := _misfit(form, written, arch)) is not None:
            return _wrong(mnemonic, form, written, misfit)
    return None


def _likeness(forms: Sequence[OperandForm], operands: Sequence[Written]) -> list[bool]:
    """Which operands are of the kind that a list has there; the first ones count most."""
    pairs = zip(forms, operands, strict=False)
    return [read(form.spelling)[0].kind == written.kind for form, written in pairs]


def _required(forms: Sequence[OperandForm]) -> int:
    return sum(not form.optional for form in forms)


def _wrong_number(mnemonic: str, forms: Sequence[OperandForm], operands: Sequence[Written]) -> str:
    names = ", ".join(form.name + (" or not" if form.optional else "") for form in forms)
    required = _required(forms)
    most = f" to {len(forms)}" if len(forms) > required else ""
    wanted = max(required, min(len(operands), len(forms)))
    near = [
        operands[place].text
        if place < len(operands) and form.misfit(operands[place]) is None
        else form.spelling
        for place, form in enumerate(forms[:wanted])
    ]
    return (
        f"{mnemonic} expected {required}{most} operands ({names}), got {len(operands)} "
        f"(PTX ISA {listings()[mnemonic].section}); nearest legal: {', '.join(near)}"
    )


def _wrong(mnemonic: str, form: OperandForm, written: Written, misfit: Misfit) -> str:
    why = f"PTX ISA {form.section}"
    if misfit.replaced is not None:
        why = f"undocumented: ptxas takes {misfit.replaced}, {why}"
    for row in UNDOCUMENTED_SELECTORS:
        known = written.kind == "integer" and written.value in row.values
        if form.name == row.operand and known and row.pattern.fullmatch(mnemonic):
            why = f"undocumented: ptxas takes it, but {row.rule}, PTX ISA {row.section}"
    return (
        f"{mnemonic} expected {misfit.expected} as {form.name}, got {written.text or 'nothing'} "
        f"({why}); nearest legal: {misfit.nearest}"
    )
