"""What the chip's libdevice computes, beside what our programs do: on a machine with a GPU, torch,
cupy and its compiler.

    python tests/silicon/record_libdevice.py tests/silicon/fixtures/libdevice.json

Of a function of one f32 it compares all 2^32 arguments, of any other many random ones, bit for bit
with CUDA's own (compiled by nvcc) and with torch's where torch has it; NaNs are alike. It records
digests of CUDA's results on the arguments that `libdevice_arguments.py` gives, which the CPU's
tests ask of the interpreter. Exits with 1 where something differs."""

import json
import subprocess
import sys
from typing import Any

import cupy  # pyright: ignore[reportMissingImports]
import numpy as np
import torch  # pyright: ignore[reportMissingImports]
from libdevice_arguments import INSTRUCTIONS, NANS, WORDS, arguments, digest, upper_words

import tilewright as tw
from tilewright.dialects.math_functions.libdevice import RECORDED, LibdeviceFunction

_COUNT, _BLOCK = 1 << 26, 256
_C = {"f32": "float", "f64": "double"}
_RANDOM = 8
"""Launches on random arguments, each of 2^22."""


def ours(name: str, row: LibdeviceFunction) -> Any:
    """The kernel of our program."""
    letters = "xyz"[: row.arity]
    memory = f"memref<{_COUNT}x{row.type_}>"
    loads = "\n".join(f"  %{x} = memref.load %p{x}[%i] : {memory}" for x in letters)
    values, types = ", ".join(f"%{x}" for x in letters), ", ".join(row.operands)
    text = f"""func.func @k({", ".join(f"%p{x} : {memory}" for x in letters + "r")})
    attributes {{gpu.kernel}} {{
  %t = "gpu.thread_id"() {{dimension = #gpu<dim x>}} : () -> index
  %b = "gpu.block_id"() {{dimension = #gpu<dim x>}} : () -> index
  %size = arith.constant {_BLOCK} : index
  %first = arith.muli %b, %size : index
  %i = arith.addi %first, %t : index
{loads}
  %r = cute_nvgpu.libdevice "{name}" {values} : ({types}) -> {row.result}
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
    stem = f"/tmp/cuda{name}"
    with open(f"{stem}.cu", "w") as file:
        file.write(text)
    subprocess.run(
        ["nvcc", "-arch=sm_90a", "-cubin", "-o", f"{stem}.cubin", f"{stem}.cu"], check=True
    )
    return cupy.RawModule(path=f"{stem}.cubin").get_function("k")


def results(kernel: Any, given: list[Any]) -> Any:
    """The bits that a kernel makes of arguments, NaNs alike."""
    result = cupy.empty_like(given[0])
    kernel((len(result) // _BLOCK,), (_BLOCK,), (*given, result))
    return plain(result)


def plain(result: Any) -> Any:
    """The bits, NaNs alike."""
    word, nan = cupy.dtype(f"u{result.itemsize}"), NANS[f"f{8 * result.itemsize}"]
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
        given = [x.view({"f32": np.float32, "f64": np.float64}[row.type_]) for x in words]
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


def recorded(name: str, row: LibdeviceFunction) -> str:
    """The digest of CUDA's results."""
    real = {"f32": np.float32, "f64": np.float64}[row.type_]
    words = [cupy.asarray(x).view(real) for x in arguments(row.arity, row.type_, WORDS)]
    return digest(cupy.asnumpy(results(theirs(name, row), words)))


def instruction(name: str) -> str:
    """The digest of what an instruction makes of f64."""
    text = f"""extern "C" __global__ void k(double *px, double *pr) {{
  long long i = (long long)blockIdx.x * {_BLOCK} + threadIdx.x;
  asm("{name} %0, %1;" : "=d"(pr[i]) : "d"(px[i]));
}}"""
    words = cupy.asarray(upper_words())
    result = cupy.empty_like(words)
    cupy.RawKernel(text, "k")((len(words) // _BLOCK,), (_BLOCK,), (words, result))
    return digest(cupy.asnumpy(result))


def main() -> int:
    """Compare all functions and record their digests."""
    digests = {name: instruction(name) for name in INSTRUCTIONS}
    wrong = 0
    for name, row in RECORDED.items():
        try:
            digests[name] = recorded(name, row)
            wrong += compared(name, row)
        except Exception as error:
            print(name, type(error).__name__, str(error)[:2000], flush=True)
            wrong += 1
    with open(sys.argv[1], "w") as file:
        json.dump(digests, file, indent=1)
        file.write("\n")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
