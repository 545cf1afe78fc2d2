"""The GPU of this machine takes and refuses the same arguments as the interpreter.

Skipped, with the reason, where there is no GPU. Run as a script, it prints a table.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from wrong_arguments import LAUNCH, WRONG

import tilewright as tw
from tilewright.launch.launcher import LaunchError, device_arch, device_name

NUMBERS: list[tuple[str, Any]] = [
    ("i8", 255), ("i8", -128), ("i16", -1), ("i32", np.int64(7)), ("i32", 7.0), ("i64", -1),
    ("f16", 1.5), ("bf16", -0.0), ("f32", 1 / 3), ("f32", float("inf")), ("f64", 1 / 3),
]  # fmt: skip
DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


def storing(type_: str) -> str:
    """A kernel that stores its argument."""
    return f"""func.func @k(%x: {type_}, %out: memref<?x{type_}>) attributes {{gpu.kernel}} {{
  %zero = arith.constant 0 : index
  memref.store %x, %out[%zero] : memref<?x{type_}>
  func.return
}}"""


def stored(type_: str, value: Any) -> tuple[bytes, bytes]:
    """What the GPU and the interpreter store."""
    text, arch = storing(type_), device_arch()
    args = [value, np.zeros(3, DTYPES.get(type_, f"int{type_[1:]}"))[::2]]
    (on_chip,) = tw.compile(text, arch).launch(*args, **LAUNCH)
    (here,) = tw.interpret(text, args=args, arch=arch, **LAUNCH)
    return on_chip.tobytes(), here.tobytes()


def refusals(case: Any) -> tuple[str, str]:
    """What the GPU and the interpreter say of arguments that do not fit."""
    text, args, settings, _ = case
    said: list[str] = []
    for run in (
        lambda: tw.compile(text, device_arch()).launch(*args, **LAUNCH | settings),
        lambda: tw.interpret(text, args=args, arch=device_arch(), **LAUNCH | settings),
    ):
        try:
            said.append(str(run()))
        except tw.ExecutionError as error:
            said.append(f"refused: {error}")
    on_chip, here = said
    return on_chip, here


def _no_gpu() -> str | None:
    try:
        found = device_arch()
    except LaunchError as error:
        return str(error)
    return None if found >= "sm_90a" else f"sm_90a or later, got {found}"


NO_GPU = _no_gpu()


@pytest.mark.skipif(NO_GPU is not None, reason=f"needs a GPU: {NO_GPU}")
@pytest.mark.parametrize("type_, value", NUMBERS)
def test_numbers(type_: str, value: Any):
    on_chip, here = stored(type_, value)
    assert on_chip == here


@pytest.mark.skipif(NO_GPU is not None, reason=f"needs a GPU: {NO_GPU}")
@pytest.mark.parametrize("case", WRONG, ids=lambda case: case[3])
def test_refusals(case: Any):
    on_chip, here = refusals(case)
    assert on_chip == here and case[3] in here and here.startswith("refused")


if __name__ == "__main__":
    print(f"{device_name()} ({device_arch()})")
    for number in NUMBERS:
        chip, interpreted = stored(*number)
        print(f"equal bytes: {chip == interpreted}  {number}")
    for wrong in WRONG:
        chip, interpreted = refusals(wrong)
        print(f"equal words: {chip == interpreted}  {chip}")
