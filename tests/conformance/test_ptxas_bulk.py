"""Many instructions asked of ptxas at once are judged as each alone is."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pytest
from covering import THOROUGH

from tilewright.launch.ptxas import PtxasReport
from tilewright.tools.conformance.documented_targets import KNOWN
from tilewright.tools.conformance.lattice import FAMILIES, Task
from tilewright.tools.conformance.operand_text import product_operands, registers
from tilewright.tools.conformance.ptxas_bulk import kernel, taken


def _mma(shape: str, a: str) -> str:
    (operands,) = product_operands(shape, ("f32", a, a, "f32"))
    return f"mma.sync.aligned.{shape}.row.col.f32.{a}.{a}.f32 {operands};"


R8 = registers("%r", 8)
LEGAL = _mma("m16n8k8", "tf32")
REFUSED = {
    "the parser": _mma("m16n8k2", "tf32"),
    "the check behind the parser": _mma("m16n8k16", "tf32"),
    "the parser, and crashes": (
        f"wmma.mma.sync.aligned.row.row.m8n8k32.f16.f16 {{%r0}}, {R8}, {R8}, {{%r0}};"
    ),
    "its own builtin, and what follows": (
        f"wmma.load.a.sync.aligned.row.m16n16k16.global.f64 {registers('%fd', 8)}, [%rd0];"
    ),
}


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED)
def test_every_stage_refuses_its_own(refused: str) -> None:
    mixed = [LEGAL, refused, LEGAL, LEGAL, refused, refused, LEGAL] * 10
    assert taken(mixed, "sm_90a") == [line == LEGAL for line in mixed]


def test_all_refusals_together() -> None:
    mixed = [LEGAL, *REFUSED.values(), LEGAL, *reversed(REFUSED.values()), LEGAL] * 10
    assert taken(mixed, "sm_90a") == [line == LEGAL for line in mixed]


def test_an_older_target_takes_less() -> None:
    assert taken([LEGAL], "sm_80") == [True]
    assert taken([LEGAL], "sm_75") == [False]
    assert taken([], "sm_75") == []


@pytest.mark.parametrize("target", KNOWN)
def test_every_target_is_known_to_ptxas(target: str) -> None:
    nothing = "mov.b32 %r0, %r1;"
    assert taken([nothing, "mov.b32 %r0, %q;"], target) == [True, False]


def test_an_unknown_target_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="does not know compute_70"):
        taken([LEGAL], "sm_70")


TARGET = "sm_120a"


@pytest.fixture(scope="module")
def verdicts() -> dict[str, dict[str, bool]]:
    """Of a sample of each family, all asked at once."""
    drawn = {
        family: [
            each.instructions[0]
            for each in Task(family, (TARGET,), sample=(16, 5)).candidates(TARGET)
        ]
        for family in FAMILIES
    }
    answers = iter(taken([line for lines in drawn.values() for line in lines], TARGET))
    return {
        family: dict(zip(lines, islice(answers, len(lines)), strict=True))
        for family, lines in drawn.items()
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_in_bulk_as_alone(
    family: str, verdicts: dict[str, dict[str, bool]], ptxas: Callable[..., PtxasReport]
) -> None:
    said = verdicts[family]
    # Alone, each is a run of ptxas: one that the bulk takes and one that it refuses.
    legal, refused = ([line for line in said if said[line] is ok] for ok in (True, False))
    chosen = list(said) if THOROUGH else [*legal[:1], *refused[:1]]
    alone = [
        ptxas(kernel([line], TARGET, "k")[0], TARGET, verbose=False, options=["-O0"]).ok
        for line in chosen
    ]
    assert [said[line] for line in chosen] == alone
    assert not all(alone)
