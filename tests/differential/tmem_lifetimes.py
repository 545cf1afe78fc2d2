"""Programs that allocate tensor memory: the check accepts those that run with every argument."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from draw import Draw
from tmem_kernels import SLOT, WAIT_STORE, cells

import tilewright as tw
from tilewright.passes.check_tmem import CheckTmemPass
from tilewright.source.diagnostic import OpError
from tilewright.source.parsing import default_context, parse_module
from tilewright.source.verification import verify

SLOTS = SLOT.replace("1xi32", "2xi32")
F = "!cute_nvgpu.fragment<4xi32>"
SIZES = (128, 256)


class Statements:
    """Statements of one warp that allocates, uses and gives back, under conditions and in loops."""

    def __init__(self, draw: Draw):
        self._draw = draw
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
        kinds = [self._pair] * 8 + [self._alloc, self._use, self._free]
        kinds += [self._nest] * 4 if depth else []
        for _ in range(self._draw.pick((1, 2, 2))):
            self._draw.pick(kinds)(depth, indent)

    def _name(self) -> str:
        self._values += 1
        return f"%m{self._values}"

    def _slot(self) -> str:
        return f"%slots[%c{self._draw.pick((0, 0, 1))}]"

    def _alloc(self, depth: int, indent: str) -> None:
        size = self._draw.pick((128, 128, 256))
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
        size = self._draw.pick((128, 128, 256))
        name = self._retrieve(self._slot(), size, indent)
        self._lines += [f"{indent}cute_nvgpu.tmem.dealloc {name} : {cells(size)}",
                        f"{indent}cute_nvgpu.bar.warp.sync"]  # fmt: skip

    def _pair(self, depth: int, indent: str) -> None:
        """An allocation that is given back behind other statements."""
        slot, size = self._slot(), self._draw.pick(SIZES)
        guard = self._draw.pick(("", "", "%p", "%q"))
        alloc = f"cute_nvgpu.tmem.alloc {slot} columns {size} : {SLOTS}"
        self._guarded(guard, indent, [alloc])
        if depth and self._draw.chance(40):
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
        if self._draw.chance(40):
            self._lines.append(f"{indent}scf.for %i{len(self._lines)} = %c0 to %n step %c1 {{")
        else:
            self._lines.append(f"{indent}scf.if {self._draw.pick(('%p', '%q'))} {{")
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


@dataclass(frozen=True)
class Lifetimes:
    """But for addresses that nothing has written: of those the check knows nothing."""

    text: str

    def difference(self) -> str | None:
        found = faults(self.text)
        wrong = [fault for fault in found if UNWRITTEN not in fault]
        if (wrong or not found) and accepted(self.text) == bool(wrong):
            return "the check accepts what does not run" if wrong else "the check rejects what runs"
        return None


def tmem_lifetimes(draw: Draw) -> Lifetimes:
    """One warp that allocates, uses and gives back."""
    return Lifetimes(Statements(draw).text)
