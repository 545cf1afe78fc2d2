"""Kernels of fragment ops, built line by line and run at both levels."""

from __future__ import annotations

from typing import Any

import both_levels
import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType

WARP = 32
LANE = '  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index\n'


def both(text: str, args: list[Any], **launch: Any) -> list[np.ndarray]:
    """The arrays after a run by a warp, equal at both levels."""
    return both_levels.both(text, args, **{"block": (WARP,), "arch": "sm_90", **launch})


def fragment(count: int, type_: str) -> str:
    return f"!cute_nvgpu.fragment<{count}x{type_}>"


class Code:
    """A kernel in the making, whose values are SSA names."""

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self.lines: list[str] = [LANE.rstrip()]
        self._indices: dict[int, str] = {}

    def argument(self, type_: str) -> str:
        self.arguments.append(f"%x{len(self.arguments)}: {type_}")
        return self.arguments[-1].split(":")[0]

    def add(self, text: str) -> str:
        self.lines.append(f"  %v{len(self.lines)} = {text}")
        return self.lines[-1].split(" = ")[0].strip()

    def do(self, text: str) -> None:
        self.lines.append("  " + text)

    def index(self, value: int) -> str:
        if value not in self._indices:
            self._indices[value] = self.add(f"arith.constant {value} : index")
        return self._indices[value]

    def load_words(self, count: int, type_: str) -> str:
        """`count` words of each thread, from an argument of its own, as a fragment."""
        memref = f"memref<?x{count}x{type_}>"
        pointer = self.argument(memref)
        words = [
            self.add(f"memref.load {pointer}[%t, {self.index(n)}] : {memref}") for n in range(count)
        ]
        return self.add(
            f"cute_nvgpu.fragment.from_elements {', '.join(words)} : "
            f"{', '.join([type_] * count)} -> {fragment(count, type_)}"
        )

    def store_words(self, value: str, count: int, type_: str) -> None:
        memref = f"memref<?x{count}x{type_}>"
        pointer = self.argument(memref)
        for n in range(count):
            word = self.extract(value, n, count, type_)
            self.do(f"memref.store {word}, {pointer}[%t, {self.index(n)}] : {memref}")

    def extract(self, value: str, position: int, count: int, type_: str) -> str:
        return self.add(
            f"cute_nvgpu.fragment.extract {value}[{position}] : {fragment(count, type_)} -> {type_}"
        )

    def cast(self, value: str, source: str, result: str) -> str:
        if source == result:
            return value
        return self.add(f"cute_nvgpu.fragment.cast {value} : {source} -> {result}")

    def text(self) -> str:
        return (
            f"func.func @k({', '.join(self.arguments)}) attributes {{gpu.kernel}} {{\n"
            + "\n".join(self.lines)
            + "\n  func.return\n}"
        )


def words_of(element: ElementType) -> str:
    """The scalar type that goes to memory for a fragment of these elements."""
    return "f64" if element.bits == 64 else "i32"
