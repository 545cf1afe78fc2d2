"""Random kernels that allocate tensor memory: `cute-nvgpu-check-tmem` accepts those that run with
every argument."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import numpy as np
from tmem_kernels import SLOT, WAIT_STORE, cells

import tilewright as tw
from tilewright.diagnostic import OpError
from tilewright.parsing import default_context, parse_module
from tilewright.passes.check_tmem import CheckTmemPass
from tilewright.verification import verify

SLOTS = SLOT.replace("1xi32", "2xi32")
F = "!cute_nvgpu.fragment<4xi32>"
SIZES = (128, 256)
SEEDS = 40


class Program:
    """Statements of one warp that allocates, uses and gives back, under conditions and in loops."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self._lines: list[str] = []
        self._values = 0
        self._statements(3, "  ")

    @property
    def text(self) -> str:
        body = "\n".join(self._lines)
        arguments = "%pi: i32, %qi: i32, %ni: i32, %out: memref<?xi32>"
        return f"""func.func @k({arguments}) attributes {{gpu.kernel}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %p = arith.cmpi ne, %pi, %zero : i32
  %q = arith.cmpi ne, %qi, %zero : i32
  %n = arith.index_cast %ni : i32 to index
  %slots = memref.alloc() : {SLOTS}
  %v = cute_nvgpu.fragment.splat %zero : i32 -> {F}
{body}
  func.return
}}"""

    def _statements(self, depth: int, indent: str) -> None:
        kinds = [self._pair, self._alloc, self._use, self._free, self._nest]
        weights = [8, 1, 1, 1, 4 if depth else 0]
        for _ in range(self._random.choice((1, 2, 2))):
            self._random.choices(kinds, weights)[0](depth, indent)

    def _name(self) -> str:
        self._values += 1
        return f"%m{self._values}"

    def _slot(self) -> str:
        return f"%slots[%c{self._random.choice((0, 0, 1))}]"

    def _alloc(self, depth: int, indent: str) -> None:
        size = self._random.choice((128, 128, 256))
        self._lines += [f"{indent}cute_nvgpu.tmem.alloc {self._slot()} columns {size} : {SLOTS}",
                        f"{indent}cute_nvgpu.bar.warp.sync"]  # fmt: skip

    def _retrieve(self, slot: str, size: int, indent: str) -> str:
        name = self._name()
        self._lines.append(
            f"{indent}{name} = cute_nvgpu.tmem.retrieve {slot} : {SLOTS} -> {cells(size)}"
        )
        return name

    def _use(self, depth: int, indent: str) -> None:
        name = self._retrieve(self._slot(), 128, indent)
        self._lines += [
            f"{indent}cute_nvgpu.tmem.store %v, {name}[%c0, %c0] shape 32x32b : {F}, {cells(128)}",
            f"{indent}{WAIT_STORE}",
        ]

    def _free(self, depth: int, indent: str) -> None:
        size = self._random.choice((128, 128, 256))
        name = self._retrieve(self._slot(), size, indent)
        self._lines += [f"{indent}cute_nvgpu.tmem.dealloc {name} : {cells(size)}",
                        f"{indent}cute_nvgpu.bar.warp.sync"]  # fmt: skip

    def _pair(self, depth: int, indent: str) -> None:
        """An allocation that is given back behind other statements."""
        slot, size = self._slot(), self._random.choice(SIZES)
        guard = self._random.choice(("", "", "%p", "%q"))
        alloc = f"cute_nvgpu.tmem.alloc {slot} columns {size} : {SLOTS}"
        self._guarded(guard, indent, [alloc])
        if depth and self._random.random() < 0.4:
            self._statements(depth - 1, indent)
        name = self._name()
        retrieve = f"{name} = cute_nvgpu.tmem.retrieve {slot} : {SLOTS} -> {cells(size)}"
        free = f"cute_nvgpu.tmem.dealloc {name} : {cells(size)}"
        self._guarded(guard, indent, [retrieve, free])

    def _guarded(self, guard: str, indent: str, lines: list[str]) -> None:
        """Lines under a condition, if there is one, and what orders them with the next ones."""
        body = [*lines, "cute_nvgpu.bar.warp.sync"]
        if guard:
            body = [f"scf.if {guard} {{", *(f"  {each}" for each in body), "}"]
        self._lines += [indent + each for each in body]

    def _nest(self, depth: int, indent: str) -> None:
        if self._random.random() < 0.4:
            self._lines.append(f"{indent}scf.for %i{len(self._lines)} = %c0 to %n step %c1 {{")
        else:
            self._lines.append(f"{indent}scf.if {self._random.choice(('%p', '%q'))} {{")
            self._statements(depth - 1, indent + "  ")
            self._lines.append(f"{indent}}} else {{")
        self._statements(depth - 1, indent + "  ")
        self._lines.append(f"{indent}}}")


def accepted(text: str) -> bool:
    module = parse_module(text, "random.mlir")
    verify(module, text)
    try:
        CheckTmemPass().apply(default_context(), module)
    except OpError:
        return False
    return True


UNWRITTEN = "cute_nvgpu.tmem.retrieve' read of shared memory"


def faults(text: str) -> list[str]:
    """What the interpreter says, for all arguments."""
    found: list[str] = []
    module = parse_module(text, "random.mlir")
    for p, q, n in product((0, 1), (0, 1), (0, 1, 2)):
        args = [p, q, n, np.zeros(1, np.int32)]
        try:
            tw.interpret(module, grid=(1,), block=(32,), args=args, arch="sm_100a")
        except tw.ExecutionError as error:
            found.append(str(error))
    return found


def test_the_check_and_the_interpreter_agree() -> None:
    """But for addresses that nothing has written: of those the check knows nothing."""
    counts = Counter[bool]()
    for seed in range(SEEDS):
        text = Program(seed).text
        found = faults(text)
        wrong = [each for each in found if UNWRITTEN not in each]
        if wrong or not found:
            assert accepted(text) == (not wrong), f"seed {seed}: {wrong[:1]}"
            counts[not wrong] += 1
    assert min(counts[True], counts[False]) > SEEDS // 8
