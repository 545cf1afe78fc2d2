"""Kernels of the tile level, and running them."""

from __future__ import annotations

from typing import Any

import numpy as np

import tilewright as tw

HEAD = """
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bid = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %block = arith.index_cast %bid : index to i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %zero = arith.constant 0.0 : f32
"""
LOWER_LEVELS: tuple[Any, ...] = ("atom", "ptx")


def kernel(arguments: str, body: str) -> str:
    return f"func.func @k({arguments}) attributes {{gpu.kernel}} {{{HEAD}{body}\n  func.return\n}}"


def run(
    text: str,
    *args: Any,
    threads: int = 32,
    grid: tuple[int, ...] = (1,),
    lowered: bool = False,
    **more: Any,
) -> Any:
    """The arrays after a run; alone where there is one. With `lowered` the atom and the ptx level
    must give the same bits."""
    launch = {"grid": grid, "block": (threads,), "args": args, **more}
    found = tw.interpret(text, **launch)
    for level in LOWER_LEVELS if lowered else ():
        again = tw.interpret(text, **launch, level=level)
        for before, after in zip(found, again, strict=True):
            words = f"u{before.itemsize}"
            np.testing.assert_array_equal(before.view(words), after.view(words), err_msg=level)
    return found[0] if len(found) == 1 else found
