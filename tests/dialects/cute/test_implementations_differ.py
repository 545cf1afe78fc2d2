"""Where pycute, CuTe's C++ headers (`tilewright.dialects.cute`) and CuTe IR (the ops) differ.

Over all small layouts, each implementation either has no result (-), or one that breaks the law of
the operation (x), or one that keeps it: a, b, c, equal letters for equal functions. Every pattern
of the three that is not "aaa", "---" or "xxx" is one of DIFFERENCES, and docs/cute_ir.md has them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pycute
import pytest
from layout_strategies import values

from tilewright.dialects import cute
from tilewright.dialects.cute import Layout, LayoutError
from tilewright.dialects.cute.ops import tiling
from tilewright.dialects.cute.rules import RuleError, layout_algebra
from tilewright.dialects.cute.symbolic.layouts import make_unchecked
from tilewright.dialects.cute.values import Typed

Result = tuple[Any, Any]


class Operation(NamedTuple):
    """An operation in each implementation, and whether a result of it keeps its law."""

    pycute: Callable[..., Any]
    algebra: Callable[..., Layout]
    ops: Callable[..., Typed]
    law: Callable[..., bool]


# --- laws -----------------------------------------------------------------------------------------


def _composes(a: Layout, b: Layout, r: Layout) -> bool:
    return values(r) == [a(j) for j in values(b)]


def _apart(a: Layout, r: Layout) -> int:
    """How many sums of the images of both there are, 0 where two are equal."""
    inside = cute.filter(a)
    sums = {x + y for x in values(inside) for y in values(r)}
    return len(sums) if len(sums) == inside.size() * r.size() else 0


def _inverts_right(a: Layout, r: Layout) -> bool:
    return [a(j) for j in values(r)] == list(range(r.size()))


def _inverts_left(a: Layout, r: Layout) -> bool:
    return [r(j) for j in values(a)] == list(range(a.size()))


def _divides(a: Layout, b: Layout, r: Layout) -> bool:
    """The result is A composed with the tile and its complement in A's size."""
    return _composes(a, cute.make_layout(b, cute.complement(b, a.size())), r)


def _multiplies(a: Layout, b: Layout, r: Layout) -> bool:
    """The block is A, and as many copies as B has elements lie apart from each other."""
    return values(r[0]) == values(a) and r[1].size() == b.size() and _apart(a, r[1]) > 0


OPERATIONS = {
    "composition": Operation(
        pycute.composition, cute.composition, layout_algebra.composition, _composes
    ),
    "complement": Operation(
        pycute.complement,
        cute.complement,
        layout_algebra.complement,
        lambda a, r: _apart(a, r) > 0,
    ),
    "complement in 24": Operation(
        lambda a: pycute.complement(a, 24),
        lambda a: cute.complement(a, 24),
        lambda a: layout_algebra.complement(a, Typed("shape", 24)),
        lambda a, r: _apart(a, r) >= 24,
    ),
    "right_inverse": Operation(
        pycute.right_inverse, cute.right_inverse, layout_algebra.right_inverse, _inverts_right
    ),
    "left_inverse": Operation(
        pycute.left_inverse, cute.left_inverse, layout_algebra.left_inverse, _inverts_left
    ),
    "logical_divide": Operation(
        pycute.logical_divide, cute.logical_divide, tiling.LogicalDivideOp.RULE, _divides
    ),
    "logical_product": Operation(
        pycute.logical_product, cute.logical_product, tiling.LogicalProductOp.RULE, _multiplies
    ),
}


def results(name: str, operands: Sequence[Layout]) -> list[Result | None]:
    """What each implementation gives: shape and stride, None where it has no result."""
    operation = OPERATIONS[name]
    theirs = [pycute.Layout(each.shape, each.stride) for each in operands]
    typed = [Typed("layout", make_unchecked(each.shape, each.stride)) for each in operands]
    found: list[Result | None] = []
    for function, arguments in zip(operation[:3], (theirs, operands, typed), strict=True):
        try:
            result = function(*arguments)
        except (AssertionError, ZeroDivisionError, LayoutError, RuleError):
            found.append(None)
        else:
            layout = result.value if isinstance(result, Typed) else result
            found.append((layout.shape, layout.stride))
    return found


