"""Kernels that are right and unusual: each must compile and run, in the order of the text and on
any schedule. Small ones lie in correct/; the others are made of the examples: every order of the
roles in the text, and tensor memory that another warp gives back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations

from small_kernels import SMALL
from subjects import SUBJECTS, Array, Subject, small
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.pipeline import verified


@dataclass(frozen=True)
class Correct:
    """A kernel, its target, a run of it on a schedule, and what must come out."""

    module: Callable[[], ModuleOp]
    arch: str
    run: Callable[[ModuleOp, int | None], list[Array]]
    check: Callable[[list[Array]], bool]


def _small(name: str, expected: Callable[[list[Array]], bool]) -> Correct:
    subject = small(name)
    return Correct(lambda: subject.module(name, "atom")[0], subject.arch, subject.run, expected)


def roles(module: ModuleOp) -> list[Operation]:
    """The branches of a kernel, one a role: those at its top level with a loop inside."""
    kernel = module.body.block.first_op
    assert kernel is not None
    inside = [op for op in kernel.regions[0].block.ops if isinstance(op, scf.IfOp)]
    found = [op for op in inside if any(op.walk())]
    return [op for op in found if _works(op)]


def _works(op: Operation) -> bool:
    waits = re.compile(r"\w+\.(mbarrier\.wait|pipeline\.)")
    return any(waits.match(inner.name) for inner in op.walk())


def in_order(name: str, order: tuple[int, ...]) -> ModuleOp:
    """A kernel with its roles in another order of text, all where the last one was."""
    module, _ = SUBJECTS[name].module(name, SUBJECTS[name].levels[0])
    branches = roles(module)
    last = branches[-1]
    block, after = last.parent_block(), last.next_op
    assert block is not None and after is not None
    for branch in branches:
        branch.detach()
    for number in order:
        block.insert_op_before(branches[number], after)
    return module


def given_back_by_warp_1() -> ModuleOp:
    """gemm_sm100 whose tensor memory another warp gives back than the one that allocated it."""
    _, text = SUBJECTS["gemm_sm100"].module("gemm_sm100", "atom")
    head, _, tail = text.rpartition("  scf.if %allocates {")
    frees = "  %frees = arith.cmpi eq, %warp, %c1 : index\n  scf.if %frees {"
    return verified(head + frees + tail, "gemm_sm100")[0]


def _like(subject: Subject, name: str, module: Callable[[], ModuleOp]) -> Correct:
    """A kernel that must give what an example gives."""

    def check(arrays: list[Array]) -> bool:
        right = subject.run(subject.module(name, subject.levels[0])[0])
        return all(a.tobytes() == b.tobytes() for a, b in zip(arrays, right, strict=True))

    return Correct(module, subject.arch, subject.run, check)


def corpus() -> Iterator[tuple[str, Callable[[], Correct]]]:
    """Every kernel, by name."""
    for name, expected in SMALL.items():
        yield name, lambda name=name, expected=expected: _small(name, expected)
    for name in ("gemm_sm100", "gemm_sm100_2sm", "gemm_sm100_mxf8", "tile_gemm_sm100"):
        for order in permutations(range(3)):
            yield (
                f"{name}, roles {' '.join(map(str, order))}",
                lambda name=name, order=order: _like(
                    SUBJECTS[name], name, lambda: in_order(name, order)
                ),
            )
    yield (
        "gemm_sm100, given back by warp 1",
        lambda: _like(SUBJECTS["gemm_sm100"], "gemm_sm100", given_back_by_warp_1),
    )
