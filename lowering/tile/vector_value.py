"""Vectors of the tile level: one scalar for each element."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue


@dataclass(frozen=True, slots=True)
class VectorValue:
    """The elements of a vector, in order."""

    elements: tuple[SSAValue, ...]
