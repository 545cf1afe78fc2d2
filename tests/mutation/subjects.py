"""The kernels that are mutated, each with one launch that is as small as it may be and goes round
every stage of its pipelines twice, so that each parity and each wrap is met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from small_kernels import FOLDER, SMALL, arch_of, arguments_of, launch_of, says_its_block, text_of
from xdsl.dialects.builtin import ModuleOp

import tilewright as tw
from tilewright.execution import interpret
from tilewright.pipeline import PIPELINE, lower_tiles, run_pipeline, verified

EXAMPLES = Path(__file__).parents[2] / "examples"
LAST_CHECK = "cute-nvgpu-check-hazards"
STATIC = PIPELINE[: 1 + [stage.name for stage in PIPELINE].index(LAST_CHECK)]
"""What `tw.compile` checks, without the lowering to PTX that follows."""

MAX_STEPS = 200_000

Array = NDArray[Any]
Level = Literal["tile", "atom", "ptx"]


@dataclass(frozen=True)
class Subject:
    """A kernel of examples/, or a small one: its target, launch and arguments, and the levels it is
    written at and lowered to."""

    arch: str
    grid: tuple[int, ...]
    threads: int
    arguments: Callable[[], list[Any]]
    levels: tuple[Level, ...] = ("atom", "ptx")
    folder: Path = EXAMPLES

    def module(self, name: str, level: Level) -> tuple[ModuleOp, str]:
        """The kernel at a level, and its text."""
        text = (self.folder / f"{name}.mlir").read_text()
        module, source = verified(text, name)
        if level == "ptx":
            run_pipeline(module, self.arch, source)
        elif level != self.levels[0]:
            lower_tiles(module, self.arch, source)
        return module, text

    def given(self) -> list[Array]:
        """The arrays before a run."""
        arguments = (getattr(argument, "array", argument) for argument in self.arguments())
        return [argument for argument in arguments if isinstance(argument, np.ndarray)]

    def run(self, module: ModuleOp, schedule: int | None = None) -> list[Array]:
        """The arrays after a run of a module. Raises ExecutionError and CompileError."""
        return interpret(
            module, grid=self.grid, block=(self.threads,), args=self.arguments(), arch=self.arch,
            schedule=schedule, max_steps=MAX_STEPS, races="error",
        )  # fmt: skip


def integers(rows: int, columns: int, dtype: Any, seed: int = 0, multiple: int = 8) -> Array:
    """Small integers, whose sums are exact in any order, in rows of whole 16 bytes."""
    whole = np.zeros((rows, -(-columns // multiple) * multiple), dtype)
    whole[:, :columns] = np.random.default_rng(seed).integers(-8, 9, (rows, columns))
    return whole


def maps(m: int, n: int, k: int, dtype: Any, rows_of_c: int) -> list[Any]:
    a, b = integers(m, k, dtype), integers(k, n, dtype, 1)
    c = np.full((m, n + 4), np.nan, np.float32)
    return [
        tw.TensorMap(a, shape=(m, k), box=(128, 64), swizzle=128),
        tw.TensorMap(b, shape=(k, n), box=(64, 64), swizzle=128),
        tw.TensorMap(c, shape=(m, n), box=(rows_of_c, 32), swizzle=128),
        k,
    ]


def scaled_maps(m: int, n: int, k: int) -> list[Any]:
    operands = [
        tw.TensorMap(
            integers(rows, k, ml_dtypes.float8_e4m3fn, seed, 16), shape=(rows, k),
            box=(128, 128), swizzle=128,
        )
        for seed, rows in enumerate((m, n))
    ]  # fmt: skip
    factors = [
        tw.TensorMap(np.full((-(-k // 128) * 32, 16), 127, np.uint8), box=(32, 16), element="ui8")
        for _ in range(2)
    ]
    c = np.full((m, n + 4), np.nan, np.float32)
    return [*operands, *factors, tw.TensorMap(c, shape=(m, n), box=(128, 32), swizzle=128), k]


def matrices(m: int, n: int, k: int, dtype: Any, result: Any = np.float32) -> list[Any]:
    """A (M,K), B (N,K) and C (M,N), as the tile level takes them."""
    c = np.full((m, -(-n // 8) * 8), np.nan, result)[:, :n]
    return [integers(m, k, dtype), integers(n, k, dtype, 1), c]


def _sm80() -> list[Any]:
    a, b = integers(64, 224, ml_dtypes.bfloat16), integers(224, 64, ml_dtypes.bfloat16, 1)
    return [a, b, np.full((64, 64), np.nan, np.float32), 64, 64, 224, 224, 64, 64]


def _wgmma() -> list[Any]:
    a, b = integers(64, 192, ml_dtypes.bfloat16), integers(128, 192, ml_dtypes.bfloat16, 1)
    return [a, b, np.full((64, 128), np.nan, np.float32), 64, 128, 192]


def _wmma() -> list[Any]:
    a, b = integers(64, 64, np.float16), integers(64, 64, np.float16, 1)
    return [a, b, np.full((64, 64), np.nan, np.float32)]


def small(name: str) -> Subject:
    """The subject of a small kernel."""
    text = text_of(name)
    grid, (threads,) = launch_of(text)
    return Subject(arch_of(text), grid, threads, lambda: arguments_of(text), folder=FOLDER)


TILES: tuple[Level, ...] = ("tile", "atom", "ptx")
BF16 = ml_dtypes.bfloat16
SUBJECTS: dict[str, Subject] = {
    "gemm_wmma": Subject("sm_80", (1,), 128, _wmma),
    "gemm_sm80": Subject("sm_80", (1,), 128, _sm80),
    "wgmma_sm90": Subject("sm_90a", (1,), 128, _wgmma),
    "gemm_sm90": Subject("sm_90a", (1,), 384, lambda: maps(128, 256, 576, BF16, 64)),
    "gemm_sm100": Subject("sm_100a", (1,), 192, lambda: maps(128, 256, 576, np.float16, 128)),
    "gemm_sm100_2sm": Subject("sm_100a", (2,), 192, lambda: maps(256, 256, 576, np.float16, 128)),
    "gemm_sm100_mxf8": Subject("sm_100a", (1,), 192, lambda: scaled_maps(128, 128, 1152)),
    "tile_gemm_sm80": Subject(
        "sm_80", (1,), 128, lambda: matrices(128, 128, 224, np.float16), TILES
    ),
    "tile_gemm_sm90": Subject("sm_90a", (1,), 384, lambda: matrices(128, 256, 576, BF16), TILES),
    "tile_gemm_sm90_persistent": Subject(
        "sm_90a", (1,), 384, lambda: matrices(130, 256, 256, BF16, BF16), TILES
    ),
    "tile_gemm_sm100": Subject(
        "sm_100a", (1,), 192, lambda: matrices(128, 256, 576, np.float16), TILES
    ),
    **{name: small(name) for name in SMALL if says_its_block(name)},
}
