"""Launches of Triton kernels on the GPU of this machine, compiled by tilewright.

Skipped, with the reason, where there is no GPU. Run as a script, it calls each test. Needs torch.
"""

from __future__ import annotations

import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import tilewright as tw
from tilewright.launch.launcher import LaunchError, device_arch

try:
    import torch

    NO_GPU = None if device_arch() else ""
except (ImportError, LaunchError) as error:
    torch: Any = None
    NO_GPU = str(error)

pytestmark = pytest.mark.skipif(NO_GPU is not None, reason=f"needs a GPU: {NO_GPU}")
N = 4096


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def scale(x, out, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, factor * tl.load(x + i))


WAYS = [
    triton.Config({"BLOCK": block}, num_warps=warps)
    for block, warps in ((128, 1), (1024, 4), (256, 8))
]


@triton.autotune(configs=WAYS, key=["n"])
@triton.heuristics({"EVEN": lambda arguments: arguments["n"] % arguments["BLOCK"] == 0})
@triton.jit
def tuned(x, out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = None if EVEN else i < n
    tl.store(out + i, 2.0 * tl.load(x + i, mask=mask), mask=mask)


@triton.jit
def transposed(source, out, M: tl.constexpr, N: tl.constexpr):
    tile = source.load([tl.program_id(0) * M, 0])
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, M)[None, :]
    tl.store(out + rows * 4 * M + columns + tl.program_id(0) * M, tile.T)


@triton.jit
def meeting(count, out):
    """Every program waits until all are there."""
    tl.atomic_add(count, 1, sem="release")
    while tl.atomic_add(count, 0, sem="acquire") < tl.num_programs(0):
        pass
    tl.store(out + tl.program_id(0), 1)


@triton.jit
def scaled_product(a, b, scales, out, n, k, by_b, by_scales):
    block = tl.program_id(0)
    rows = block // tl.cdiv(n, 32) * 32 + tl.arange(0, 32)
    columns = (block % tl.cdiv(n, 32) * 32 + tl.arange(0, 32)) % n
    total = tl.zeros((32, 32), tl.float32)
    for start in range(tl.cdiv(k, 64)):
        x = tl.load(a + rows[:, None] * k + start * 64 + tl.arange(0, 64)[None, :])
        packed = tl.arange(0, 32)[:, None] + columns[None, :] * by_b
        y = tl.load(b + start * 32 + packed)
        part = tl.load(scales + columns[:, None] * by_scales + start * 2 + tl.arange(0, 2)[None, :])
        total += tl.dot_scaled(x, None, "bf16", y, part, "e2m1", fast_math=True)
    tl.store(out + rows[:, None] * n + columns[None, :], total)


def vectors(number: int, size: int = N) -> Any:
    """Three vectors, of which the first two are numbers that say which they are."""
    a = torch.arange(size, device="cuda", dtype=torch.float32)
    return a, torch.full_like(a, number), torch.zeros_like(a)


def run(arrays: Any) -> None:
    """Launch an add of three vectors."""
    size = arrays[0].shape[0]
    add[(triton.cdiv(size, 1024),)](*arrays, size, BLOCK=1024)


def test_other_arrays_sizes_and_alignments():
    with tw.triton.on_gpu():
        for number, size in enumerate((N, N, N + 1, 3 * N + 16, N, 5)):
            for first in (0, 1):
                a, b, c = (array[first:] for array in vectors(number, size))
                run((a, b, c))
                run((a, b, c))
                assert torch.equal(c, a + b)


