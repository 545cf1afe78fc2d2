"""Do the verifier, ptxas and the ISA agree on a candidate?

Legal is what the ISA lists and ptxas assembles, for the same target. What ptxas assembles beyond
the ISA is rejected with the word "undocumented" in the reason, so that a user can tell a form that
happens to work from one that does not.

| ptxas | ISA    | the verifier must say                  |
|-------|--------|----------------------------------------|
| takes | lists  | legal                                  |
| takes | silent | illegal, and "undocumented" in its why |
| no    | any    | illegal                                |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tilewright.dialects.frozen import factory, frozen
from tilewright.tools.conformance import ptxas_bulk, verifier_bulk
from tilewright.tools.conformance.instruction_family import Candidate

UNDOCUMENTED = "undocumented"


@frozen
class Disagreement:
    """A candidate that the verifier judges wrongly for a target, and what is wrong."""

    family: str
    target: str
    instruction: str
    wrong: str

    def __str__(self) -> str:
        return f"{self.target} {self.family}: {self.instruction} {self.wrong}"


@dataclass(slots=True)
class Tally:
    """The findings of a family for a target."""

    points: int = 0
    legal: int = 0
    undocumented: int = 0
    disagreements: list[Disagreement] = factory(list)

    @property
    def agreement(self) -> float:
        """Of a hundred points, those on which there is no disagreement."""
        return 100 * (1 - len(self.disagreements) / self.points) if self.points else 100.0

    def add(self, other: Tally) -> None:
        self.points += other.points
        self.legal += other.legal
        self.undocumented += other.undocumented
        self.disagreements += other.disagreements


@frozen
class Oracles:
    """Who is asked: the assembler and the verifier, candidate in bulk."""

    taken: Callable[[Sequence[str], str], list[bool]] = ptxas_bulk.taken
    verdicts: Callable[[Sequence[str], str], list[bool]] = verifier_bulk.verdicts
    reasons: Callable[[Sequence[str], str], list[str]] = verifier_bulk.reasons


ORACLES = Oracles()


def compare(
    candidates: Sequence[Candidate], target: str, oracles: Oracles = ORACLES
) -> dict[str, Tally]:
    """The tallies of the candidates for the target, by family."""
    taken = _any_taken(candidates, target, oracles)
    verdicts = oracles.verdicts([candidate.judged for candidate in candidates], target)
    tallies: dict[str, Tally] = {}
    beyond: list[Candidate] = []
    for candidate, assembles, legal in zip(candidates, taken, verdicts, strict=True):
        tally = tallies.setdefault(candidate.family.name, Tally())
        tally.points += 1
        listed = assembles and candidate.family.documents(candidate.point, target)
        tally.legal += listed
        tally.undocumented += assembles and not listed
        if legal != listed:
            tally.disagreements.append(_wrong(candidate, target, assembles, listed))
        elif assembles and not listed:
            beyond.append(candidate)
    for candidate, why in zip(
        beyond, oracles.reasons([candidate.judged for candidate in beyond], target), strict=True
    ):
        if UNDOCUMENTED not in why:
            wrong = f"is {UNDOCUMENTED}, the verifier says: {why}"
            tallies[candidate.family.name].disagreements.append(
                _disagreement(candidate, target, wrong)
            )
    return tallies


def refused(
    candidates: Sequence[Candidate], target: str, oracles: Oracles = ORACLES
) -> list[Candidate]:
    """The candidates that ptxas does not take for the target."""
    taken = _any_taken(candidates, target, oracles)
    return [candidate for candidate, ok in zip(candidates, taken, strict=True) if not ok]


def _any_taken(candidates: Sequence[Candidate], target: str, oracles: Oracles) -> Iterator[bool]:
    """True where ptxas takes one of a candidate's instructions, for each candidate."""
    instructions = [text for candidate in candidates for text in candidate.instructions]
    answers = iter(oracles.taken(instructions, target))
    for candidate in candidates:
        yield any(list(islice(answers, len(candidate.instructions))))


def _wrong(candidate: Candidate, target: str, assembles: bool, listed: bool) -> Disagreement:
    if listed:
        wrong = "is legal, the verifier rejects it"
    elif assembles:
        wrong = f"is {UNDOCUMENTED}, the verifier takes it"
    else:
        wrong = "is refused by ptxas, the verifier takes it"
    return _disagreement(candidate, target, wrong)


def _disagreement(candidate: Candidate, target: str, wrong: str) -> Disagreement:
    return Disagreement(candidate.family.name, target, candidate.judged, wrong)
