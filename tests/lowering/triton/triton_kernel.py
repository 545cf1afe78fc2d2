"""Kernels of Triton that tests are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import tilewright as tw
from tilewright.lowering.triton.convert_triton_to_cuda_tile import ConvertTritonToCudaTilePass
from tilewright.source.parsing import default_context, parse_module
from tilewright.source.verification import verify

DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}


def converted(text: str, **options: Any) -> Any:
    """The module of Tile IR that a text of Triton becomes, verified."""
    module = parse_module(text)
    ConvertTritonToCudaTilePass(**options).apply(default_context(), module)
    verify(module, None)
    return module


def run(text: str, *args: Any, grid: tuple[int, ...] = (1,), **options: Any) -> list[Any]:
    """The arrays that kernel `k` of a text leaves."""
    return list(tw.interpret(converted(text, **options), "k", grid=grid, args=list(args)))


def on_tiles(body: str, inputs: str, result: str, shape: str = "16", out: str | None = None) -> str:
    """A kernel that loads a tile of each type of `inputs`, %a, %b and so on, and stores %r."""
    names = "abcd"[: len(inputs.split())]
    types = dict(zip(names, inputs.split(), strict=True))
    parameters = [f"%p{name}: !tt.ptr<{type_}>" for name, type_ in types.items()]
    lines: list[str] = []
    for name, type_ in types.items():
        lines += places(f"p{name}", type_, shape, name)
        lines.append(f"%{name} = tt.load %{name}_at : tensor<{shape}x!tt.ptr<{type_}>>")
    out = shape if out is None else out
    lines += [body, *places("out", result, out, "r")]
    lines.append(f"tt.store %r_at, %r : {tensor(out, f'!tt.ptr<{result}>')}")
    text = "\n    ".join(lines)
    return (
        f"module {{\n  tt.func public @k({', '.join(parameters)}, %out: !tt.ptr<{result}>) {{\n"
        f"    {text}\n    tt.return\n  }}\n}}\n"
    )


def tensor(shape: str, element: str) -> str:
    """A type of tensors, of no shape its element."""
    return f"tensor<{shape}x{element}>" if shape else element


def places(pointer: str, element: str, shape: str, name: str) -> list[str]:
    """The pointers to a tile that lies in memory row by row, `%NAME_at`."""
    if not shape:
        zero = f"%{name}_z = arith.constant 0 : i32"
        return [zero, f"%{name}_at = tt.addptr %{pointer}, %{name}_z : !tt.ptr<{element}>, i32"]
    count = int(np.prod([int(extent) for extent in shape.split("x")]))
    pointers = f"tensor<{count}x!tt.ptr<{element}>>"
    end = f"%{name}_at = tt.reshape %{name}_f : {pointers} -> tensor<{shape}x!tt.ptr<{element}>>"
    return [
        f"%{name}_i = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>",
        f"%{name}_s = tt.splat %{pointer} : !tt.ptr<{element}> -> {pointers}",
        f"%{name}_f = tt.addptr %{name}_s, %{name}_i : {pointers}, tensor<{count}xi32>",
        end,
    ]


def numbers(element: str, shape: tuple[int, ...], seed: int = 0) -> NDArray[Any]:
    """Numbers of a type, with a few that are special."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(DTYPES[element])
    if dtype.kind == "f":
        values = (random.standard_normal(shape) * 4).astype(dtype)
        values.reshape(-1)[:3] = [0.0, -0.0, np.inf]
        return values
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    return random.integers(-100, 100, shape).astype(dtype)
