"""What becomes of a mutant: caught statically, caught when run, equivalent by a rule, or not."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

import numpy as np
from level_above import rule_at
from mutants import Mutant
from subjects import STATIC, Array, Level, Subject
from xdsl.dialects.builtin import ModuleOp

import tilewright as tw
from tilewright.passes.check_hazards import UnprovenWarning
from tilewright.pipeline import run_pipeline, verified

SCHEDULES = (0, 1)
"""The seeds of the runs after the one in the order of the text."""

PATIENCE = 120
"""Seconds of the processor that one mutant may take."""

STATICALLY, RUN, SCHEDULED = "caught statically", "caught when run", "caught on a schedule"
EQUIVALENT, MISSED, WRONG = "equivalent", "missed", "wrong"
UNSTORED, UNPROVEN, CRASHED = "not stored", "not proven", "crash"
VERDICTS = (STATICALLY, RUN, SCHEDULED, EQUIVALENT, UNSTORED, UNPROVEN, MISSED, WRONG, CRASHED)


@dataclass(frozen=True)
class Verdict:
    """The outcome of one mutant, and by what: a pass, a message or a rule. `runs` says whether a
    mutant that is caught statically is caught when run too."""

    name: str
    kind: str
    outcome: str
    why: str = ""


@contextmanager
def bounded(seconds: int) -> Iterator[None]:
    """Raise TimeoutError after some seconds of this process, whatever else the machine does."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def static_error(module: ModuleOp, subject: Subject, level: Level) -> str | None:
    """The stage of `tw.compile` that refuses a module, and what it says."""
    stage = "verify"

    def left(name: str | None, module: ModuleOp) -> None:
        nonlocal stage
        places = [None, *(other.name for other in STATIC)]
        stage = places[min(places.index(name) + 1, len(places) - 1)] or "verify"

    try:
        copy, source = verified(module)
        run_pipeline(copy, subject.arch, source, stages=STATIC, observers=[left])
    except tw.CompileError as error:
        return f"{stage}: {_first_line(error)}"
    return None


def unproven(module: ModuleOp, subject: Subject) -> str:
    """What `tw.compile` says that it does not prove of a module."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UnprovenWarning)
        copy, source = verified(module)
        run_pipeline(copy, subject.arch, source, stages=STATIC)
    return next((str(one.message) for one in said if one.category is UnprovenWarning), "")


def judge(
    mutant: Mutant, module: ModuleOp, subject: Subject, level: Level, right: list[Array]
) -> Verdict | None:
    """The verdict on a mutant of a module whose run gives `right`; None where its edit changes
    nothing."""
    mutated = mutant.of(module)
    if mutated is None:
        return None

    def verdict(outcome: str, why: str = "") -> Verdict:
        return Verdict(mutant.name, mutant.kind, outcome, why)

    leaves_out = False
    try:
        with bounded(PATIENCE):
            if why := static_error(mutated, subject, level):
                return verdict(STATICALLY, why)
            for schedule in (None, *SCHEDULES):
                caught = RUN if schedule is None else SCHEDULED
                try:
                    result = subject.run(mutated, schedule)
                except (tw.ExecutionError, tw.CompileError) as error:
                    return verdict(caught, _first_line(error))
                if any(a.tobytes() != b.tobytes() for a, b in zip(result, right, strict=True)):
                    leaves_out = mutant.kind.startswith("guard") and _as_given(
                        subject.given(), result, right
                    )
                    if not leaves_out:
                        return verdict(WRONG, f"schedule {schedule}")
    except Exception as error:
        return verdict(CRASHED, f"{type(error).__name__}: {error}")
    if leaves_out:
        return verdict(UNSTORED)
    if rule := rule_at(mutant.name, mutated):
        return verdict(EQUIVALENT, rule)
    why = "" if unproven(module, subject) else unproven(mutated, subject)
    return verdict(UNPROVEN if why else MISSED, why)


def _as_given(given: list[Array], result: list[Array], right: list[Array]) -> bool:
    """Whether what differs from the right result is what it was before the launch: a guard left
    out the store of it, which is a matter of data."""
    rows = (
        [np.frombuffer(array.tobytes(), np.uint8) for array in row]
        for row in zip(given, result, right, strict=True)
    )
    return all((before == after)[after != wanted].all() for before, after, wanted in rows)


def judge_statically(
    mutant: Mutant, module: ModuleOp, subject: Subject, level: Level
) -> Verdict | None:
    """The verdict of the static check alone: caught, equivalent, or missed; None where the edit
    changes nothing."""
    mutated = mutant.of(module)
    if mutated is None:
        return None
    try:
        with bounded(PATIENCE):
            if why := static_error(mutated, subject, level):
                return Verdict(mutant.name, mutant.kind, STATICALLY, why)
    except Exception as error:
        return Verdict(mutant.name, mutant.kind, CRASHED, f"{type(error).__name__}: {error}")
    rule = rule_at(mutant.name, mutated)
    return Verdict(mutant.name, mutant.kind, EQUIVALENT if rule else MISSED, rule)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].partition("error: ")[2]
