"""cuTile's samples as cases of a benchmark: kernels, their configurations, and what they work on.

Needs PyPI cuda-tile and a checkout of github NVIDIA/cutile-python, no GPU; torch, which the samples
import, is stood in for where it is missing.
"""

import importlib
import io
import math
import subprocess
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import user_kernel_cases
from cutile_problems import Case, Matrix, Problem
from user_kernel_cases import OWN

VERSION = "13.4"
CHUNK = 16
"""The bytes, and the elements, that cuTile looks for in addresses, strides and shapes."""


SQUARES = ((512,) * 3, (1024,) * 3, (2048,) * 3, (4096,) * 3, (8192,) * 3)
OTHERS = (
    *((rows, 4096, 4096) for rows in (16, 32, 64, 128, 512)), (2048, 11008, 4096),
    (4096, 4096, 14336), (8192, 1024, 8192),
)  # fmt: skip
TILES = (
    (64, 64, 64), (64, 128, 64), (64, 256, 64), (128, 64, 64), (128, 128, 32), (128, 128, 64),
    (128, 128, 128), (128, 256, 32), (128, 256, 64), (256, 64, 64), (256, 128, 32), (256, 128, 64),
)  # fmt: skip
PERSISTENT = ((64, 256, 64), (128, 128, 64), (128, 256, 64), (256, 128, 64))
CLUSTERS = (
    ((256, 128, 64), False), ((128, 256, 64), False), ((256, 256, 64), False),
    ((256, 256, 64), True),
)  # fmt: skip
"""The tiles of two CTAs each, and whether the kernel is persistent."""


def cases() -> Iterator[Case]:
    """Every kernel in every configuration."""
    for tile in TILES:
        yield _matmul("bfloat16", "bfloat16", tile, (*SQUARES, *OTHERS))
    for tile in PERSISTENT:
        yield _matmul("bfloat16", "bfloat16", tile, (*SQUARES, *OTHERS), persistent=True)
    for tile, persistent in CLUSTERS:
        yield _matmul("bfloat16", "bfloat16", tile, (*SQUARES, *OTHERS), persistent=persistent,
                      ctas=2)  # fmt: skip
    for tile in ((64, 64, 32), (128, 128, 32), (128, 256, 32), (256, 128, 32)):
        yield _matmul("float32", "float32", tile, SQUARES[2:4])
    for tile in ((128, 128, 128), (128, 256, 128)):
        yield _matmul("float8_e4m3fn", "bfloat16", tile, SQUARES[2:])
    yield from _attention()
    yield from _memory_bound()
    yield _batched((128, 256, 64))
    yield _batched((128, 128, 64))
    yield from _fft()
    yield from _experts()
    yield from user_kernel_cases.cases()


def _matmul(
    element: str, result: str, tile: tuple[int, int, int],
    sizes: Sequence[tuple[int, int, int]], *, persistent: bool = False, ctas: int = 1,
) -> Case:  # fmt: skip
    problems: list[Problem] = []
    for m, n, k in sizes:
        blocks = math.ceil(m / tile[0]) * math.ceil(n / tile[1])
        # Of fp8 the tensor cores take K contiguous alone.
        order = (1, 0) if element.startswith("float8") else None
        arguments = (
            Matrix((m, k), element), Matrix((k, n), element, order),
            Matrix((m, n), result, result=True),
        )  # fmt: skip
        grid = (0, blocks) if persistent else (blocks,)
        problems.append(Problem(f"{m}x{n}x{k}", arguments, grid, operations=2.0 * m * n * k))
    kernel = "persistent_matmul_kernel" if persistent else "matmul_kernel"
    name = f"{element} {'x'.join(map(str, tile))}{' persistent' if persistent else ''}"
    if ctas > 1:
        return Case("MatMul", kernel, f"{name} ctas{ctas}", tile, tuple(problems),
                    {"num_ctas": ctas})  # fmt: skip
    return Case("MatMul", kernel, name, tile, tuple(problems))


def _batched(tile: tuple[int, int, int]) -> Case:
    batch, m, n, k = 16, 1024, 1024, 1024
    arguments = (
        Matrix((batch, m, k)), Matrix((batch, k, n)), Matrix((batch, m, n), result=True)
    )  # fmt: skip
    grid = (batch, math.ceil(m / tile[0]), math.ceil(n / tile[1]))
    problem = Problem(f"{batch}x{m}x{n}x{k}", arguments, grid, operations=2.0 * batch * m * n * k)
    return Case("BatchMatMul", "batch_matmul_kernel", "x".join(map(str, tile)), tile, (problem,))


