"""NVIDIA targets: names, families, and what one of them needs of the PTX version.

A target is `sm_90` (runs on 9.0 and later chips), `sm_90a` (architecture-specific: that chip
only) or `sm_120f` (family-specific: that chip and later ones of its family). PTX ISA 11.1.2.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import cache
from typing import Protocol, TypeAlias, TypeGuard, runtime_checkable

from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import Error, told


class TargetError(Error, ValueError):
    """A target name that no row knows; the message names the nearest one."""


@frozen
class Target:
    """One value of PTX's `.target`: `number` 90, `suffix` '' | 'a' | 'f', and the PTX ISA
    version in which the name appeared."""

    number: int
    suffix: str
    ptx_version: tuple[int, int]

    @property
    def name(self) -> str:
        return f"sm_{self.number}{self.suffix}"

    @property
    def family(self) -> int:
        """Chips of one family share the tens digit: 100 and 103, 120 and 121."""
        return self.number // 10

    @property
    def at_least(self) -> str:
        """Who runs what requires it, in words: `sm_90 or later`."""
        later = {"": " or later", "a": "", "f": " or later of the same family"}
        return self.name + later[self.suffix]

    def supports(self, minimum: Minimum) -> bool:
        """True where code that requires `minimum` may be compiled for this target."""
        if isinstance(minimum, AnyOf):
            return any(map(self.supports, minimum.targets))
        if minimum.suffix == "a":
            return self == minimum
        if minimum.suffix == "f":
            same_family = self.family == minimum.family and self.number >= minimum.number
            return same_family and self.suffix in ("a", "f")
        return self.number >= minimum.number

    def __str__(self) -> str:
        return self.name


@frozen
class AnyOf:
    """A requirement that each of several targets meets by itself, lowest first."""

    targets: tuple[Target, ...]

    @property
    def name(self) -> str:
        """`sm_100f, sm_110f or sm_120f`."""
        *others, last = (alternative.name for alternative in self.targets)
        return f"{', '.join(others)} or {last}"

    @property
    def at_least(self) -> str:
        """Who runs what requires it, in words."""
        laters = dict.fromkeys(
            alternative.at_least.removeprefix(alternative.name) for alternative in self.targets
        )
        if len(laters) == 1:
            later = next(iter(laters))
            return f"{self.name},{later}" if later else self.name
        return " or ".join(alternative.at_least for alternative in self.targets)

    def __str__(self) -> str:
        return self.name


Minimum: TypeAlias = Target | AnyOf
"""The requirement of an instruction: code for a target runs it where `target.supports(minimum)`."""


def alternatives(minimum: Minimum) -> tuple[Target, ...]:
    """The targets that meet the requirement, each by itself."""
    return minimum.targets if isinstance(minimum, AnyOf) else (minimum,)


# Each with the PTX ISA version that introduced it; sm_75 is the oldest that current ptxas knows.
_VERSIONS = """
sm_70 6.0, sm_72 6.1, sm_75 6.3, sm_80 7.0, sm_86 7.1, sm_87 7.4, sm_89 7.8, sm_90 7.8,
sm_90a 8.0, sm_100 8.6, sm_100a 8.6, sm_100f 8.8, sm_103 8.8, sm_103a 8.8, sm_103f 8.8,
sm_110 9.0, sm_110a 9.0, sm_110f 9.0, sm_120 8.7, sm_120a 8.7, sm_120f 8.8, sm_121 8.8,
sm_121a 8.8, sm_121f 8.8
"""
_NAME = re.compile(r"sm_(\d+)([af]?)")
_RENAMED = {"101": "sm_110"}
"""Chips by the number that targets called them by, and what PTX ISA 9.0 calls them."""


_CHIPS = {
    "a100": "sm_80", "ampere": "sm_80", "4090": "sm_89", "ada": "sm_89",
    "h100": "sm_90a", "h200": "sm_90a", "gh200": "sm_90a", "hopper": "sm_90a",
    "b200": "sm_100a", "blackwell": "sm_100a", "b300": "sm_103a", "thor": "sm_110a",
    "5090": "sm_120a", "spark": "sm_121a", "gb10": "sm_121a",
}  # fmt: skip
"""Chips by what they are called, and all that is theirs."""

TARGETS = {
    f"sm_{number}{suffix}": Target(int(number), suffix, (int(major), int(minor)))
    for number, suffix, major, minor in re.findall(r"sm_(\d+)([af]?) (\d)\.(\d)", _VERSIONS)
}


def target(name: str) -> Target:
    """The target of that name. Raises TargetError, naming the nearest, for any other."""
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TargetError(f"expected the name of a target such as 'sm_90a', got {told(name)}")
    if (known := TARGETS.get(name)) is not None:
        return known
    match = _NAME.fullmatch(name)
    if match is not None and (renamed := _RENAMED.get(match[1])) is not None:
        raise TargetError(
            f"unknown target '{name}', an alias of {renamed}{match[2]} (its name before PTX ISA "
            f"9.0); nearest legal: {renamed}{match[2]}"
        )
    [near] = difflib.get_close_matches(name.lower(), TARGETS, n=1, cutoff=0.0)
    near = next((near for chip, near in _CHIPS.items() if chip in name.lower()), near)
    raise TargetError(
        f"unknown target {told(name)}; nearest legal: {near}; known: {', '.join(TARGETS)}"
    )


def any_of(*names: str) -> AnyOf:
    """The requirement that any of these targets meets. Raises TargetError for an unknown one."""
    return AnyOf(tuple(map(target, names)))


Version = tuple[int, int]


class InstructionFacts(Protocol):
    """A row of a table, as far as it says who runs its instruction."""

    @property
    def target(self) -> Minimum: ...

    @property
    def ptx_version(self) -> Version: ...


@frozen
class Requirement:
    """The lowest target and PTX ISA version that an instruction needs."""

    target: Minimum
    version: Version

    @classmethod
    def of(cls, row: InstructionFacts) -> Requirement:
        """That of the instruction of a row."""
        return cls(row.target, row.ptx_version)


# sm_70 with the first ISA version that knows it: what every instruction of ours can count on.
BASELINE = Requirement(target("sm_70"), (6, 0))


def needs(text: str) -> Requirement:
    """A requirement in words, `sm_90 7.8`: the target, or some of them apart by bars, and the
    version."""
    names, version = text.split()
    major, minor = version.split(".")
    first, *others = names.split("|")
    minimum = any_of(first, *others) if others else target(first)
    return Requirement(minimum, (int(major), int(minor)))


class NeedingRow:
    """A row whose `needs` are those of its instruction."""

    __slots__ = ()
    needs: Requirement

    @property
    def target(self) -> Minimum:
        """The lowest targets that run it."""
        return self.needs.target

    @property
    def ptx_version(self) -> Version:
        """The PTX ISA version that introduced it."""
        return self.needs.version


def later(a: Requirement, b: Requirement) -> Requirement:
    """The one of two that a later version of PTX brought, with the target it came for."""
    return b if b.version > a.version else a


@runtime_checkable
class Requiring(Protocol):
    """An op, an atom or a type that says what it needs of its target."""

    def requirement(self) -> Requirement:
        """That of its instruction: `BASELINE` where it has none of its own."""
        ...


@runtime_checkable
class RequiringOp(Requiring, Protocol):
    """An op of ours."""

    def spelled(self) -> str:
        """Its name in diagnostics of its target."""
        ...


# To ask an instance looks all methods of the protocol up, each time: ask each class once.
_is_a = cache(issubclass)


def is_requiring(thing: object) -> TypeGuard[Requiring]:
    return _is_a(type(thing), Requiring)


def is_requiring_op(thing: object) -> TypeGuard[RequiringOp]:
    return _is_a(type(thing), RequiringOp)


def lowest(requirements: Iterable[Minimum], arch: Target | None = None) -> Target:
    """The lowest target that meets every requirement: the text's `.target`.

    With `arch`, the lowest whose code this target runs. Raises TargetError where `arch` does not
    meet them, or no target meets them all (two architecture-specific ones).
    """
    wanted = set(requirements)
    for candidate in TARGETS.values():
        if arch is not None and not arch.supports(candidate):
            continue
        if all(map(candidate.supports, wanted)):
            return candidate
    if arch is not None:
        missing = sorted(minimum.at_least for minimum in wanted if not arch.supports(minimum))
        raise TargetError(f"instructions require {'; '.join(missing)}; got target {arch}")
    raise TargetError(
        f"no target supports all of {'; '.join(sorted(minimum.name for minimum in wanted))}"
    )
