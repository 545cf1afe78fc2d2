"""Tile IR kernels for tests: text around a body, and a run of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

import tilewright as tw


def entry(parameters: str, body: str, globals_: str = "") -> str:
    """A module with the entry @k."""
    return f"cuda_tile.module @m {{ {globals_}\n  entry @k({parameters}) {{\n{body}\n  }}\n}}\n"


def run(
    parameters: str, body: str, args: Sequence[Any], grid: tuple[int, ...] = (1,), **options: Any
) -> list[NDArray[Any]]:
    """Run a kernel of this body."""
    globals_ = options.pop("globals_", "")
    return tw.interpret(entry(parameters, body, globals_), "k", grid=grid, args=args, **options)


def equal_as_ptx(
    text: str, *, place: int = -1, schedule: int | None = 1, **options: Any
) -> NDArray[Any]:
    """An array after a run of @k, whose bits PTX has to leave alike."""
    want = tw.interpret(text, "k", **options)[place]
    got = tw.interpret(text, "k", level="ptx", schedule=schedule, **options)[place]
    assert got.tobytes() == want.tobytes()
    return want


def row(name: str, pointer: str, element: str, size: int, mode: str = "") -> str:
    """IR for %name: pointers to `size` elements from %pointer on, block after block."""
    p, t = f"tile<ptr<{element}>>", f"{size}x"
    return f"""
    %{name}_x, %{name}_y, %{name}_z = get_tile_block_id : tile<i32>
    %{name}_n = constant <i32: {size}> : tile<i32>
    %{name}_b = muli %{name}_x, %{name}_n : tile<i32>
    %{name}_s = offset %{pointer}, %{name}_b : {p}, tile<i32> -> {p}
    %{name}_r = reshape %{name}_s : {p} -> tile<1xptr<{element}>>
    %{name}_q = broadcast %{name}_r : tile<1xptr<{element}>> -> tile<{t}ptr<{element}>>
    %{name}_i = iota : tile<{t}i32>
    %{name} = offset %{name}_q, %{name}_i : tile<{t}ptr<{element}>>, tile<{t}i32>
        -> tile<{t}ptr<{element}>>
{mode}"""


def elementwise(ops: str, elements: Sequence[str], result: str, size: int) -> tuple[str, str]:
    """Parameters and body of a kernel that loads tiles %x0, %x1, ... and stores %r."""
    names = [f"p{i}" for i in range(len(elements))]
    types = [*elements, result]
    parameters = ", ".join(f"%p{i}: tile<ptr<{each}>>" for i, each in enumerate(types))
    body = ""
    for i, (name, element) in enumerate(zip(names, elements, strict=True)):
        body += row(f"a{i}", name, element, size)
        body += (
            f"    %x{i}, %t{i} = load_ptr_tko weak %a{i} : tile<{size}xptr<{element}>> "
            f"-> tile<{size}x{element}>, token\n"
        )
    body += ops + row("o", f"p{len(elements)}", result, size)
    body += (
        f"    %t = store_ptr_tko weak %o, %r : tile<{size}xptr<{result}>>, "
        f"tile<{size}x{result}> -> token\n"
    )
    return parameters, body
