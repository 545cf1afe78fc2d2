"""cuTile's samples at small sizes: the GPU of this machine leaves what the interpreter does.

`python benchmarks/cutile_gpu.py FOLDER --check` launches each configuration once and runs its PTX
on the CPU, bit for bit; edges are not multiples of tiles where the kernel allows it.
"""

from __future__ import annotations

import math
import multiprocessing
import pickle
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import cutile_gpu
import ml_dtypes
import numpy as np
import user_kernel_cases
from cutile_cases import CHUNK
from cutile_problems import Case, Matrix, Problem

import tilewright as tw
from tilewright.cutile.gpu import BlockSchedule, compiled

WORKERS = 12
"""The processes that compile, launch and interpret."""
TAKEN = BlockSchedule(taken=True)
FEW = CHUNK
"""The fewest rows, which cuTile was told are a multiple of that."""


def small(case: Case) -> Problem:
    """A problem of a few tiles of a case's kernel."""
    if case.sample == user_kernel_cases.OWN:
        return user_kernel_cases.small(case)
    problem, tile = case.problems[0], case.constants
    sizes: Sequence[tuple[int, ...]]
    match case.sample:
        case "MatMul":
            m, n, k = tile[0] + FEW, tile[1], 2 * tile[2] + FEW
            sizes, blocks = ((m, k), (k, n), (m, n)), (2,)
            if problem.grid[0] == 0:
                blocks = (0, 2)
        case "BatchMatMul":
            m, n, k = tile[0], tile[1] + FEW, tile[2] + FEW
            sizes, blocks = ((FEW, m, k), (FEW, k, n), (FEW, m, n)), (1, 1, 2)
        case "AttentionFMHA":
            depth, heads, rows, columns, group = tile[:5]
            lengths = 2 * max(rows, columns), depth
            keys = (1, heads // group, *lengths)
            sizes = (1, heads, *lengths), keys, keys, (1, heads, *lengths)
            blocks = lengths[0] // rows, 1
        case "VectorAddition":
            sizes, blocks = ((tile[0] + FEW,),) * 3, (2,)
        case "Transpose":
            m, n = tile[0] + FEW, tile[1]
            sizes, blocks = ((m, n), (n, m)), (2, 1)
        case "FFT":
            own = [one.shape for one in problem.arguments]
            sizes, blocks = [(FEW, *shape[1:]) for shape in own[:2]] + own[2:], (1,)
        case "MoE" if case.kernel == "fused_moe_kernel":
            _, m, n, k = tile
            rows, shared = FEW * m, problem.arguments[-1]
            sizes = ((rows // shared, 2 * k), (FEW, n, 2 * k), (rows, n), (rows,), (rows,), (FEW,))
            blocks = (2,)
        case _:
            rows, width = problem.arguments[0].shape
            few = {rows: FEW, width: tile[0] + (FEW if tile[0] < width else 0)}
            matrices = (one for one in problem.arguments if isinstance(one, Matrix))
            sizes, blocks = [tuple(few[size] for size in one.shape) for one in matrices], (3,)
    arguments, left = list[Any](), iter(sizes)
    for one in problem.arguments:
        if isinstance(one, Matrix):
            shape = next(left)
            below = min(one.below, FEW if shape == (FEW,) else math.prod(shape))
            one = replace(one, shape=shape, below=below)
        arguments.append(one)
    return Problem("small", tuple(arguments), blocks)


def differences(path: Path, arch: str) -> tuple[str, list[int]]:
    """A case's name, and how many bytes of each of its arrays differ behind a small launch: of a
    CTA for each block, and of one alone where CTAs take blocks in turn."""
    stored = pickle.loads(path.read_bytes())
    case, code = stored["case"], stored["bytecode"]
    bench = cutile_gpu.Bench(case, small(case), {})
    args = [_host(value) for value in bench.flat]
    begun = [result.clone() for result in bench.results()]
    here = tw.interpret(code, "k", grid=bench.grid, args=args, level="ptx", arch=arch)
    given = (x for x in args if hasattr(x, "shape"))
    assert any((a != b).any() for a, b in zip(given, here, strict=True)), "nothing was written"
    kernels, differing = [compiled(code, arch), compiled(code, arch, schedule=TAKEN)], list[int]()
    for kernel in kernels if kernels[1].entry().takes_blocks else kernels[:1]:
        for result, own in zip(bench.results(), begun, strict=True):
            result.copy_(own)
        bench.ours([kernel], room=1)()
        there = [_host(value) for value in bench.flat if hasattr(value, "shape")]
        pairs = zip(there, here, strict=True)
        differing += [int((a.view(np.uint8) != b.view(np.uint8)).sum()) for a, b in pairs]
    return f"{case.sample} {case.configuration}", differing


def check(paths: Iterable[Path], arch: str) -> bool:
    """True where all are equal: a line for each case."""
    equal, context = True, multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, context) as pool:
        for name, differing in pool.map(partial(differences, arch=arch), paths):
            said = f"bytes differ, array by array: {differing}" if any(differing) else "equal"
            print(f"{name}: {said}", flush=True)
            equal &= not any(differing)
    return equal


def _host(value: Any) -> Any:
    """An array of the GPU here, as memory; any other value as it is."""
    import torch

    if not hasattr(value, "shape"):
        return value
    dense = cutile_gpu.dense(value)
    name = str(dense.dtype).removeprefix("torch.")
    own: Any = getattr(ml_dtypes, name, None) or getattr(np, name)
    words = getattr(torch, f"int{8 * dense.element_size()}")
    return dense.reshape(-1).view(words).cpu().numpy().view(own)
