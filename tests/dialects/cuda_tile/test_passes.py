"""Passes of CUDA Tile IR change no result: random kernels, interpreted before and after."""

from __future__ import annotations

import io
from random import Random

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.passes import ModulePass

import tilewright as tw
from tilewright.passes.cuda_tile_canonicalize import CudaTileCanonicalizePass
from tilewright.passes.cuda_tile_split_loops import CudaTileSplitLoopsPass
from tilewright.source.parsing import parse_module
from tilewright.source.printing import ShortPrinter
from tilewright.source.verification import verify

BLOCKS = 9
HEAD = """cuda_tile.module @m {
  entry @k(%p: tile<ptr<i32>>, %bound: tile<i32>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %yes = constant <i1: true> : tile<i1>
    %no = constant <i1: false> : tile<i1>
    %slots = constant <i32: 64> : tile<i32>
    %mine = muli %x, %slots : tile<i32>
    %out = offset %p, %mine : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
"""
SLOTS = 64


class Writer:
    """Writes a random kernel."""

    def __init__(self, seed: int):
        self.random = Random(seed)
        self.lines: list[str] = []
        self.count = self.stores = 0

    def line(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"v{self.count}"

    def store(self, name: str) -> None:
        """Store a number where nothing else does."""
        self.stores += 1
        slot = self.line(f"constant <i32: {self.stores}> : tile<i32>")
        at = self.line(f"offset %out, %{slot} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>")
        self.line(f"store_ptr_tko weak %{at}, %{name} : tile<ptr<i32>>, tile<i32> -> token")

    def pick(self, names: list[str]) -> str:
        return self.random.choice(names)

    def condition(self, numbers: list[str], flags: list[str]) -> str:
        match self.random.randrange(5):
            case 0:
                return self.line(f"xori %{self.pick(flags)}, %yes : tile<i1>")
            case 1 | 2:
                word = self.pick(["less_than", "equal", "not_equal"])
                one, other = self.pick(numbers), self.pick(numbers)
                return self.line(f"cmpi {word} %{one}, %{other}, signed : tile<i32> -> tile<i1>")
            case 3:
                return self.line(
                    f"select %{self.pick(flags)}, %{self.pick(flags)}, %{self.pick(flags)} : "
                    "tile<i1>, tile<i1>"
                )
            case _:
                return self.pick(flags)

    def statements(self, numbers: list[str], flags: list[str], depth: int) -> None:
        """Add statements; `numbers` and `flags` are extended by what they define."""
        for _ in range(self.random.randint(1, 4)):
            kind = self.random.randrange(6)
            if kind < 2:
                op = self.pick(["addi", "muli", "subi"])
                numbers.append(
                    self.line(f"{op} %{self.pick(numbers)}, %{self.pick(numbers)} : tile<i32>")
                )
            elif kind == 2:
                flags.append(self.condition(numbers, flags))
            elif kind == 3:
                chosen = f"%{self.pick(numbers)}, %{self.pick(numbers)}"
                numbers.append(
                    self.line(f"select %{self.pick(flags)}, {chosen} : tile<i1>, tile<i32>")
                )
            elif depth:
                numbers += self.branch(numbers, flags, depth)

    def branch(self, numbers: list[str], flags: list[str], depth: int) -> list[str]:
        """An `if`; its results, if it has any."""
        condition = self.condition(numbers, flags)
        results = self.random.randrange(3)
        has_else = bool(results) or self.random.random() < 0.5
        self.count += 1
        name = f"v{self.count}"
        names = [f"{name}_{i}" for i in range(results)]
        types = ", ".join(["tile<i32>"] * results)
        begin = f"{', '.join('%' + each for each in names)} = " if results else ""
        self.lines.append(f"{begin}if %{condition}{f' -> ({types})' if results else ''} {{")
        for part in range(1 + has_else):
            if part:
                self.lines.append("} else {")
            self.body(list(numbers), list(flags), depth - 1, results, types)
        self.lines.append("}")
        return names

    def body(
        self, numbers: list[str], flags: list[str], depth: int, results: int, types: str
    ) -> None:
        if self.random.random() < 0.7:
            self.statements(numbers, flags, depth)
        if self.random.random() < 0.4:
            self.store(self.pick(numbers))
        if self.random.random() < 0.15:
            self.lines.append("return")
        elif results:
            values = ", ".join(f"%{self.pick(numbers)}" for _ in range(results))
            self.lines.append(f"yield {values} : {types}")

    def kernel(self) -> str:
        numbers = ["x", "zero", "one", "two", "three", "bound"]
        self.statements(numbers, ["yes", "no"], 3)
        numbers += self.branch(numbers, [self.condition(numbers, ["yes", "no"])], 3)
        self.store(numbers[-1])
        return HEAD + "\n".join(self.lines) + "\nreturn\n}\n}\n"


def after(text: str, pass_: ModulePass) -> str:
    """A kernel after a pass, verified, as text."""
    module = parse_module(text)
    verify(module, text)
    pass_.apply(Context(), module)
    module.verify()
    output = io.StringIO()
    ShortPrinter(output).print_op(module)
    return output.getvalue()


def results(text: str, bound: int = 5) -> list[int]:
    out = np.full(BLOCKS * SLOTS, -7, np.int32)
    (found,) = tw.interpret(text, "k", grid=(BLOCKS,), args=[out, bound])
    return found.tolist()


@pytest.mark.parametrize("seed", range(60))
def test_canonicalized(seed: int):
    text = Writer(seed).kernel()
    short = after(text, CudaTileCanonicalizePass())
    assert results(short) == results(text)
    assert after(short, CudaTileCanonicalizePass()) == short


LOOP = """
    %r = for{word} %i in (%low to %high, step %step) : tile<i32> iter_values(%a = %one)
        -> (tile<i32>) {{
      %c = cmpi {predicate} {compared}, {sign} : tile<i32> -> tile<i1>
      %n = if %c -> (tile<i32>) {{
        %u = muli %a, %three : tile<i32>
        yield %u : tile<i32>
      }} else {{
        %w = addi %a, %i : tile<i32>
        yield %w : tile<i32>
      }}
      continue %n : tile<i32>
    }}
    %end = store_ptr_tko weak %out, %r : tile<ptr<i32>>, tile<i32> -> token
    return
  }}
}}
"""
PREDICATES = ["less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal"]


MOST = 2**31 - 1


@pytest.mark.covered
@pytest.mark.parametrize("predicate", PREDICATES)
@pytest.mark.parametrize("compared", ["%i, %at", "%at, %i"])
@pytest.mark.parametrize("sign", ["signed", "unsigned"])
@pytest.mark.parametrize(
    "low, high, step, first",
    [
        (0, 8, 1, 0), (2, 6, 3, 0), (5, 5, 1, 0), (4, 21, 6, 0), (3, 1, 2, 0),
        (MOST - 3, MOST, 1, MOST - 4), (-4, -1, 1, -5), (4, 21, 6, MOST - 4),
        (MOST - 10, MOST - 6, 6, MOST - 14),
    ],
)  # fmt: skip
def test_split(
    predicate: str, compared: str, sign: str, low: int, high: int, step: int, first: int
):
    """Every block splits its loop elsewhere, by its own number: some near the greatest number."""
    text = loop(predicate, compared, sign, low, high, step, first)
    split = after(text, CudaTileSplitLoopsPass())
    assert split.count("for ") == 2
    assert results(split) == results(text)


@pytest.mark.parametrize("low, high", [(0, MOST), (-6, 4)])
def test_a_loop_whose_steps_have_no_room_stays(low: int, high: int):
    text = loop("less_than", "%i, %at", "signed", low, high, 2, 0)
    assert after(text, CudaTileSplitLoopsPass()).count("for ") == 1


def loop(
    predicate: str, compared: str, sign: str, low: int, high: int, step: int, first: int
) -> str:
    """A kernel of a loop that compares its variable with %at: the block's number, from one on."""
    numbers = {"low": low, "high": high, "step": step, "first": first}
    setup = "".join(f"    %{x} = constant <i32: {n}> : tile<i32>\n" for x, n in numbers.items())
    word = " unsigned" if sign == "unsigned" else ""
    body = LOOP.format(word=word, predicate=predicate, compared=compared, sign=sign)
    return f"{HEAD}{setup}    %at = addi %x, %first : tile<i32>\n{body}"
