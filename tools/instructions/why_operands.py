"""Why the operands of a legal mnemonic are illegal, and the legal ones nearest to them."""

from collections.abc import Iterator, Sequence

from tilewright.dialects.cute_nvgpu.lattice.data_movement import SPECIAL_REGISTERS
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Choice, Misfit, OperandForm
from tilewright.dialects.cute_nvgpu.lattice.operand_text import Written, read
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.cute_nvgpu.lattice.undocumented import UNDOCUMENTED_SELECTORS
from tilewright.tools.instructions.catalogue import operand_lists, section


def fit(mnemonic: str, operands: Sequence[Written], arch: str | None) -> bool:
    """True where a mnemonic of the lattice takes these operands on a target; on one or other, where
    it is None."""
    return any(_fits(forms, operands, arch) for forms in operand_lists(mnemonic))


def _fits(forms: Sequence[OperandForm], operands: Sequence[Written], arch: str | None) -> bool:
    if not _required(forms) <= len(operands) <= len(forms):
        return False
    return next(_misfits(forms, operands, arch), None) is None


def _misfits(
    forms: Sequence[OperandForm], operands: Sequence[Written], arch: str | None
) -> Iterator[tuple[OperandForm, Written, Misfit]]:
    """The fault of operands, or of their being there on the target."""
    before: Written | None = None
    for form, written in zip(forms, operands, strict=False):
        misfit = form.misfit(written) or _beyond(form, written, before)
        if misfit is None and arch is not None:
            needed = SPECIAL_REGISTERS.get(written.text, form.target)
            if needed is not None and not target(arch).supports(needed):
                expected = "nothing" if form.target is not None else "another register"
                expected += f" on {arch} (it requires {needed.at_least})"
                misfit = Misfit(expected, "nothing" if form.target is not None else form.spelling)
        if misfit is not None:
            yield form, written, misfit
        before = written


def _beyond(form: OperandForm, written: Written, before: Written | None) -> Misfit | None:
    """The fault of a constant that the operand before it bounds."""
    if not isinstance(form, Choice) or not form.bounded or before is None:
        return None
    if written.kind != "integer" or written.value <= before.value:
        return None
    return Misfit(f"a register or an integer of 0 to {before.value}", str(before.value))


def why_illegal_operands(
    mnemonic: str, operands: Sequence[Written], arch: str | None
) -> str | None:
    """The fault of the number of the operands, or of the first one that does not fit; None
    where they are legal."""
    lists = operand_lists(mnemonic)
    if any(_fits(forms, operands, arch) for forms in lists):
        return None
    forms = max(lists, key=lambda forms: _likeness(forms, operands))
    if not _required(forms) <= len(operands) <= len(forms):
        return _wrong_number(mnemonic, forms, operands)
    return _wrong(mnemonic, *next(_misfits(forms, operands, arch)))


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
        f"(PTX ISA {section(mnemonic)}); nearest legal: {', '.join(near)}"
    )


def _wrong(mnemonic: str, form: OperandForm, written: Written, misfit: Misfit) -> str:
    why = f"PTX ISA {form.section or section(mnemonic)}"
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
