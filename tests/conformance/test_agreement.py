"""A planted wrong verdict is found, whoever is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tilewright.tools.conformance.agreement import Disagreement, Oracles, Tally, compare
from tilewright.tools.conformance.instruction_family import spell
from tilewright.tools.conformance.lattice import FAMILIES, compare_all, sampled, table

TARGET = "sm_90a"
MMA = FAMILIES["mma"]
LISTED = next(p for p in MMA.points(range(len(MMA))) if MMA.documents(p, TARGET))
SILENT = LISTED | {"shape": "m16n8k128"}


def nothing(lines: Sequence[str], target: str) -> list[bool]:
    return [False] * len(lines)


def everything(lines: Sequence[str], target: str) -> list[bool]:
    return [True] * len(lines)


def undocumented(lines: Sequence[str], target: str) -> list[str]:
    return ["undocumented: ptxas takes it"] * len(lines)


def without_a_reason(lines: Sequence[str], target: str) -> list[str]:
    return ["no such shape"] * len(lines)


# ptxas, the verifier and its reasons, of a point that the ISA lists or of one that it does not.
RIGHT = [
    (LISTED, everything, everything, without_a_reason),
    (LISTED, nothing, nothing, without_a_reason),
    (SILENT, everything, nothing, undocumented),
    (SILENT, nothing, nothing, without_a_reason),
]
WRONG = [
    (LISTED, everything, nothing, undocumented, "is legal, the verifier rejects it"),
    (LISTED, nothing, everything, undocumented, "is refused by ptxas, the verifier takes it"),
    (SILENT, everything, everything, undocumented, "is undocumented, the verifier takes it"),
    (SILENT, nothing, everything, undocumented, "is refused by ptxas, the verifier takes it"),
    (SILENT, everything, nothing, without_a_reason, "the verifier says: no such shape"),
]


@pytest.mark.parametrize("point, taken, verdicts, reasons", RIGHT)
def test_agreement(point, taken, verdicts, reasons) -> None:
    tally = compare([spell(MMA, point)], TARGET, Oracles(taken, verdicts, reasons))["mma"]
    assert not tally.disagreements and tally.agreement == 100


@pytest.mark.parametrize("point, taken, verdicts, reasons, wrong", WRONG)
def test_disagreement(point, taken, verdicts, reasons, wrong: str) -> None:
    tally = compare([spell(MMA, point)], TARGET, Oracles(taken, verdicts, reasons))["mma"]
    [found] = tally.disagreements
    assert found.wrong.endswith(wrong)
    assert str(found).startswith(f"{TARGET} mma: mma.sync.aligned.")
    assert tally.agreement == 0


def test_a_point_counts_as_legal_or_as_undocumented() -> None:
    candidates = [spell(MMA, point) for point in (LISTED, SILENT, SILENT)]
    tally = compare(candidates, TARGET, Oracles(everything, nothing, undocumented))["mma"]
    assert (tally.points, tally.legal, tally.undocumented) == (3, 1, 2)


def test_ptxas_takes_a_candidate_where_it_takes_one_of_its_instructions() -> None:
    candidate = replace(spell(MMA, LISTED), instructions=("one", "other"))

    def the_other(lines: Sequence[str], target: str) -> list[bool]:
        return [line == "other" for line in lines]

    oracles = Oracles(the_other, everything, undocumented)
    assert compare([candidate], TARGET, oracles)["mma"].legal == 1


def test_tallies_add_up() -> None:
    total = Tally(points=3, legal=1)
    total.add(
        Tally(
            points=1, legal=1, undocumented=0, disagreements=[Disagreement("mma", TARGET, "", "")]
        )
    )
    assert (total.points, total.legal, total.agreement) == (4, 2, 75)


def test_one_lie_of_the_verifier_among_true_verdicts() -> None:
    """A verifier that is wrong about one instruction only."""
    lie = "ldmatrix.sync.aligned.m8n8.x2.shared.b16"
    truth = Oracles()

    def lying(lines: Sequence[str], target: str) -> list[bool]:
        said = truth.verdicts(lines, target)
        return [ok is not (line == lie) for line, ok in zip(lines, said, strict=True)]

    tasks = list(sampled(["ldmatrix"], ["sm_75"], 400, 0, replace(truth, verdicts=lying)))
    [tally] = compare_all(tasks).values()
    assert {str(point) for point in tally.disagreements} == {
        f"sm_75 ldmatrix: {lie} is legal, the verifier rejects it"
    }


def test_the_table() -> None:
    oracles = Oracles(nothing, everything, undocumented)
    tallies = compare_all(list(sampled(["movmatrix"], ["sm_75"], 8, 0, oracles)))
    head, row = table(tallies)
    assert head.split() == [
        *("family", "target", "points", "legal"),
        *("agree", "%", "undocumented", "disagreements"),
    ]
    assert row.split() == ["movmatrix", "sm_75", "8", "0", "0.00", "0", "8"]


def test_one_disagreement_of_many_is_seen_in_the_table() -> None:
    tally = Tally(points=1_000_000, disagreements=[Disagreement("mma", TARGET, "mma", "is wrong")])
    _, row = table({("mma", TARGET): tally})
    assert "99.99" in row.split()
