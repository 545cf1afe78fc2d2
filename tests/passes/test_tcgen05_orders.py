"""What a thread starts on the same columns of tensor memory one after the other: ordered where the
PTX ISA says that it is, refused where it does not, by the check at either level and by a run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tcgen05_orders import Tcgen05Orders, Tcgen05Text
from tmem_kernels import AFTER, BARRIER, BEFORE

Step = Callable[[Tcgen05Text], None]

APART = {"D": 96, "A": 64, "E": 72, "SFA": 80, "SFB": 88}
"""Columns of operands that meet nothing."""


def mma(name: str = "f16", issuer: str = "first", half: int = 0, **places: int) -> Step:
    return lambda text: text.mma(issuer, name, APART | places, half)


def copy(column: int = 0, shape: str = "128x256b") -> Step:
    return lambda text: text.copy("first", shape, column)


def shift(column: int = 0, lane: int = 0) -> Step:
    return lambda text: text.shift("first", column, lane)


def store(column: int, row: str = "%row", shape: str = "32x32b") -> Step:
    return lambda text: text.store(column, row, shape)


def then(*lines: str) -> Step:
    return lambda text: text.by("", *lines)


COPIES, FACTORS = (copy(0), copy(8)), copy(0, "32x128b warpx4")
ORDERED = {
    "one accumulator": (mma(D=0), mma(D=0, A=80), mma("shared", D=0)),
    "a copy, then A": (copy(), mma(A=0)),
    "A, then a copy, then A": (mma(A=0), copy(), mma(A=0)),
    "factors that are copied again": (FACTORS, mma("mx", SFA=0), FACTORS, mma("mx", SFA=0)),
    "A that is shifted again": (shift(), mma(A=0), shift(), mma(A=0)),
    "a shift between results of two shapes": (mma("half", D=0), shift(), mma(A=0)),
    "copies between results of two shapes": (mma(D=0), *COPIES, mma("half", D=0)),
    "part of a result": (mma("wide", D=0), shift(8), mma("tf32", A=8)),
    "the lower rows": (shift(0, 96), mma(A=0)),
    "results in halves of the lanes": (mma("half", D=0), mma("half", half=1, D=0, A=80)),
    "A in halves of the lanes": (mma("half", A=0), mma("half", half=1, D=0)),
    "the other lanes are stored": (mma("half", A=0), store(0, "%high", "16x64b")),
    "a copy of another thread": (copy(), then(BEFORE, BARRIER, AFTER), mma(issuer="other", A=0)),
    "columns behind a result": (mma(D=0), store(16)),
}  # fmt: skip
UNORDERED = {
    "accumulators of two shapes": (mma(D=0), mma("wide", D=0)),
    "accumulators of two kinds": (mma(D=0), mma("tf32", D=0)),
    "accumulators of two types": (mma(D=0), mma("into f16", D=0)),
    "accumulators that overlap": (mma("wide", D=0), mma("wide", D=16)),
    "a result as A": (mma("tf32", D=0), mma("tf32", A=0)),
    "a result over A": (mma(A=0), mma(D=0)),
    "a result of another shape over A": (mma(A=0), mma("half", D=0)),
    "a result over metadata": (mma("sparse", E=0), mma("sparse", D=0)),
    "a result over factors": (mma("mx", SFA=0), mma("mx", D=0)),
    "a result over the factors of B": (mma("mx", SFB=0), mma("wide mx", D=0)),
    "a result over its own A": (mma(D=0, A=8),),
    "a result over its own factors": (mma("mx", D=0, SFB=8),),
    "metadata in the second column": (mma("sparse", half=1, E=0), store(1)),
    "two copies": (copy(), copy()),
    "a shift of a copy": (copy(), shift()),
    "a copy of four rows between results": (mma("half", D=0), copy(0, "4x256b"), mma(A=0)),
    "a copy of half a result": (mma("half", D=0), copy(), mma(D=0)),
    "a copy of another thread, unfenced": (copy(), then(BARRIER, AFTER), mma(issuer="other", A=0)),
    "a result of another thread": (mma(D=0), then(BEFORE, BARRIER, AFTER),
                                   mma("wide", issuer="other", D=0)),
}  # fmt: skip


def program(steps: tuple[Step, ...]) -> Tcgen05Orders:
    text = Tcgen05Text()
    for step in steps:
        step(text)
    text.end("first", "other")
    return Tcgen05Orders(text.text)


@pytest.mark.parametrize("name", ORDERED)
def test_ordered(name: str):
    case = program(ORDERED[name])
    assert (case.refused("atom"), case.refused("ptx"), case.fault()) == (None, None, None)


@pytest.mark.parametrize("name", UNORDERED)
def test_unordered(name: str):
    case = program(UNORDERED[name])
    for said in (case.refused("atom"), case.refused("ptx"), case.fault()):
        assert said is not None and "tensor memory that" in said, said
