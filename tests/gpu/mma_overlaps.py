"""MMAs of a warp whose results share registers with what they read: does ptxas keep PTX's meaning?

    python tests/gpu/mma_overlaps.py [--only WORD ...] [--executor processes:8]

PTX reads all before it writes. Runs every `mma`, `mma.sp` and `wmma.mma` of the GPU of this machine
with registers of their own, and with d in c's, in one register of c that is read for all of it, in
c's the other way round, and in those of a and of b. Prints those that leave something else, and
what they share; exit status 1 where there are any. lowering/ptx/registers.py keeps apart what this
found.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "silicon"))

from inputs import mma_inputs
from kernels import mma_kernel
from record import all_mmas

import tilewright as tw
from tilewright.dialects.cute_nvgpu.atoms.atom import WARP, MmaAtom
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS, WMMA_MMA
from tilewright.dialects.cute_nvgpu.lattice.elements import register_bits
from tilewright.executors import add_executor_option, executor_of, in_order
from tilewright.launch.launcher import device_arch, device_name
from tilewright.lowering.ptx.registers import PREFIXES

KINDS = {prefix: kind for kind, prefix in PREFIXES.items()}
Registers = list[str]
Mma = tuple[str, MmaAtom, tuple[int, ...]]


def kind_of(registers: Registers) -> str:
    return KINDS[registers[0].rstrip("0123456789")]


@dataclass(frozen=True)
class Shared:
    """What d shares, the text that has it so, and the text that means the same."""

    name: str
    text: str
    same: str


def moves(kind: str, into: Registers, source: Registers) -> str:
    pairs = zip(into, source, strict=False)
    return "".join(f"\tmov.{kind} {a}, {b};\n" for a, b in pairs)


class Instruction:
    """The MMA of a kernel's text."""

    def __init__(self, text: str) -> None:
        self.text = text
        (self.line,) = (line for line in text.splitlines() if re.match(r"\s*w?mma\.", line))
        groups = re.findall(r"\{([^}]*)\}", self.line)[:4]
        self.d, self.a, self.b, self.c = (re.findall(r"%\w+", group) for group in groups)
        self.own = [f"%own{i}" for i in range(len(self.d))]
        self.kept = [f"%kept{i}" for i in range(len(self.c))]

    def moved(self, into: Registers, source: Registers) -> str:
        """Moves between registers of the kind of d."""
        return moves(kind_of(self.d), into, source)

    def with_(self, before: str = "", **read: Registers) -> str:
        """The kernel whose MMA writes `own` registers, and reads `kept` ones for c and others
        where they are given."""
        kinds = {"own": kind_of(self.d), "kept": kind_of(self.c)}
        declared = "".join(f"\t.reg .{kind} %{name}<8>;\n" for name, kind in kinds.items())
        operands = {"a": self.a, "b": self.b, "c": self.kept} | read
        lists = iter([self.own, *operands.values()])
        line = re.sub(r"\{[^}]*\}", lambda _: f"{{{', '.join(next(lists))}}}", self.line, count=4)
        block = [declared, moves(kinds["kept"], self.kept, self.c), before, line + "\n"]
        return self.text.replace(self.line, "".join([*block, self.moved(self.d, self.own)]))

    def shared(self) -> Iterator[Shared]:
        """What d may share, as the kinds of registers are."""
        own, kept, apart = self.own, self.kept, self.with_()
        if kind_of(self.c) == kind_of(self.d):
            yield Shared("c", self.with_(c=own, before=self.moved(own, kept)), apart)
            for name, one in (("first", own[0]), ("last", own[-1])):
                text = self.with_(c=[one] * len(own), before=self.moved([one], kept))
                same = self.with_(c=kept[:1] * len(own))
                yield Shared(f"{name} for all of c", text, same)
            text = self.with_(c=own[::-1], before=self.moved(own, kept))
            yield Shared("c reversed", text, self.with_(c=kept[::-1]))
        for name, read in (("a", self.a), ("b", self.b)):
            if kind_of(read) != kind_of(self.d):
                continue
            for how, order in (("", own), (" from the last on", own[::-1])):
                taken = [*order[: len(read)], *read[len(own) :]]
                operands: Any = {name: taken, "before": self.moved(order, read)}
                yield Shared(name + how, self.with_(**operands), apart)


def differing(arch: str, mma: Mma) -> tuple[str, list[str]]:
    """The name of an MMA, and what d must not share in it."""
    name, atom, selectors = mma
    kernel = tw.compile(mma_kernel(atom, selectors), arch)
    kind, count = atom.registers("D")
    inputs = mma_inputs(atom, selectors, 0)

    def left(text: str) -> Any:
        out = np.zeros((WARP, count * register_bits(kind) // 32), dtype=np.uint32)
        own = replace(kernel, ptx=text, _loaded={})
        return own.launch(*inputs, out, grid=(1,), block=(WARP,))[-1]

    every = Instruction(kernel.ptx).shared()
    return name, [each.name for each in every if (left(each.text) != left(each.same)).any()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", default=[""], metavar="WORD")
    add_executor_option(parser, "processes:8")
    options = parser.parse_args()
    arch = device_arch()
    mmas = [
        mma
        for mma in all_mmas(arch, (*MMA_ROWS, *WMMA_MMA))
        if any(word in mma[0] for word in options.only)
    ]
    wrong = 0
    with executor_of(options.executor) as executor:
        for name, shared in in_order(executor, partial(differing, arch), mmas):
            wrong += bool(shared)
            if shared:
                print(f"{name}: {', '.join(shared)}", flush=True)
    print(f"{device_name()}: {wrong} of {len(mmas)} MMAs differ where d shares registers")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
