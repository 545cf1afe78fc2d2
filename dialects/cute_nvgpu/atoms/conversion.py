"""`cvt` between element types as an atom: how many elements one instruction takes.

rn.satfinite.relu.e4m3x2.f32    two f32, each in a register of its own
rn.f16x2.e2m1x2                 two e2m1 in an 8-bit register
rs.satfinite.e2m1x4.f32         four f32, and a word of random bits
"""

from difflib import get_close_matches

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.traits import stored_as
from tilewright.dialects.cute_nvgpu.lattice.elements import (
    ELEMENT_TYPES,
    INTEGERS,
    SCALE_TYPES,
    ElementType,
)
from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS, SCALED, Form
from tilewright.dialects.frozen import frozen

_ELEMENTS = {**INTEGERS, **SCALE_TYPES, **ELEMENT_TYPES}


@frozen
class TypeConversion:
    """A form of `cvt` on the elements of fragments and register tensors. Build it with
    `find_conversion`, which checks it."""

    form: Form
    source: ElementType
    result: ElementType
    count: int
    packed: bool

    @property
    def is_stochastic(self) -> bool:
        """True where each instruction takes a word of random bits."""
        return self.form.suffix.startswith("rs.")

    @staticmethod
    def fits(element: ElementType, mlir: str) -> bool:
        """Elements may be held as those of an MLIR type."""
        return mlir in (element.mlir, *stored_as(element))

    def why_not(self, source: str, result: str, elements: int) -> str | None:
        """The fault of elements of these MLIR types, and of their number, or None."""
        for what, row, mlir in (("source", self.source, source), ("result", self.result, result)):
            if not self.fits(row, mlir):
                legal = " or ".join(dict.fromkeys((row.mlir, *stored_as(row))))
                return f"expected a {what} of {legal} for cvt.{self.form.suffix}, got {mlir}"
        if elements % self.count:
            nearest = max(1, round(elements / self.count)) * self.count
            return (
                f"expected elements in {self.count}s for cvt.{self.form.suffix}, got {elements}; "
                f"nearest legal: {nearest}"
            )
        return None


def _of(form: Form) -> TypeConversion | None:
    """The conversion of a form; None where an element type is none of a fragment's, or numbers are
    scaled besides."""
    *modifiers, to, source = form.suffix.split(".")
    (result, count), (from_, packed) = _parts(to), _parts(source)
    if {*modifiers} & {SCALED} or result not in _ELEMENTS or from_ not in _ELEMENTS:
        return None
    elements = _ELEMENTS[from_], _ELEMENTS[result]
    return TypeConversion(form, *elements, max(count, packed), packed > 1)


def _parts(type_: str) -> tuple[str, int]:
    name, cross, count = type_.rpartition("x")
    return (name, int(count)) if cross else (type_, 1)


CONVERSIONS: dict[str, TypeConversion] = {
    suffix: conversion
    for suffix, form in SCALARS["cvt"].forms.items()
    if (conversion := _of(form)) is not None
}
"""Every one, by its form."""


def find_conversion(suffix: str) -> TypeConversion:
    """The conversion of that form. Raises AtomError, naming the nearest, where there is none."""
    if suffix not in CONVERSIONS:
        near = get_close_matches(suffix, CONVERSIONS, n=1, cutoff=0.0)[0]
        raise AtomError(f"expected a form of cvt, got {suffix}; nearest legal: {near}")
    return CONVERSIONS[suffix]
