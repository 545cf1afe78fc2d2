"""Our programs of libdevice's functions beside CUDA's own: on a machine with a GPU, torch and cupy.

    python tests/silicon/compare_libdevice.py

Of a function of one f32 it compares all 2^32 arguments, of any other many random ones, bit for bit
with CUDA's (compiled by NVRTC), and torch's where torch has it; NaNs are alike. Exits with 1 where
ours differs."""

import sys
from typing import Any

import cupy  # pyright: ignore[reportMissingImports]
import numpy as np
import torch  # pyright: ignore[reportMissingImports]
from numpy.typing import NDArray

import tilewright as tw
from tilewright.dialects.math_functions.libdevice import LIBDEVICE, LibdeviceFunction

_COUNT, _BLOCK = 1 << 26, 256
_C = {"f32": "float", "f64": "double"}
_RANDOM = 8
"""Launches on random arguments, each of 2^22."""
_NANS = {"f32": 0x7FFFFFFF, "f64": 0x7FFFFFFFFFFFFFFF}
"""The words that stand for any NaN."""
_REALS: dict[str, Any] = {"f32": np.float32, "f64": np.float64}


def arguments(arity: int, type_: str, count: int, seed: int) -> list[NDArray[Any]]:
    """Bits of so many arguments: a third of any numbers, a third around 1, the rest around 0 and
    with few digits, and zeros, infinities, NaN and the ends of the ranges."""
    rng, real = np.random.default_rng(seed), np.dtype(_REALS[type_])
    word, third = np.dtype(f"u{real.itemsize}"), count // 3
    edges = np.array(
        [0, 1, np.inf, np.nan, 0.5, 2, 3, np.finfo(real).tiny, np.finfo(real).max], real
    )
    operands: list[NDArray[Any]] = []
    for _ in range(arity):
        anything = rng.integers(0, 1 << word.itemsize * 8, third, word, endpoint=False)
        near = np.exp(rng.normal(0, 1, third)).astype(real)
        small = (rng.normal(0, 8, count - 2 * third).astype(np.float16)).astype(real)
        small[: 2 * len(edges)] = np.concatenate([edges, -edges])
        operands.append(np.concatenate([anything, near.view(word), small.view(word)]))
        operands[-1] = rng.permutation(operands[-1]) if arity > 1 else operands[-1]
    return operands


def ours(name: str, row: LibdeviceFunction) -> Any:
    """The kernel of our program."""
    letters = "xyz"[: row.arity]
    memory = f"memref<{_COUNT}x{row.type_}>"
    loads = "\n".join(f"  %{x} = memref.load %p{x}[%i] : {memory}" for x in letters)
    text = f"""func.func @k({", ".join(f"%p{x} : {memory}" for x in letters + "r")})
    attributes {{gpu.kernel}} {{
  %t = "gpu.thread_id"() {{dimension = #gpu<dim x>}} : () -> index
  %b = "gpu.block_id"() {{dimension = #gpu<dim x>}} : () -> index
  %size = arith.constant {_BLOCK} : index
  %first = arith.muli %b, %size : index
  %i = arith.addi %first, %t : index
{loads}
  %r = cute_nvgpu.libdevice "{name}" {", ".join(f"%{x}" for x in letters)} : {row.type_}
  memref.store %r, %pr[%i] : {memory}
  func.return
}}"""
    path = f"/tmp/{name}.ptx"
    with open(path, "w") as file:
        file.write(tw.compile(text, "sm_90a").ptx)
    return cupy.RawModule(path=path).get_function("k")


def theirs(name: str, row: LibdeviceFunction) -> Any:
    """The kernel of CUDA's function."""
    letters, type_ = "xyz"[: row.arity], _C[row.type_]
    arrays = ", ".join(f"{type_} *p{x}" for x in letters + "r")
    given = ", ".join(f"p{x}[i]" for x in letters)
    text = f"""extern "C" __global__ void k({arrays}) {{
  long long i = (long long)blockIdx.x * {_BLOCK} + threadIdx.x;
  pr[i] = {name.removeprefix("__nv_")}({given});
}}"""
    return cupy.RawKernel(text, "k")


def results(kernel: Any, given: list[Any]) -> Any:
    """The bits that a kernel makes of arguments, NaNs alike."""
    result = cupy.empty_like(given[0])
    kernel((len(result) // _BLOCK,), (_BLOCK,), (*given, result))
    return plain(result)


def plain(result: Any) -> Any:
    """The bits, NaNs alike."""
    word, nan = cupy.dtype(f"u{result.itemsize}"), _NANS[f"f{8 * result.itemsize}"]
    return cupy.where(cupy.isnan(result), word.type(nan), result.view(word))


def compared(name: str, row: LibdeviceFunction) -> int:
    """How many results differ."""
    mine, cuda = ours(name, row), theirs(name, row)
    torchs = getattr(torch, name.removeprefix("__nv_").removesuffix("f" * (row.type_ == "f32")), 0)
    everything = row.arity == 1 and row.type_ == "f32"
    counts, shown = [0, 0], 0
    for part in range((1 << 32) // _COUNT if everything else _RANDOM):
        if everything:
            words = [cupy.arange(part * _COUNT, (part + 1) * _COUNT, dtype=np.uint32)]
        else:
            words = [cupy.asarray(x) for x in arguments(row.arity, row.type_, 1 << 22, part + 1)]
        given = [x.view(_REALS[row.type_]) for x in words]
        wanted = results(cuda, given)
        others = [results(mine, given)]
        if torchs:
            tensors = [torch.as_tensor(x, device="cuda") for x in given]
            others.append(plain(cupy.asarray(torchs(*tensors))))
        for number, other in enumerate(others):
            differ = other != wanted
            counts[number] += int(differ.sum())
            for place in cupy.flatnonzero(differ)[: 4 - shown].tolist():
                shown += 1
                operands = [
                    f"{float(x[place])!r} {int(w[place]):#x}"
                    for x, w in zip(given, words, strict=True)
                ]
                print(name, ("ours", "torch")[number], operands, hex(int(other[place])),
                      "for", hex(int(wanted[place])), flush=True)  # fmt: skip
    print(name, "ours differ", counts[0], "torch differs", counts[1] if torchs else "-", flush=True)
    return counts[0]


def main() -> int:
    """Compare all functions."""
    wrong = 0
    for name, row in LIBDEVICE.items():
        wrong += compared(name, row)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