def test_copies_do_not_overtake_the_reads_of_threads():
    """Stages that `ldmatrix` reads, in many blocks of few instructions each."""
    size = 1024
    numbers = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], device="cuda")
    a = torch.randint(-4, 5, (size, size), device="cuda").to(torch.bfloat16)
    b = torch.randint(0, 256, (size, size // 2), device="cuda", dtype=torch.uint8)
    scales = torch.randint(126, 129, (size, size // 32), device="cuda", dtype=torch.uint8)
    nibbles = torch.stack([b & 15, b >> 4], -1).view(size, size).long()
    values = torch.cat([numbers, -numbers])[nibbles]
    values = values * torch.exp2(scales.repeat_interleave(32, 1).float() - 127)
    bytes_ = size // 2, size // 32
    wanted = (a.double() @ values.double().T).float()
    with tw.triton.on_gpu():
        for _ in range(20):
            out = torch.empty(size, size, device="cuda")
            scaled_product[(size // 32 * (size // 32),)](a, b, scales, out, size, size, *bytes_)
            assert torch.equal(out, wanted)


def test_two_compilers_in_one_process():
    a, b, c = vectors(3)
    add[(4,)](a, b, c, N, BLOCK=1024)
    with tw.triton.on_gpu():
        ours = add[(4,)](a, b, c, N, BLOCK=1024)
    theirs = add[(4,)](a, b, c, N, BLOCK=1024)
    assert "ttgir" in theirs.asm and "ttgir" not in ours.asm
    assert torch.equal(c, a + b)


def test_signs_of_zero_are_told_apart():
    x, out = torch.ones(128, device="cuda"), torch.zeros(128, device="cuda")
    with tw.triton.on_gpu():
        for factor in (0.0, -0.0, 2, 2.0):
            scale[(1,)](x, out, factor, BLOCK=128)
            assert torch.equal(torch.signbit(out), torch.signbit(x * factor))
            assert torch.equal(out, x * factor)


def test_autotune_times_configurations():
    x = torch.rand(N, device="cuda")
    out = torch.zeros_like(x)
    with tw.triton.on_gpu():
        tuned[lambda meta: (triton.cdiv(N, meta["BLOCK"]),)](x, out, N)
    assert torch.equal(out, 2 * x)
    assert tuned.best_config.kwargs["BLOCK"] in (128, 256, 1024)


def test_a_graph_is_captured_and_replayed():
    a, b, c = vectors(5)
    with tw.triton.on_gpu():
        run((a, b, c))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run((a, b, c))
    b.fill_(7)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(c, a + 7)


def test_streams_and_threads():
    def one(number: int) -> bool:
        with torch.cuda.stream(torch.cuda.Stream()):
            a, b, c = vectors(number)
            for _ in range(20):
                run((a, b, c))
            torch.cuda.current_stream().synchronize()
            return torch.equal(c, a + b)

    with tw.triton.on_gpu(), ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(32)))


def test_a_programmatic_launch_and_a_cooperative_one():
    a, b, c = vectors(9)
    count, out = torch.zeros(1, dtype=torch.int32, device="cuda"), torch.zeros(64, device="cuda")
    with tw.triton.on_gpu():
        add[(4,)](a, b, c, N, BLOCK=1024, launch_pdl=True)
        meeting[(64,)](count, out, launch_cooperative_grid=True)
    assert torch.equal(c, a + b) and out.sum().item() == 64


def test_a_descriptor_of_the_host():
    x = torch.rand(128, 64, device="cuda").half()
    out = torch.zeros(64, 128, device="cuda", dtype=torch.float16)
    with tw.triton.on_gpu():
        for source in (x, x + 1):
            descriptor = TensorDescriptor(source, [128, 64], [64, 1], [32, 64])
            transposed[(4,)](descriptor, out, M=32, N=64)
            assert torch.equal(out, source.T)


def test_hooks_are_called():
    hooks, names = triton.knobs.runtime.launch_enter_hook, list[str]()

    def told(metadata: Any) -> None:
        names.append(metadata.get()["name"])

    with tw.triton.on_gpu():
        hooks.add(told)
        try:
            run(vectors(1))
        finally:
            hooks.remove(told)
    assert names == ["add"]


def test_memory_of_the_host_is_refused():
    a, b, c = vectors(1)
    with tw.triton.on_gpu(), pytest.raises(ValueError, match="'y' expected memory that the GPU"):
        run((a, b.cpu(), c))


def test_registers_are_bounded():
    with tw.triton.on_gpu():
        compiled = add[(4,)](*vectors(1), N, BLOCK=1024, maxnreg=24)
    assert compiled.n_regs <= 24 and compiled.n_spills == 0
    assert ".maxnreg 24" in compiled.asm["ptx"]


if __name__ == "__main__":
    if NO_GPU is not None:
        sys.exit(f"no GPU: {NO_GPU}")
    failed = 0
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            try:
                test()
                print(name, "passes", flush=True)
            except Exception:
                failed += 1
                traceback.print_exc()
                print(name, "FAILS", flush=True)
    sys.exit(failed)
