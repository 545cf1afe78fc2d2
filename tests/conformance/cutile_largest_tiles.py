"""No kernel that tileiras compiles is refused for memory: kernels whose tiles grow, by both.

    python tests/conformance/cutile_largest_tiles.py [--arch sm_90a ...] [--tileiras PATH]

Kernels that keep much at once (products, chains of them, several accumulators, turns, reductions,
scans, gathers) are compiled in every size. What is refused is printed with its words; with
`tileiras` (of PyPI `nvidia-cuda-tileiras`; libnvvm and ptxas beside it) only what that takes counts
against us. Needs PyPI `cuda-tile`, no GPU. The exit status is 1 where something counts.
"""

import argparse
import io
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cuda.tile as ct  # pyright: ignore
from cuda.tile import compilation  # pyright: ignore

import tilewright

Int = ct.Constant[int]
ARCHS = ("sm_80", "sm_90a", "sm_100a", "sm_120a")
MINUTES = 5


@ct.kernel
def product(a, b, c, M: Int, N: Int, K: Int):
    total = ct.zeros((M, N), ct.float32)
    for k in range(ct.num_tiles(a, 1, (M, K))):
        left, right = ct.load(a, (ct.bid(0), k), (M, K)), ct.load(b, (k, ct.bid(1)), (K, N))
        total = ct.mma(left, right, total)
    ct.store(c, (ct.bid(0), ct.bid(1)), total.astype(c.dtype))


@ct.kernel
def chain(a, b, c, M: Int, N: Int, K: Int):
    """A product of a product, and both results."""
    first = ct.mma(
        ct.load(a, (ct.bid(0), 0), (M, K)), ct.load(b, (0, 0), (K, N)), ct.zeros((M, N), ct.float32)
    )
    turned = ct.load(b, (0, 0), (K, N)).transpose()
    second = ct.mma(first.astype(a.dtype), turned, ct.zeros((M, K), ct.float32))
    ct.store(c, (ct.bid(0), 0), first.astype(c.dtype))
    ct.store(a, (ct.bid(0), 0), second.astype(a.dtype))


@ct.kernel
def state(a, b, c, M: Int, N: Int, K: Int):
    """What a linear attention does: a state is kept, stored and read in each step."""
    kept = ct.zeros((K, N), ct.float32)
    for step in range(ct.num_tiles(a, 0, (M, K))):
        left, right = ct.load(a, (step, 0), (M, K)), ct.load(b, (step, 0), (M, N))
        seen = ct.mma(left, kept.astype(a.dtype), ct.zeros((M, N), ct.float32))
        ct.store(c, (step, 0), seen.astype(c.dtype))
        kept = ct.mma(left.transpose(), right, kept)


@ct.kernel
def rows(a, b, c, M: Int, N: Int, K: Int):
    """Reductions, a scan and a turn of one tile."""
    tile = ct.load(a, (ct.bid(0), 0), (M, N)).astype(ct.float32)
    tile = tile - ct.max(tile, axis=1, keepdims=True)
    ct.store(c, (ct.bid(0), 0), ct.cumsum(ct.exp(tile), axis=1).astype(c.dtype))
    ct.store(b, (0, ct.bid(0)), ct.cumsum(tile, axis=0).transpose().astype(b.dtype))


@ct.kernel
def gathered(a, b, c, M: Int, N: Int, K: Int):
    i, j = ct.arange(M, dtype=ct.int32), ct.arange(N, dtype=ct.int32)
    tile = ct.gather(a, (i[:, None], j[None, :] * 3))
    ct.scatter(c, (j[:, None], i[None, :]), tile.transpose())


KERNELS: dict[str, tuple[Any, tuple[tuple[int, int, int], ...]]] = {
    "product": (product, ((128, 256, 64), (256, 256, 128), (512, 256, 64), (256, 256, 256))),
    "chain": (chain, ((64, 128, 128), (128, 256, 128), (256, 256, 256), (64, 512, 256))),
    "state": (state, ((64, 128, 128), (128, 256, 128), (64, 256, 256), (128, 256, 256))),
    "rows": (rows, ((1, 65536, 1), (128, 128, 1), (256, 256, 1), (512, 256, 1))),
    "gathered": (gathered, ((128, 128, 1), (256, 256, 1), (512, 256, 1))),
}
ELEMENTS = (ct.bfloat16, ct.float32)


def bytecode(kernel: Any, element: Any, constants: Sequence[int]) -> bytes:
    """The bytecode for three matrices of an element."""
    array = compilation.ArrayConstraint(
        element, 2, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(),
        may_alias_internally=False, stride_constant=[None, 1], stride_divisible_by=[16, 1],
        shape_divisible_by=[16, 16], base_addr_divisible_by=16,
    )  # fmt: skip
    constraints = [array] * 3 + [compilation.ConstantConstraint(value) for value in constants]
    convention = compilation.CallingConvention.cutile_python_v2()
    signature = compilation.KernelSignature(constraints, convention, symbol="k")
    file = io.BytesIO()
    compilation.export_kernel(kernel, [signature], file, gpu_code=None,
                              output_format="tileir_bytecode")  # fmt: skip
    return file.getvalue()


def modules() -> Iterator[tuple[str, bytes]]:
    """Every kernel in every size and element: its name and its bytecode."""
    for name, (kernel, sizes) in KERNELS.items():
        for element in ELEMENTS:
            for size in sizes:
                words = f"{name} {element.name} {'x'.join(map(str, size))}"
                yield words, bytecode(kernel, element, size)


def theirs(code: bytes, tileiras: str, arch: str) -> str:
    """What tileiras says of bytecode, "" where it compiles."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.tileirbc")
        source.write_bytes(code)
        command = [tileiras, "--gpu-name", arch.rstrip("a"), "-o", f"{folder}/cubin", str(source)]
        try:
            done = subprocess.run(
                command, check=False, capture_output=True, text=True, timeout=60 * MINUTES
            )
        except subprocess.TimeoutExpired:
            return f"nothing within {MINUTES} minutes"
    return (done.stderr.strip() or "refused") if done.returncode else ""


def main() -> int:
    """Compile everything, print what is refused, and a line of counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--arch", nargs="+", default=ARCHS)
    parser.add_argument("--tileiras")
    options = parser.parse_args()
    count = against = 0
    for name, code in modules():
        for arch in options.arch:
            count += 1
            try:
                tilewright.compile(code, arch=arch)
            except tilewright.CompileError as error:
                print(f"{name}, {arch}: {error}")
                said = theirs(code, options.tileiras, arch) if options.tileiras else ""
                print(f"  tileiras: {said or 'compiles' if options.tileiras else 'not asked'}")
                against += not said
    print(f"{count} compiled, {against} refused that tileiras takes")
    return int(bool(against))


if __name__ == "__main__":
    sys.exit(main())
