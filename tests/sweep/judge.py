"""Trying points: every level computes what the interpreter of Tile IR says, ptxas takes it."""

from __future__ import annotations

import re
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from point import Point
from point_kernels import PointKernel
from point_values import COARSE, DTYPES, FLOATS, tolerance

import tilewright as tw
from tilewright.kernel import Kernel
from tilewright.launch import ptxas
from tilewright.source.parsing import parse_module

TARGETS = (
    "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a",
)  # fmt: skip
LEGAL = ("expected a result whose rounding is known",)
"""The refusal of what nobody has said: how numbers become fnv8E5M3FNU."""


@dataclass(frozen=True)
class Case:
    """A kernel that a worker runs."""

    op: str
    name: str
    text: str
    args: list[Any]
    grid: tuple[int]
    ulps: int
    products: bool


def case_of(point: Point) -> Case:
    """The kernel of a point; its numbers follow from its name."""
    seed = np.frombuffer(point.name.encode(), np.uint8)
    kernel = PointKernel(point, np.random.default_rng(seed))
    op = point.op.name.removeprefix("cuda_tile.")
    return Case(
        op,
        point.name,
        kernel.text,
        kernel.args,
        (point.around.blocks,),
        tolerance(point),
        "mma" in op,
    )


def differs(got: Any, wanted: Any, ulps: int) -> str | None:
    """How results differ, by more than the case allows."""
    with np.errstate(all="ignore"):
        a, b = got.astype(np.float64), wanted.astype(np.float64)
        same = (a == b) & (np.signbit(a) == np.signbit(b)) | (np.isnan(a) & np.isnan(b))
        if got.dtype.kind in "iu":
            same = got == wanted
        if ulps and any(got.dtype == DTYPES[element] for element in FLOATS):
            unit = np.abs(np.spacing(wanted)).astype(np.float64)
            # Around the largest number one of the two may be infinite.
            same |= (np.abs(a - b) <= ulps * unit) | (np.isinf(a) ^ np.isinf(b))
            same |= (ulps == COARSE) & ((a == 0) | (np.abs(a - b) < 2.0**-10))
    if same.all():
        return None
    where = np.flatnonzero(~same)[:3]
    return f"{(~same).sum()} of {same.size}: got {got[where]}, wanted {wanted[where]}"


def general(error: str) -> str:
    """The first line of an error without its place."""
    return re.sub(r"^\S+?:\d+:\d+: ", "", error.splitlines()[0] if error else "")


def _tried(case: Case, kernel: Kernel, level: str, wanted: Any) -> str | None:
    if level == "chip":
        got = kernel.launch(*case.args, grid=case.grid, block=kernel.entry("k").block or (1,))
    else:
        options: Any = {"level": level, "arch": kernel.arch}
        got = tw.interpret(case.text, "k", grid=case.grid, args=case.args, **options)
    for number, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if (why := differs(a, b, case.ulps)) is not None:
            return f"{level} differs, argument {number}: {why}"
    return None


def tried(
    points: Sequence[Point], archs: Sequence[str], levels: Sequence[str], assembles: bool
) -> list[tuple[Case, str, str]]:
    """What is wrong with which point on which target; PTX that is equal but for its target is
    tried once, and assembled for the first target."""
    wrong: list[tuple[Case, str, str]] = []
    texts: dict[str, list[tuple[Case, str]]] = {arch: [] for arch in archs}
    for case in map(case_of, points):
        module = parse_module(case.text)
        seen: set[str] = set()
        wanted: dict[str, Any] = {}
        for arch in archs:
            try:
                compiled = tw.compile(module, arch)
                ptx = compiled.ptx
                body = re.sub(r"(?m)^(\.version|\.target).*$|//.*$", "", ptx)
                body += arch * case.products
                if body in seen:
                    continue
                seen.add(body)
                key = arch if case.products else ""
                if key not in wanted:
                    # What a mask leaves out of an atomic is a zero at every level.
                    wanted[key] = tw.interpret(
                        case.text, "k", grid=case.grid, args=case.args, arch=arch, check="integers",
                        numerics="hardware" if case.products else "exact",
                    )  # fmt: skip
                reasons = [_tried(case, compiled, level, wanted[key]) for level in levels]
                wrong += [(case, arch, reason) for reason in reasons if reason]
                texts[arch].append((case, ptx))
            except tw.CompileError as error:
                reason = general(str(error))
                if not any(words in reason for words in LEGAL):
                    wrong.append((case, arch, f"refused: {reason}"))
            except Exception as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{Path(last.filename).name}:{last.name}"
                reason = f"{type(error).__name__} in {place}: {general(str(error))}"
                wrong.append((case, arch, reason))
    for arch, group in texts.items() if assembles else ():
        if group and not _clean([ptx for _, ptx in group], arch):
            for case, ptx in group:
                report = ptxas.assemble(ptx, arch)
                if not report.clean:
                    lines = (*report.errors, *report.warnings, "ptxas is not silent")
                    wrong.append((case, arch, lines[0]))
    return wrong


def _clean(texts: Sequence[str], arch: str) -> bool:
    """True where ptxas takes all, as one text."""
    head = "\n".join(line for line in texts[0].splitlines() if re.match(r"\.(ver|targ|addr)", line))
    bodies = [
        re.sub(r"(?m)^\.(version|target|address_size).*$", "", text).replace(" k(", f" k{n}(")
        for n, text in enumerate(texts)
    ]
    return ptxas.assemble("\n".join((head, *bodies)), arch).clean