def pattern(name: str, operands: Sequence[Layout]) -> str:
    """The three results in letters."""
    functions: list[list[int]] = []
    letters = ""
    for result in results(name, operands):
        if result is None:
            letters += "-"
        elif not _keeps_law(name, operands, result):
            letters += "x"
        else:
            function = values(Layout(*result))
            if function not in functions:
                functions.append(function)
            letters += "abc"[functions.index(function)]
    return letters


def _keeps_law(name: str, operands: Sequence[Layout], result: Result) -> bool:
    try:
        return OPERATIONS[name].law(*operands, Layout(*result))
    except LayoutError:  # an extent of 0
        return False


# --- all small layouts ----------------------------------------------------------------------------


def small_layouts(
    ranks: Sequence[int], extents: Sequence[int], strides: Sequence[int]
) -> list[Layout]:
    return [
        Layout(shape, stride) if rank > 1 else Layout(shape[0], stride[0])
        for rank in ranks
        for shape in product(extents, repeat=rank)
        for stride in product(strides, repeat=rank)
    ]


UNARY = small_layouts((1, 2), (1, 2, 3, 4, 8), (0, 1, 2, 4, 6))
LEFT = small_layouts((1, 2), (1, 2, 3, 8), (0, 2, 6))
RIGHT = [
    *small_layouts((1,), (1, 2, 6), (1, 2, 3)),
    *(b for b in small_layouts((2,), (2, 4), (1, 2)) if len(set(values(b))) == b.size()),
]


def operands_of(name: str) -> Iterator[tuple[Layout, ...]]:
    binary = name in ("composition", "logical_divide", "logical_product")
    return product(LEFT, RIGHT) if binary else ((each,) for each in UNARY)


# --- what is known --------------------------------------------------------------------------------

COUNTS = {
    "composition": {
        **{"aaa": 1481, "---": 48, "xaa": 157, "--x": 123, "-aa": 90, "x--": 48, "x-x": 41},
        **{"-a-": 24, "aa-": 8, "--a": 6, "x-a": 2},
    },
    "complement": {"aaa": 474, "---": 18, "x--": 158},
    "complement in 24": {"aaa": 462, "---": 18, "xxx": 12, "x--": 158},
    "right_inverse": {"aaa": 612, "abb": 38},
    "left_inverse": {
        **{"aaa": 102, "---": 8, "xxx": 322, "abb": 160, "x--": 24, "xaa": 24, "-xx": 10},
    },
    "logical_divide": {
        **{"aaa": 1368, "---": 178, "xaa": 157, "--x": 113, "x--": 52, "-aa": 45, "x-x": 45},
        **{"aax": 38, "-a-": 24, "aa-": 8},
    },
    "logical_product": {
        **{"aaa": 1479, "---": 367, "x--": 125, "aa-": 39, "-a-": 12, "xxa": 6},
    },
}
"""How often each pattern comes up among the small layouts."""


class Difference(NamedTuple):
    """A pattern of an operation, and operands that show it."""

    operation: str
    operands: tuple[str, ...]
    pattern: str
    pycute: str
    algebra: str
    ops: str


