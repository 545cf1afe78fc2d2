"""Products by fused multiply-adds that have operands in common: threads lay these down once."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tile_ir import entry, equal_as_ptx

import tilewright as tw


def products(depth: int, columns: int, *named: str) -> str:
    """A @k of C, D = A B for each name `C=A*B`, of arrays or of what is named before."""
    body, arrays = "    %o = constant <i32: 0> : tile<i32>\n", ["a", "b", "x", "y"]
    square, wide = f"{depth}x{depth}", f"{depth}x{columns}"
    results = [name[0] for name in named]
    for name in [*arrays, *results]:
        shape = square if name in ("a", "b") else wide
        width = shape.partition("x")[2]
        tensor = f"tensor_view<{shape}xf32, strides=[{width},1]>"
        view = f"partition_view<tile=({shape}), {tensor}>"
        body += f"""
    %{name}t = make_tensor_view %{name}p, shape = [{shape.replace("x", ", ")}],
        strides = [{width}, 1] : {tensor}
    %{name}v = make_partition_view %{name}t : {view}
"""
        if name in arrays:
            body += f"    %{name}, %{name}u = load_view_tko weak %{name}v[%o, %o] : {view}, "
            body += f"tile<i32> -> tile<{shape}xf32>, token\n"
    body += f"    %z = constant <f32: 1.0> : tile<{wide}xf32>\n"
    for name in named:
        result, left, right = re.split("[=*]", name)
        body += f"    %{result} = mmaf %{left}, %{right}, %z : tile<{square}xf32>, "
        body += f"tile<{wide}xf32>, tile<{wide}xf32>\n"
    for name in results:
        view = f"partition_view<tile=({wide}), tensor_view<{wide}xf32, strides=[{columns},1]>>"
        body += f"    %{name}w = store_view_tko weak %{name}, %{name}v[%o, %o] : "
        body += f"tile<{wide}xf32>, {view}, tile<i32> -> token\n"
    pointers = ", ".join(f"%{name}p: tile<ptr<f32>>" for name in [*arrays, *results])
    return entry(pointers, body)


@pytest.mark.parametrize(
    "columns, named, barriers",
    [
        (128, ("c=a*x", "d=b*y", "e=b*x", "f=a*y"), 1),
        (128, ("c=a*x", "d=b*y"), 3),
        (128, ("c=a*x", "d=a*c"), 3),
        (256, ("c=a*x", "d=b*y", "e=b*x", "f=a*y"), 3),
    ],
    ids=["complex", "nothing in common", "one of the other", "registers for two"],
)
def test_operands_in_common(columns: int, named: tuple[str, ...], barriers: int) -> None:
    text = products(16, columns, *named)
    ptx = tw.compile(text, "sm_90a").ptx
    assert ptx.count("fma.rn.f32") == len(named) * 16 * 16 * columns // 128
    assert ptx.count("bar.sync") == barriers
    random = np.random.default_rng(0)
    shapes = [(16, 16)] * 2 + [(16, columns)] * (2 + len(named))
    args = [random.standard_normal(shape, np.float32) for shape in shapes]
    for place in range(4, 4 + len(named)):
        got = equal_as_ptx(text, grid=(1,), args=args, arch="sm_90a", place=place)
        assert np.abs(got).max() > 1
