"""What is listed beside the tensor cores' instructions is legal exactly where ptxas takes it."""

from __future__ import annotations

import pytest
from covering import THOROUGH

from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS
from tilewright.tools.conformance.documented_targets import KNOWN
from tilewright.tools.conformance.listed_operands import (
    disagreements,
    listings,
    quirk,
    right,
    sample,
)

INSTRUCTIONS = 100
SEED = 13


@pytest.mark.parametrize("target", ["sm_75", "sm_90a", "sm_100a", "sm_120a"])
def test_operands(target: str) -> None:
    found = disagreements(sample(INSTRUCTIONS, SEED, target), target)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("target", KNOWN if THOROUGH else KNOWN[::3])
def test_one_mnemonic_of_every_row_for_every_target(target: str) -> None:
    lines: list[str] = []
    for row in listings():
        mnemonic = row.mnemonics[0]
        operands = [right(form) for form in row.operands(mnemonic) if not form.optional]
        lines.append(f"{mnemonic} {', '.join(operands)};")
    assert any(row.target != TARGETS["sm_70"] for row in listings())
    found = disagreements(lines, target)
    assert not found, "\n".join(found)


def test_quirks_are_few() -> None:
    lines = sample(1 << 30, SEED, "sm_100a")
    assert 0 < sum(map(quirk, lines)) < len(lines) / 100
