"""Kernels run as they are and lowered to instructions."""

from __future__ import annotations

from typing import Any

import numpy as np

import tilewright as tw


def both(text: str, args: list[Any], **launch: Any) -> list[np.ndarray]:
    """The arrays after a run, by 64 threads unless more is said, equal at both levels."""
    launch = {"grid": (1,), "block": (64,), **launch}
    atom, ptx = (tw.interpret(text, args=args, level=level, **launch) for level in ("atom", "ptx"))
    for before, after in zip(atom, ptx, strict=True):
        np.testing.assert_array_equal(before, after)
    return atom
