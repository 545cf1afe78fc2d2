"""Mutants of everything that tilewright reads get an answer: never a traceback, never a hang."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from answers import Broken
from covering import THOROUGH
from entries import BINARY, ENTRIES, ON_DEMAND, trial
from levels import SEEN

CORPUS = sorted(path for path in (Path(__file__).parent / "corpus").glob("*") if path.suffix == "")
COUNTS = {
    "opt": 50, "compile": 100, "interpret": 120, "layout": 120, "npy": 80, "ptx": 30, "listing": 16,
}  # fmt: skip


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry not in ON_DEMAND])
def test_mutants_get_an_answer(entry: str):
    broken: dict[str, int] = {}
    for seed in range(COUNTS.get(entry, 40) // (1 if THOROUGH else 2)):
        try:
            trial(entry, seed)
        except Broken as error:
            broken[str(error)] = seed
    assert not broken


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_past_failures_get_an_answer(path: Path):
    """What once broke a promise, under the entry point's name."""
    entry = path.name.split("_")[0]
    data = path.read_bytes()
    mutated = data if entry in BINARY else data.decode(errors="surrogatepass")
    for seed in range(12 if THOROUGH else 4):
        SEEN.clear()
        ENTRIES[entry][1](mutated, random.Random(seed))