MANY_TILES = (
    (256, 128, 1, 2), (256, 128, 1), (128, 128, 2), (128, 128, 1), (128, 64, 2), (128, 64, 1),
    (64, 64, 4), (64, 64, 2), (64, 32, 2),
)  # fmt: skip
"""Rows, columns, occupancy, and the CTAs of a tile."""
ATTENTION = (
    ("d64", "bfloat16", 1, ((4, 16, 2048, 64), (2, 16, 4096, 64)), MANY_TILES),
    ("d128", "bfloat16", 1, ((2, 16, 4096, 128), (1, 16, 8192, 128), (1, 16, 16384, 128)),
     MANY_TILES),
    ("d256", "bfloat16", 1, ((4, 8, 2048, 256), (1, 8, 16384, 256)), ((128, 64, 1), (64, 64, 1))),
    ("gqa8", "bfloat16", 8, ((2, 32, 2048, 128), (1, 32, 32768, 128)), ((128, 128, 1),)),
    ("fp8", "float8_e4m3fn", 1, ((1, 16, 8192, 128), (1, 16, 16384, 128)),
     ((128, 128, 1), (128, 64, 1), (64, 128, 2))),
)  # fmt: skip
"""Names, elements, heads of queries for each of keys, batch, heads, length and depth, and tiles."""


