"""Tile IR kernels on whole tiles against the same expressions in NumPy, and a matrix product.

    python benchmarks/cuda_tile_interpreter.py

Arrays of 16 MiB; the goal is 5x of NumPy's CPU time or less (other processes do not count), race
detection on. With tiles that reach across the ends of arrays, the padding undetermined, they are to
take 1.3x of what they take with zeros or less. The product of two
2048 x 2048 bf16 matrices by `numerics="fast"` is to take less than 3 s on two cores.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from measured import best_times
from numpy.typing import NDArray

import tilewright as tw

COUNT = 4 << 20
TILE = 4096
TURNS = 15
LIMIT = 5.0
PADDING_LIMIT = 1.3
ODD = COUNT - TILE + 5
PRODUCT_LIMIT = 3.0


def vectors(names: Sequence[str], compute: str, count: int = COUNT, element: str = "f32") -> str:
    """A kernel over tiles of vectors: loads `names`, computes %r, stores it to %out."""
    tensor = f"tensor_view<{count}x{element}, strides=[1]>"
    view = f"partition_view<tile=({TILE}), {tensor}>"
    views = "".join(
        f"""
    %{name}_t = make_tensor_view %{name}_p, shape = [{count}], strides = [1] : {tensor}
    %{name}_v = make_partition_view %{name}_t : {view}"""
        for name in (*names, "out")
    )
    loads = "".join(
        f"""
    %{name}, %{name}_k = load_view_tko weak %{name}_v[%x] : {view}, tile<i32>
        -> tile<{TILE}x{element}>, token"""
        for name in names
    )
    parameters = ", ".join(f"%{name}_p: tile<ptr<{element}>>" for name in (*names, "out"))
    return f"""cuda_tile.module @m {{
  entry @k({parameters}) {{
    %x, %y, %z = get_tile_block_id : tile<i32>{views}{loads}
{compute}
    %k = store_view_tko weak %r, %out_v[%x] : tile<{TILE}x{element}>, {view}, tile<i32> -> token
  }}
}}
"""


ROWS, COLUMNS, ROW_TILE = 4096, 1024, 16


def row_reduction(body: str, identity: str) -> str:
    """A kernel that reduces the rows of a matrix, some at a time."""
    tensor = f"tensor_view<{ROWS}x{COLUMNS}xf32, strides=[{COLUMNS},1]>"
    view = f"partition_view<tile=({ROW_TILE}x{COLUMNS}), {tensor}>"
    sums = f"tensor_view<{ROWS}xf32, strides=[1]>"
    out = f"partition_view<tile=({ROW_TILE}), {sums}>"
    return f"""cuda_tile.module @m {{
  entry @k(%a_p: tile<ptr<f32>>, %out_p: tile<ptr<f32>>) {{
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %t = make_tensor_view %a_p, shape = [{ROWS}, {COLUMNS}], strides = [{COLUMNS}, 1] : {tensor}
    %v = make_partition_view %t : {view}
    %u = make_tensor_view %out_p, shape = [{ROWS}], strides = [1] : {sums}
    %w = make_partition_view %u : {out}
    %a, %k0 = load_view_tko weak %v[%x, %zero] : {view}, tile<i32>
        -> tile<{ROW_TILE}x{COLUMNS}xf32>, token
    %r = reduce %a dim=1 identities=[{identity} : f32] : tile<{ROW_TILE}x{COLUMNS}xf32>
        -> tile<{ROW_TILE}xf32>
    (%e: tile<f32>, %acc: tile<f32>) {{
      {body}
      yield %s : tile<f32>
    }}
    %k1 = store_view_tko weak %r, %w[%x] : tile<{ROW_TILE}xf32>, {out}, tile<i32> -> token
  }}
}}
"""


SIZE, BLOCK, STEP = 2048, 128, 64


def product() -> str:
    """C = A B of bf16 matrices, f32 sums, tiles of 128 x 128 x 64."""
    tensor = f"tensor_view<{SIZE}x{SIZE}xbf16, strides=[{SIZE},1]>"
    left = f"partition_view<tile=({BLOCK}x{STEP}), {tensor}>"
    right = f"partition_view<tile=({STEP}x{BLOCK}), {tensor}>"
    result = f"tensor_view<{SIZE}x{SIZE}xf32, strides=[{SIZE},1]>"
    out = f"partition_view<tile=({BLOCK}x{BLOCK}), {result}>"
    a, b, c = f"{BLOCK}x{STEP}xbf16", f"{STEP}x{BLOCK}xbf16", f"{BLOCK}x{BLOCK}xf32"
    return f"""cuda_tile.module @m {{
  entry @k(%a_p: tile<ptr<bf16>>, %b_p: tile<ptr<bf16>>, %c_p: tile<ptr<f32>>) {{
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %steps = constant <i32: {SIZE // STEP}> : tile<i32>
    %ta = make_tensor_view %a_p, shape = [{SIZE}, {SIZE}], strides = [{SIZE}, 1] : {tensor}
    %tb = make_tensor_view %b_p, shape = [{SIZE}, {SIZE}], strides = [{SIZE}, 1] : {tensor}
    %tc = make_tensor_view %c_p, shape = [{SIZE}, {SIZE}], strides = [{SIZE}, 1] : {result}
    %va = make_partition_view %ta : {left}
    %vb = make_partition_view %tb : {right}
    %vc = make_partition_view %tc : {out}
    %none = constant <f32: 0.0> : tile<{c}>
    %sum = for %k in (%zero to %steps, step %one) : tile<i32> iter_values(%acc = %none)
        -> (tile<{c}>) {{
      %a, %k0 = load_view_tko weak %va[%y, %k] : {left}, tile<i32> -> tile<{a}>, token
      %b, %k1 = load_view_tko weak %vb[%k, %x] : {right}, tile<i32> -> tile<{b}>, token
      %d = mmaf %a, %b, %acc : tile<{a}>, tile<{b}>, tile<{c}>
      continue %d : tile<{c}>
    }}
    %k2 = store_view_tko weak %sum, %vc[%y, %x] : tile<{c}>, {out}, tile<i32> -> token
  }}
}}
"""


@dataclass(frozen=True, slots=True)
class KernelCase:
    """A kernel, its arguments, and the same in NumPy."""

    name: str
    text: str
    grid: int
    inputs: int
    output: int
    numpy: Callable[..., NDArray[Any]]
    odd: str | None = None
    """The kernel on vectors of `ODD` elements."""


def _pointwise(
    name: str, body: str, numpy: Callable[..., NDArray[Any]], inputs: str = "ab"
) -> KernelCase:
    lines = body if "\n" in body else f"    %r = {body} : tile<{TILE}xf32>"
    return KernelCase(name, vectors(inputs, lines), COUNT // TILE, len(inputs), COUNT, numpy,
                      vectors(inputs, lines, ODD))  # fmt: skip


def _of_rows(name: str, body: str, identity: str, numpy: Callable[..., NDArray[Any]]) -> KernelCase:
    return KernelCase(name, row_reduction(body, identity), ROWS // ROW_TILE, 1, ROWS,
                      lambda a: numpy(a.reshape(ROWS, COLUMNS), axis=1))  # fmt: skip


_POLYNOMIAL = f"""    %s = mulf %a, %b rounding<nearest_even> : tile<{TILE}xf32>
    %u = addf %s, %a rounding<nearest_even> : tile<{TILE}xf32>
    %q = maxf %u, %b : tile<{TILE}xf32>
    %r = subf %q, %s rounding<nearest_even> : tile<{TILE}xf32>"""
CASES = (
    _pointwise("a + b", "addf %a, %b rounding<nearest_even>", lambda a, b: a + b),
    _pointwise("a / b", "divf %a, %b rounding<nearest_even>", lambda a, b: a / b),
    _pointwise("max(a * b + a, b) - a * b", _POLYNOMIAL,
               lambda a, b: np.maximum(a * b + a, b) - a * b),
    _pointwise("exp(a)", "exp %a", np.exp, "a"),
    _pointwise("fma(a, b, a)", "fma %a, %b, %a rounding<nearest_even>", lambda a, b: a * b + a),
    _of_rows("sum of rows", "%s = addf %e, %acc rounding<nearest_even> : tile<f32>", "0.0", np.sum),
    _of_rows("maximum of rows", "%s = maxf %e, %acc : tile<f32>", "0xFF800000", np.max),
)  # fmt: skip


def padding_cost(case: KernelCase, text: str, inputs: Sequence[NDArray[Any]]) -> float:
    """The time with undetermined padding, by that with zeros."""
    from tilewright.lowering.interpreter.cuda_tile.kernel import run_kernel
    from tilewright.pipeline import verified
    from tilewright.tile_kernel import TileLaunch, find_entry

    entry = find_entry(verified(text)[0], "k")
    args = [*(array[:ODD] for array in inputs), np.zeros(ODD, np.float32)]
    grid = (case.grid, 1, 1)
    launches = TileLaunch(grid), TileLaunch(grid, check=("integers",))
    open_, zeros = best_times(
        TURNS,
        *(lambda on=launch: run_kernel(entry, on, args) for launch in launches),
        clock=time.process_time,
    )
    print(f"{'':28} {open_ * 1e3:7.1f} ms with undetermined padding: {open_ / zeros:.2f}x of zeros")
    return open_ / zeros


def main() -> int:
    """Print one line a case; the exit status is 1 where a goal is missed."""
    from tilewright.lowering.interpreter.cuda_tile.kernel import run_kernel
    from tilewright.pipeline import verified
    from tilewright.tile_kernel import TileLaunch, find_entry

    rng = np.random.default_rng(0)
    missed = 0
    for case in CASES:
        inputs = [rng.random(COUNT, np.float32) + np.float32(0.5) for _ in range(case.inputs)]
        out = np.zeros(case.output, np.float32)
        entry = find_entry(verified(case.text)[0], "k")
        launch = TileLaunch((case.grid, 1, 1))
        (*_, got) = run_kernel(entry, launch, [*inputs, out]).results()
        np.testing.assert_allclose(got, case.numpy(*inputs), rtol=2e-4)
        ours, numpys = best_times(
            TURNS,
            lambda e=entry, i=inputs, o=out, on=launch: run_kernel(e, on, [*i, o]),
            lambda c=case, i=inputs: c.numpy(*i),
            clock=time.process_time,
        )
        ratio = ours / numpys
        missed += ratio > LIMIT
        print(f"{case.name:28} {ours * 1e3:7.1f} ms, NumPy {numpys * 1e3:6.1f} ms: {ratio:.1f}x")
        if case.odd is not None:
            missed += padding_cost(case, case.odd, inputs) > PADDING_LIMIT
    a, b = (rng.standard_normal((SIZE, SIZE)).astype(ml_dtypes.bfloat16) for _ in range(2))
    c = np.zeros((SIZE, SIZE), np.float32)
    begun = time.perf_counter()
    (*_, got) = tw.interpret(
        product(), "k", grid=(SIZE // BLOCK,) * 2, args=[a, b, c], numerics="fast"
    )
    seconds = time.perf_counter() - begun
    np.testing.assert_allclose(got, a.astype(np.float32) @ b.astype(np.float32), atol=1e-2)
    missed += seconds > PRODUCT_LIMIT
    print(f"product of {SIZE}^3, bf16, fast: {seconds:.2f} s")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
