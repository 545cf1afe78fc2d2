"""Kernels that are right and unusual: each must compile and run, in the order of the text and on
any schedule. Small ones lie in correct/; the others are made of the examples: every order of the
roles in the text, and tensor memory that another warp gives back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from subjects import SUBJECTS, Array, Subject
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

import tilewright as tw
from tilewright.execution import interpret
from tilewright.pipeline import verified

FOLDER = Path(__file__).parent / "correct"
FROM = np.arange(256, dtype=np.int32).reshape(16, 16)


@dataclass(frozen=True)
class Correct:
    """A kernel, its target, a run of it on a schedule, and what must come out."""

    module: Callable[[], ModuleOp]
    arch: str
    run: Callable[[ModuleOp, int | None], list[Array]]
    check: Callable[[list[Array]], bool]


def _small(name: str, expected: Callable[[list[Array]], bool]) -> Correct:
    text = (FOLDER / f"{name}.mlir").read_text()
    grid, block = launch_of(text)
    arch = next(iter(re.findall(r"^// .*arch = (\w+)", text, re.MULTILINE)), "sm_90a")

    def run(module: ModuleOp, schedule: int | None) -> list[Array]:
        arguments = arguments_of(text)
        return interpret(
            module, grid=grid, block=block, args=arguments,
            arch=arch, schedule=schedule, max_steps=100_000, races="error",
        )  # fmt: skip

    return Correct(lambda: verified(text, name)[0], arch, run, expected)


def launch_of(text: str) -> tuple[tuple[int], tuple[int]]:
    """The grid, one cluster, and the block of a small kernel."""
    (block,) = map(int, re.findall(r"^// block = (\d+)", text, re.MULTILINE))
    return (2 if "cluster_size" in text else 1,), (block,)


def arguments_of(text: str) -> list[Any]:
    """256 numbers, which count where the kernel says so, and the tensor that it copies, if any."""
    counts = "// p counts" in text
    arguments: list[Any] = [np.arange(256, dtype=np.int32) if counts else np.zeros(256, np.int32)]
    if "%m: " in text:
        arguments.append(tw.TensorMap(FROM.copy(), box=(8, 16), swizzle=64))
    return arguments


def _sums(arrays: list[Array]) -> bool:
    """Three times both stages, at the row of the warp and the column of the lane."""
    lanes = np.arange(32) % 16
    found = arrays[0]
    return all(
        (found[32 * w : 32 * w + 32] == 3 * (FROM[w, lanes] + FROM[8 + w, lanes])).all()
        for w in (1, 2)
    )


def _sums_of_warpgroups(arrays: list[Array]) -> bool:
    """Three times both stages, at each thread's place in the box, for each of two warpgroups."""
    expected = 3 * (FROM[:8] + FROM[8:]).reshape(-1)
    return bool((arrays[0] == np.tile(expected, 2)).all())


def _sums_of_ctas(arrays: list[Array]) -> bool:
    """Three times the second row of both stages, in each of two CTAs."""
    expected = 3 * (FROM[1] + FROM[9])
    return bool((arrays[0][:64] == np.tile(expected, 4)).all())


def _private(arrays: list[Array]) -> bool:
    """Six times what the lane on the other side has copied, and the lane."""
    thread = np.arange(64)
    expected = 6 * (thread // 32 * 32 + 31 - thread % 32) + thread % 32
    return bool((arrays[0][64:128] == expected).all())


def _first_box(arrays: list[Array]) -> bool:
    return bool((arrays[0][:128] == FROM[:8].reshape(-1)).all())


SMALL: dict[str, Callable[[list[Array]], bool]] = {
    "pingpong_named_barriers": lambda arrays: bool(
        (arrays[0][:128] == 6 + 4 * np.arange(128)).all()
    ),
    "forwarded_completion": _first_box,
    "two_producer_warps": _first_box,
    "arrival_per_thread": _sums,
    "arrival_per_warp": _sums,
    "arrival_behind_a_named_barrier": _sums,
    "per_warp_tma_store": lambda arrays: bool(
        (arrays[1] == np.arange(16) + 32 * (np.arange(16) // 8)[:, None]).all()
    ),
    "own_bytes_stored": lambda arrays: bool((arrays[1] == 1).all()),
    "arrival_per_warpgroup": _sums_of_warpgroups,
    "multicast_released_by_both": _sums_of_ctas,
    "multicast_over_writes": lambda arrays: bool((arrays[0][:64] == np.tile(FROM[1], 4)).all()),
    "warp_private_cp_async": _private,
    "double_buffered_tensor_memory": lambda arrays: bool((arrays[0][:128] == 64).all()),
    "one_store_in_flight": lambda arrays: bool(
        (arrays[1] == 2 + np.arange(16)[:, None] // 8).all()
    ),
    "split_cluster_barrier": lambda arrays: bool(
        (arrays[0][:64] == np.tile(np.arange(32), 2)).all()
    ),
    "cluster_handover": lambda arrays: bool((arrays[0][:32] == 1).all()),
}


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