DIFFERENCES = (
    Difference("composition", ("1:1", "2:1"), "xaa", "2:0", "2:1", "2:1"),
    Difference("composition", ("(8,1):(4,8)", "6:6"), "x-x", "6:24", "-", "(2,3):(24,8)"),
    Difference("composition", ("(8,1):(0,1)", "6:3"), "x-a", "6:0", "-", "(3,2):(0,1)"),
    Difference("composition", ("(6,3):(2,1)", "4:2"), "x--", "3:4", "-", "-"),
    Difference("composition", ("(6,2):(1,7)", "4:4"), "--x", "-", "-", "(2,2):(4,7)"),
    Difference("composition", ("(8,2):(0,1)", "6:3"), "--a", "-", "-", "(3,2):(0,1)"),
    Difference("composition", ("(4,6):(4,0)", "2:3"), "-aa", "-", "2:12", "2:12"),
    Difference("composition", ("(3,8):(0,2)", "1:4"), "-a-", "-", "1:4", "-"),
    Difference("composition", ("(2,1):(0,1)", "1:3"), "aa-", "1:0", "1:2", "-"),
    Difference(
        "composition",
        ("(2,3):(1,4)", "(2,4):(1,1)"),
        "x-x",
        "(2,(2,2)):(1,(1,4))",
        "-",
        "(2,(2,2)):(1,(1,4))",
    ),
    Difference("complement", ("4:2",), "aaa", "2:1", "2:1", "(2,1):(1,8)"),
    Difference("complement", ("(8,3):(1,4)",), "x--", "0:8", "-", "-"),
    Difference("complement in 24", ("(4,6):(1,6)",), "aaa", "1:0", "1:0", "1:36"),
    Difference("right_inverse", ("(4,8):(0,1)",), "abb", "1:0", "8:4", "8:4"),
    Difference("left_inverse", ("8:2",), "abb", "(2,8):(8,1)", "(2,8):(0,1)", "(2,8):(0,1)"),
    Difference("left_inverse", ("(4,4):(1,6)",), "xaa", "4:1", "(6,4):(1,4)", "(6,4):(1,4)"),
    Difference("left_inverse", ("(3,2):(4,3)",), "x--", "(3,2):(6,3)", "-", "-"),
    Difference("left_inverse", ("(3,8):(4,2)",), "-xx", "-", "(2,2,3):(0,3,1)", "(2,2,3):(0,3,1)"),
    Difference(
        "logical_divide",
        ("(3,6):(4,12)", "2:2"),
        "aax",
        "(2,(2,5)):(8,(4,16))",
        "(2,(2,5)):(8,(4,16))",
        "(2,(2,3)):(8,(4,16))",
    ),
    Difference(
        "logical_product",
        ("(2,2):(2,6)", "2:2"),
        "xxa",
        "((2,2),2):((2,6),2)",
        "((2,2),2):((2,6),2)",
        "((2,2),2):((2,6),12)",
    ),
)
"""One example of each."""

DOCS = Path(__file__).resolve().parents[3] / "docs" / "cute_ir.md"
AGREED = {"aaa", "---", "xxx"}


def _layouts(texts: Sequence[str]) -> tuple[Layout, ...]:
    return tuple(Layout.parse(text) for text in texts)


@pytest.mark.parametrize("name", OPERATIONS)
def test_all_small_layouts(name: str):
    assert Counter(pattern(name, operands) for operands in operands_of(name)) == COUNTS[name]


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda each: " ".join(each.operands))
def test_examples(difference: Difference):
    operands = _layouts(difference.operands)
    assert pattern(difference.operation, operands) == difference.pattern
    written = [
        "-" if result is None else str(make_unchecked(*result))
        for result in results(difference.operation, operands)
    ]
    assert written == [difference.pycute, difference.algebra, difference.ops]


def test_every_difference_has_an_example():
    """Those of division and multiplication may be those of what they are made of."""
    shown = {(each.operation, each.pattern) for each in DIFFERENCES}
    parts = {
        each.pattern for each in DIFFERENCES if each.operation in ("composition", "complement")
    }
    for name, counts in COUNTS.items():
        for each in counts.keys() - AGREED:
            explained = name.startswith("logical") and each in parts
            assert explained or (name.replace(" in 24", ""), each) in shown, (name, each)


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda each: " ".join(each.operands))
def test_the_docs_have_them(difference: Difference):
    given = ", ".join(f"`{each}`" for each in difference.operands)
    three = (difference.pycute, difference.algebra, difference.ops)
    cells = [difference.operation, given, *(f"`{each}`" if each != "-" else each for each in three)]
    assert f"| {' | '.join(cells)} |" in DOCS.read_text()