def _attention() -> Iterator[Case]:
    for (name, element, group, shapes, tiles), causal in product(ATTENTION, (False, True)):
        for rows, columns, occupancy, *ctas in tiles:
            problems: list[Problem] = []
            for batch, heads, length, depth in shapes:
                shape = batch, heads, length, depth
                keys = Matrix((batch, heads // group, length, depth), element)
                # Of fp8 the tensor cores take keys contiguous alone.
                values = replace(keys, order=(0, 1, 3, 2) if name == "fp8" else None)
                scale = 1 / math.sqrt(depth)
                arguments = (
                    Matrix(shape, element), keys, values, Matrix(shape, result=True), scale, 0
                )  # fmt: skip
                work = 4.0 * math.prod(shape) * length / (2 if causal else 1)
                grid = math.ceil(length / rows), batch * heads
                problems.append(Problem("x".join(map(str, shape)), arguments, grid, work))
            shown = f"{'causal ' if causal else ''}{name} {rows}x{columns} occ{occupancy}"
            # Tile sizes divide the lengths: EVEN_K.
            constants = (shapes[0][3], shapes[0][1], rows, columns, group, causal, True)
            hints = {"occupancy": occupancy}
            if ctas:
                shown, hints["num_ctas"] = f"{shown} ctas{ctas[0]}", ctas[0]
            yield Case("AttentionFMHA", "fmha_kernel", shown, constants, tuple(problems), hints)


def _memory_bound() -> Iterator[Case]:
    count = 1 << 26
    vector = Matrix((count,), "float32")
    out = Matrix((count,), "float32", result=True)
    for tile in (1024, 4096):
        problem = Problem(f"{count}", (vector, vector, out), (count // tile,), bytes=12.0 * count)
        yield Case("VectorAddition", "vec_add_kernel_1d", f"f32 {tile}", (tile,), (problem,))
    size = 8192
    for tile in ((64, 64), (128, 128)):
        grid = (size // tile[0], size // tile[1])
        arguments = (Matrix((size, size), "float16"), Matrix((size, size), "float16", result=True))
        problem = Problem(f"{size}x{size}", arguments, grid, bytes=4.0 * size * size)
        yield Case("Transpose", "transpose_kernel", f"f16 {tile[0]}x{tile[1]}", tile, (problem,))
    rows, columns = 16384, 4096
    for tile in (1024, 4096):
        arguments = (
            Matrix((rows, columns)), Matrix((columns,)), Matrix((columns,)),
            Matrix((rows, columns), result=True), Matrix((rows,), "float32", result=True),
            Matrix((rows,), "float32", result=True), 1e-5,
        )  # fmt: skip
        problem = Problem(f"{rows}x{columns}", arguments, (rows,), bytes=4.0 * rows * columns)
        yield Case("LayerNorm", "layer_norm_fwd", f"bf16 {tile}", (tile,), (problem,))


def _fft() -> Iterator[Case]:
    """Transforms of 4096 complex numbers, `several` a block."""
    batch, factors, packed = 4096, (16, 16, 16), 64
    total = math.prod(factors)
    for element in ("float32", "float16"):
        shape = batch, 2 * total // packed, packed
        tables = (*((f, f, 2) for f in factors), (16, 256, 2), (16, 16, 2))
        arguments = (
            Matrix(shape, element), Matrix(shape, element, result=True),
            *(Matrix(table, element) for table in tables),
        )  # fmt: skip
        work = 2.0 * batch * 2 * total * (4 if element == "float32" else 2)
        for several in (1, 2):
            problem = Problem(f"{batch}x{total}", arguments, (batch // several,), bytes=work)
            constants = (total, *factors, several, packed)
            yield Case("FFT", "fft_kernel", f"{element} {several}", constants, (problem,))


def _experts() -> Iterator[Case]:
    """Both products of a mixture of 64 experts, eight for each token, and what is between them."""
    tokens, experts, experts_of_token, hidden, inner = 4096, 64, 8, 2048, 1024
    rows = tokens * experts_of_token
    for name, shared, sums, columns in (
        ("up", experts_of_token, hidden, 2 * inner),
        ("down", 1, inner, hidden),
    ):
        for tile in ((64, 128, 64), (128, 128, 64), (128, 256, 64)):
            arguments = (
                Matrix((rows // shared, sums)), Matrix((experts, columns, sums)),
                Matrix((rows, columns), result=True), Matrix((rows,)),
                Matrix((rows,), "int32", below=rows, shuffled=True),
                Matrix((rows // tile[0],), "int32", below=experts), shared,
            )  # fmt: skip
            grid = rows // tile[0] * math.ceil(columns / tile[1])
            work = 2.0 * rows * columns * sums
            problem = Problem(f"{rows}x{columns}x{sums}", arguments, (grid,), operations=work)
            constants = (name == "down", *tile)
            yield Case("MoE", "fused_moe_kernel", f"{name} {'x'.join(map(str, tile))}", constants,
                       (problem,))  # fmt: skip
    arguments = (*(Matrix((rows, inner)),) * 2, Matrix((rows, inner), result=True))
    problem = Problem(f"{rows}x{inner}", arguments, (rows,), bytes=6.0 * rows * inner)
    yield Case("MoE", "silu_and_mul_kernel", f"silu {inner}", (inner,), (problem,))


# --- bytecode and cubins --------------------------------------------------------------------------


def bytecode(case: Case, checkout: Path) -> bytes:
    """The bytecode of a case, as cuTile makes it for such arguments."""
    kernel = getattr(_sample(case.sample, checkout), case.kernel)
    compilation, ct = (importlib.import_module(name) for name in
                       ("cuda.tile.compilation", "cuda.tile"))  # fmt: skip
    constraints = [
        _constraint(argument, ct, compilation) for argument in case.problems[0].arguments
    ]
    constraints += [compilation.ConstantConstraint(constant) for constant in case.constants]
    convention = compilation.CallingConvention.cutile_python_v2()
    signature = compilation.KernelSignature(constraints, convention, symbol="k")
    if case.hints:
        kernel = kernel.replace_hints(**case.hints)
    file = io.BytesIO()
    compilation.export_kernel(
        kernel, [signature], file, gpu_code=None, output_format="tileir_bytecode",
        bytecode_version=VERSION,
    )  # fmt: skip
    return file.getvalue()


def _constraint(argument: Any, ct: Any, compilation: Any) -> Any:
    if not isinstance(argument, Matrix):
        return compilation.ScalarConstraint(ct.float32 if isinstance(argument, float) else ct.int32)
    dtype, strides = getattr(ct, argument.element), argument.strides
    per = CHUNK // (dtype.bitwidth // 8)
    return compilation.ArrayConstraint(
        dtype, len(argument.shape), index_dtype=ct.int32, stride_lower_bound_incl=0,
        alias_groups=(), may_alias_internally=False,
        stride_constant=[1 if stride == 1 else None for stride in strides],
        stride_divisible_by=[1 if stride == 1 or stride % per else per for stride in strides],
        shape_divisible_by=[1 if size % CHUNK else CHUNK for size in argument.shape],
        base_addr_divisible_by=CHUNK,
    )  # fmt: skip


class _Names(type):
    """A class whose names alone a sample needs."""

    def __getattr__(cls, name: str) -> Any:
        return _Names(name, (), {})


class _Missing(types.ModuleType):
    """A module whose names alone a sample needs."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Names(name, (), {})


def _sample(name: str, checkout: Path) -> Any:
    for folder in (checkout, checkout / "samples"):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    try:
        importlib.import_module("torch")
    except ImportError:
        for module in ("torch", "torch.nn", "torch.nn.functional", "torch.nn.attention"):
            sys.modules.setdefault(module, _Missing(module))
            parent, _, child = module.rpartition(".")
            if parent:
                setattr(sys.modules[parent], child, sys.modules[module])
    return importlib.import_module(name if name == OWN else f"samples.{name}")


def cubin(code: bytes, tileiras: str, arch: str, folder: Path) -> bytes | None:
    """The cubin that tileiras makes of bytecode; None where it refuses it."""
    source, result = folder / "kernel.tileirbc", folder / "kernel.cubin"
    source.write_bytes(code)
    command = [tileiras, "--gpu-name", arch, "-o", str(result), str(source)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1:], file=sys.stderr)
        return None
    return result.read_bytes()
