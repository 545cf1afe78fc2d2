"""Families of instructions: a product of axes, how a point is spelled, and what the ISA lists.

A family spans legal and illegal instructions alike. Take three axes of `mma`:

    axes        shape: m8n8k4 m16n8k8 m16n8k16      d: f16 f32      a: f16 bf16
    mnemonic    mma.sync.aligned.{shape}.row.col.{d}.{a}.{a}.{d}
    documented  shape m16n8k8 m16n8k16, d f16 f32, a f16      sm_80 and later
                shape m16n8k8 m16n8k16, d f32,     a bf16     sm_80 and later

That is 12 points. A point is legal for a target where the ISA lists it in one of its boxes, for
that target, and ptxas assembles it.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from tilewright.dialects.frozen import frozen
from tilewright.tools.conformance.documented_targets import targets_of

Point = dict[str, str]
# An axis value: a qualifier with its dot ("" where it is left out) or a word; a tuple of them for
# an axis that binds several names ("d c").
Value = str | tuple[str, ...]


@frozen
class Documented:
    """A box of points that the ISA lists in `section` for `targets`: the words that it allows for
    every name. A name that it leaves out is a qualifier that must be left out."""

    section: str
    targets: frozenset[str]
    words: Mapping[str, tuple[str, ...]]

    def holds(self, point: Point) -> bool:
        """True where the point lies in the box, whatever the target."""
        return all(word in self.words.get(name, ("",)) for name, word in point.items())


Boxes = tuple[Documented, ...]


def words(text: str) -> tuple[str, ...]:
    """The words of a text, apart by spaces or bars; `-` is a qualifier that is left out."""
    return tuple("" if word == "-" else word for word in text.replace("|", " ").split())


def documented(section: str, targets: frozenset[str], **given: str | tuple[str, ...]) -> Documented:
    """A box; the words of a name as a tuple or in one string: `d="f16 f32"`."""
    split = {name: words(of) if isinstance(of, str) else of for name, of in given.items()}
    return Documented(section, targets, split)


def boxes(section: str, table: str, **alike: str | tuple[str, ...]) -> Boxes:
    """The boxes of a table: a row has targets (`targets_of`), and words apart by bars for each name
    of its column (`a,b` are two); `alike` are words of every row."""
    heading, *rows = (line.split() for line in table.strip().splitlines())
    made: list[Documented] = []
    for targets, *cells in rows:
        columns = zip(heading[1:], cells, strict=True)
        own = {name: cell for names, cell in columns for name in names.split(",")}
        made.append(documented(section, targets_of(targets), **{**own, **alike}))
    return tuple(made)


def axes(**texts: str) -> dict[str, tuple[Value, ...]]:
    """Axes by name, the words of each in a text; `d__c="f16,f32"` binds d and c together."""
    return {
        names.replace("__", " "): tuple(
            word if "__" not in names else tuple(map(_plain, word.split(",")))
            for word in words(text)
        )
        for names, text in texts.items()
    }


def _plain(word: str) -> str:
    return "" if word == "-" else word


def within(axes: Mapping[str, tuple[Value, ...]], boxes: Iterable[Documented]) -> Boxes:
    """The boxes cut down to the words of these axes, without those that have no point left. A name
    that no axis binds is a qualifier that is always left out."""
    known = _words(axes)
    cut = [
        Documented(
            box.section,
            box.targets,
            {
                name: tuple(w for w in words if w in known[name])
                for name, words in box.words.items()
                if name in known
            },
        )
        for box in boxes
        if all("" in words for name, words in box.words.items() if name not in known)
    ]
    return tuple(box for box in cut if all(_inside(box, *axis) for axis in axes.items()))


def _words(axes: Mapping[str, tuple[Value, ...]]) -> dict[str, set[str]]:
    """The words of every name."""
    known: dict[str, set[str]] = {}
    for names, values in axes.items():
        for value in values:
            for name, word in _bind([(names, value)]).items():
                known.setdefault(name, set()).add(word)
    return known


def _inside(box: Documented, names: str, values: tuple[Value, ...]) -> list[Value]:
    """The values of an axis that the box allows."""
    return [value for value in values if box.holds(_bind([(names, value)]))]


@dataclass(frozen=True, eq=False)
class Family:
    """A product of axes. `mnemonic` is a template of the axes' names, `operands` gives the operand
    lists that a point may have (ptxas takes the point where it takes one of them), and
    `with_operands` says whether the operands decide what is legal: sparsity and scale selectors.

    Raises ValueError where a box has no point: it names a word that its axis lacks, or leaves out
    a name that always has one.
    """

    name: str
    axes: Mapping[str, tuple[Value, ...]]
    mnemonic: str
    operands: Callable[[Point], tuple[str, ...]]
    documented: Boxes
    with_operands: bool = False

    def __post_init__(self) -> None:
        known = _words(self.axes)
        for box in self.documented:
            for name in {*known, *box.words}:
                words = box.words.get(name, ("",))
                if not set(words) <= known.get(name, set()):
                    raise ValueError(f"{self.name}: no {words} on the axis '{name}'")

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        return prod(len(values) for values in self.axes.values())

    def point(self, index: int) -> Point:
        """The point of that number; the last axis runs fastest."""
        chosen: list[tuple[str, Value]] = []
        for names, values in reversed(list(self.axes.items())):
            index, place = divmod(index, len(values))
            chosen.append((names, values[place]))
        return _bind(reversed(chosen))

    def points(self, numbers: range) -> Iterator[Point]:
        return map(self.point, numbers)

    def listed(self, target: str) -> Iterator[Point]:
        """Every point that the ISA lists for the target, box by box."""
        for box in self.documented:
            if target in box.targets:
                choices = [_inside(box, *axis) for axis in self.axes.items()]
                for values in product(*choices):
                    yield _bind(zip(self.axes, values, strict=True))

    def documents(self, point: Point, target: str) -> bool:
        """True where the ISA lists the point for the target."""
        return any(target in box.targets and box.holds(point) for box in self.documented)

    def sample(self, generator: random.Random, number: int, target: str) -> list[Point]:
        """Points of four strata, each a quarter: two inside the boxes of the target (where it has
        none, of any), one a single step beside a box, one anywhere."""
        here = [box for box in self.documented if target in box.targets] or list(self.documented)
        points: list[Point] = []
        for stratum in range(number):
            if stratum % 4 == 3:
                points.append(self.point(generator.randrange(len(self))))
                continue
            point = self._inside(generator, generator.choice(here))
            points.append(point | self._step(generator) if stratum % 4 == 2 else point)
        return points

    def _inside(self, generator: random.Random, box: Documented) -> Point:
        return _bind(
            [
                (names, generator.choice(_inside(box, names, values)))
                for names, values in self.axes.items()
            ]
        )

    def _step(self, generator: random.Random) -> Point:
        names = generator.choice(list(self.axes))
        return _bind([(names, generator.choice(self.axes[names]))])


def _bind(chosen: Iterable[tuple[str, Value]]) -> Point:
    """The point of chosen axis values: ("d c", ("f32", "f16")) binds two names."""
    point: Point = {}
    for names, value in chosen:
        if isinstance(value, str):
            point[names] = value
        else:
            point.update(zip(names.split(), value, strict=True))
    return point


@frozen
class Candidate:
    """A point, spelled: what the verifier judges, and the instructions that ptxas is asked about;
    ptxas takes the candidate where it takes one of them."""

    family: Family
    point: Point
    judged: str
    instructions: tuple[str, ...]


def spell(family: Family, point: Point) -> Candidate:
    mnemonic = family.mnemonic.format_map(point)
    instructions = tuple(f"{mnemonic} {operands};" for operands in family.operands(point))
    judged = instructions[0] if family.with_operands else mnemonic
    return Candidate(family, point, judged, instructions)
