"""Small kernels that are right and unusual, in correct/: how each is launched, and what must come
out."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tilewright as tw

Array = NDArray[Any]
Check = Callable[[list[Array]], bool]

FOLDER = Path(__file__).parent / "correct"
FROM = np.arange(256, dtype=np.int32).reshape(16, 16)


def text_of(name: str) -> str:
    """The text of a small kernel."""
    return (FOLDER / f"{name}.mlir").read_text()


def says_its_block(name: str) -> bool:
    """Whether a small kernel is checked for its own block alone: such ones are mutated. Of others
    the static check takes any block in which there is nothing wrong."""
    return "known_block_size" in text_of(name)


def launch_of(text: str) -> tuple[tuple[int], tuple[int]]:
    """The grid, of one cluster where nothing else is said, and the block of a small kernel."""

    def number(pattern: str) -> int:
        return int(next(iter(re.findall(pattern, text, re.MULTILINE)), 1))

    cluster = number(r"cluster_size = array<i32: (\d+)")
    block = number(r"(?:^// block = |block_size = array<i32: )(\d+)")
    return (number(r"^// .*grid = (\d+)") * cluster,), (block,)


def arch_of(text: str) -> str:
    """The target of a small kernel."""
    return next(iter(re.findall(r"^// .*arch = (\w+)", text, re.MULTILINE)), "sm_90a")


def arguments_of(text: str) -> list[Any]:
    """256 numbers, which count where the kernel says so, and the tensor that it copies, if any."""
    counts = "// p counts" in text
    arguments: list[Any] = [np.arange(256, dtype=np.int32) if counts else np.zeros(256, np.int32)]
    if "%m: " in text:
        arguments.append(tw.TensorMap(FROM.copy(), box=(8, 16), swizzle=64))
    return arguments


def numbers(expected: Array, at: int = 0) -> Check:
    """Whether the numbers from a place on are these."""
    return lambda arrays: np.array_equal(arrays[0][at : at + len(expected)], expected)


def tensor(expected: Array) -> Check:
    """Whether the tensor is this one, all of it."""
    return lambda arrays: np.array_equal(arrays[1], expected)


THREADS = np.arange(256)
LANES = THREADS[:32]
MIRRORED = LANES[::-1]
ROWS = np.arange(16)[:, None]
HALVES = FROM[:8] + FROM[8:]

# Three times both stages, at the row of the warp and the column of the lane.
SUMS = numbers(3 * np.tile(HALVES[1:3], 2).reshape(-1), 32)


def _turned(times: int) -> Array:
    """32 numbers, of which 4 columns become 4 rows so many times."""
    numbers = LANES
    for _ in range(times):
        numbers = numbers.reshape(4, 8).T.reshape(-1)
    return numbers


SMALL: dict[str, Check] = {
    # cp.async, barriers and flags, for every target.
    "warp_private_cp_async": numbers(
        6 * np.concatenate([MIRRORED, 32 + MIRRORED]) + np.tile(LANES, 2), 64
    ),
    "empty_groups_in_the_tail": numbers(8 * THREADS[63::-1] + 4 * sum(range(8)), 128),
    "two_groups_in_turn": numbers(128 + 2 * LANES),
    "copies_filled_with_zeros": numbers(4 * LANES, 32),
    "pingpong_named_barriers": numbers(6 + 4 * THREADS[:128]),
    "pairs_of_warps": numbers(np.concatenate([THREADS[63::-1], THREADS[127:63:-1]])),
    "ring_of_named_barriers": numbers(np.full(32, 11 * (0 + 1 + 2))),
    "warp_turns_a_tile": numbers(_turned(7)),
    "flag_released_to_the_gpu": numbers(1 + THREADS[63::-1], 64),
    "flag_between_fences": numbers(2 * LANES, 32),
    "flag_within_a_cta": numbers(MIRRORED, 32),
    "last_cta_sums": numbers(np.full(32, 1 + 2 + 3 + 4), 200),
    "histogram_of_a_cta": numbers(np.bincount(THREADS[:96] % 5, minlength=8), 128),
    # TMA and mbarriers.
    "forwarded_completion": numbers(FROM[:8].reshape(-1)),
    "two_producer_warps": numbers(FROM[:8].reshape(-1)),
    "arrival_per_thread": SUMS,
    "arrival_per_warp": SUMS,
    "arrival_behind_a_named_barrier": SUMS,
    "arrival_per_warpgroup": numbers(np.tile(3 * HALVES.reshape(-1), 2)),
    "long_trip_of_three_stages": numbers(np.tile(20 * HALVES[2], 2)),
    "one_stage_wraps_each_round": numbers(17 * FROM[8:10].reshape(-1)),
    "two_pipelines_in_lockstep": numbers(9 * np.tile(HALVES[2:4], 2).reshape(-1)),
    "pipelines_of_two_depths": numbers(12 * np.repeat(FROM[[1, 9]], 2, 0).reshape(-1)),
    "reinitialised_mbarrier": numbers(FROM[:4].reshape(-1)[::-1]),
    "release_of_what_comes_again": numbers(np.tile(4 * FROM[4] + 3 * FROM[12], 2)),
    "elected_of_each_warp_arrives": numbers(5 + THREADS[95::-1]),
    "bytes_of_two_threads": numbers((FROM[8:12] - FROM[:4]).reshape(-1)),
    "per_warp_tma_store": tensor(FROM[0] + 32 * (ROWS // 8)),
    "own_bytes_stored": tensor(np.ones_like(FROM)),
    "one_store_in_flight": tensor(2 + ROWS // 8 + np.zeros_like(FROM)),
    "changed_in_shared_memory": tensor(np.concatenate([FROM[:8], 1000 + FROM[:8]])),
    "forwarded_by_the_async_proxy": tensor(np.concatenate([2 * FROM[:8], FROM[:8]])),
    "reduced_by_two_warps": tensor(FROM + (ROWS >= 8) * (32 + 2 * (FROM[0] + 16 * (ROWS % 2)))),
    "boxes_out_of_two_warps": tensor(np.where(ROWS % 8 < 4, ROWS // 8, 0 * FROM)),
    # wgmma.
    "two_wgmma_groups": numbers(32 * np.tile(LANES // 4, 4)),
    "warpgroups_in_turn": numbers(np.repeat([3 * 16 * 2, 3 * 16 * 5], 128)),
    "wgmma_from_registers": numbers(np.full(128, 16 * 2 * (0 + 1 + 2 + 3))),
    # Clusters.
    "multicast_released_by_both": numbers(np.tile(3 * HALVES[1], 4)),
    "multicast_over_writes": numbers(np.tile(FROM[1], 4)),
    "split_cluster_barrier": numbers(np.tile(LANES, 2)),
    "cluster_handover": numbers(np.ones(32)),
    "neighbours_write": numbers(np.concatenate([LANES + (rank - 2) % 4 for rank in range(4)])),
    "neighbours_read": numbers(THREADS[127::-1]),
    "leader_waits_for_four": numbers(np.repeat(range(4), 32)),
    "halves_by_multicast": numbers(np.tile(3 * HALVES[3], 4)),
    "multicast_to_even_ctas": numbers(np.repeat([1, 0, 1, 0], 32) * np.tile(FROM[5], 8)),
    "flag_of_a_cluster": numbers(1 + LANES, 32),
    "pipeline_through_the_cluster": numbers(7 * MIRRORED + sum(range(7))),
    # Tensor memory.
    "double_buffered_tensor_memory": numbers(np.full(128, 4 * 16)),
    "two_allocations": numbers(3 * THREADS[:128]),
    "allocated_again": numbers(THREADS[:128]),
    "columns_under_two_names": numbers(THREADS[:128] + 5 * (THREADS[:128] < 64)),
    "handed_over_by_an_mbarrier": numbers(3 * THREADS[:128] + 0 + 1 + 2),
    "accumulator_looked_at": numbers(np.full(128, 64 + 128 + 192)),
    "tiles_refilled_behind_commits": numbers(16 * (4 * (THREADS[:128] // 32) + 0 + 1 + 2 + 3)),
    "products_of_two_warps": numbers(np.full(128, 2 * 16 * 3)),
    "copied_to_tensor_memory": numbers(THREADS[:128]),
    "pair_multiplies": numbers(16 * np.repeat([1, 2], 128)),
}
