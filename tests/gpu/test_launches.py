"""Launches like one before, on the GPU of this machine: in graphs, by threads, on streams and GPUs.

Skipped, with the reason, where there is no GPU. Run as a script, it calls each test. Needs torch.
"""

from __future__ import annotations

import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cuda.tile as ct
import numpy as np
import pytest
from launched_kernels import add, product

from tilewright import cutile
from tilewright.launch.launcher import LaunchError, device_arch

try:
    import torch

    NO_GPU = None if device_arch() else ""
except (ImportError, LaunchError) as error:
    torch: Any = None
    NO_GPU = str(error)

pytestmark = pytest.mark.skipif(NO_GPU is not None, reason=f"needs a GPU: {NO_GPU}")
N, T = 4096, 1024


@ct.kernel
def of_lists(a, b, n: ct.Constant[int]):
    for i in range(len(a)):
        ct.store(b[i], (0,), tile=ct.load(a[i], (0,), (n,)))


def vectors(number: int, size: int = N, device: str = "cuda") -> Any:
    """Three vectors, of which the first two are numbers that say which they are."""
    a = torch.arange(size, device=device, dtype=torch.float32)
    return a, torch.full_like(a, number), torch.zeros_like(a)


def run(arrays: Any, stream: Any = None) -> None:
    """Launch an add of three vectors."""
    stream = torch.cuda.current_stream() if stream is None else stream
    ct.launch(stream, (-(-arrays[0].shape[0] // T),), add, (*arrays, T))


def test_other_arrays_sizes_and_alignments():
    with cutile.on_gpu():
        for number, size in enumerate((N, N, N + 1, 3 * N + 16, N, 5)):
            for first in (0, 1):
                a, b, c = (array[first:] for array in vectors(number, size))
                run((a, b, c))
                run((a, b, c))
                assert torch.equal(c, a + b)


def test_tensor_maps_of_other_arrays():
    with cutile.on_gpu():
        for m, n, k in [(256, 256, 256), (256, 256, 256), (192, 320, 128), (256, 512, 64)] * 2:
            a, b = (
                torch.randn(shape, device="cuda", dtype=torch.float16) for shape in ((m, k), (k, n))
            )
            c = torch.zeros((m, n), device="cuda", dtype=torch.float16)
            for _ in range(2):
                stream = torch.cuda.current_stream()
                ct.launch(stream, (-(-m // 64), -(-n // 64)), product, (a, b, c, 64))
                torch.testing.assert_close(c, a @ b, atol=1e-2, rtol=1e-2)
                c.zero_()


def test_graphs():
    """A first launch, and one like it; what a graph cannot have leaves the capture as it was."""
    with cutile.on_gpu():
        arrays, graph = vectors(1), torch.cuda.CUDAGraph()
        fresh = ct.kernel(add._annotated_function.pyfunc)
        with torch.cuda.graph(graph):
            stream = torch.cuda.current_stream()
            ct.launch(stream, (N // T,), fresh, (*arrays, T))
            ct.launch(stream, (N // T,), fresh, (arrays[2], arrays[1], arrays[2], T))
            a, b = [arrays[0][:8]], [arrays[1][:8]]
            with pytest.raises(RuntimeError, match="List argument in CUDAGraph isn't supported"):
                ct.launch(stream, (1,), of_lists, (a, b, 8))
            with pytest.raises(RuntimeError, match="got one of NumPy"):
                ct.launch(stream, (1,), fresh, (*[np.zeros(T, np.float32)] * 3, T))
        assert not arrays[2].any()
        graph.replay()
        assert torch.equal(arrays[2], arrays[0] + 2)
        torch.randn(4, device="cuda")


def test_threads_and_streams():
    def many(number: int) -> bool:
        stream, right = torch.cuda.Stream(), True
        with torch.cuda.stream(stream):
            for i in range(50):
                arrays = vectors(number + i, N + 16 * (i % 5))
                run(arrays, stream)
                right &= torch.equal(arrays[2], arrays[0] + arrays[1])
        return right

    with cutile.on_gpu(), ThreadPoolExecutor(8) as pool:
        assert all(pool.map(many, range(16)))


def test_every_gpu():
    with cutile.on_gpu():
        for number in range(torch.cuda.device_count()):
            with torch.cuda.device(number):
                for _ in range(2):
                    arrays = vectors(number, device=f"cuda:{number}")
                    run(arrays)
                    assert torch.equal(arrays[2], arrays[0] + arrays[1])


if __name__ == "__main__":
    if NO_GPU is not None:
        sys.exit(f"needs a GPU: {NO_GPU}")
    failed = 0
    for name, test in [row for row in globals().items() if row[0].startswith("test_")]:
        try:
            test()
            print(f"{name}: passed")
        except BaseException:
            failed += 1
            print(f"{name}: FAILED")
            traceback.print_exc()
    sys.exit(failed)
