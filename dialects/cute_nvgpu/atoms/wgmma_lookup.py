"""`wgmma` atoms by what they are called: by op, shape and element types, and by PTX mnemonic."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.wgmma import FragmentKind, WgmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import MajorMode
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES
from tilewright.dialects.cute_nvgpu.lattice.nearest import closest
from tilewright.dialects.cute_nvgpu.lattice.row import (
    DescriptorMmaRow,
    Shape,
    shape_of,
    shape_text,
    types_text,
)
from tilewright.dialects.cute_nvgpu.lattice.sm90 import (
    SM90_MMA,
    SM90_SPARSE_MMA,
    WgmmaRow,
    WgmmaTypes,
)

_ROWS = {"sm90.mma": SM90_MMA, "sm90.sparse_mma": SM90_SPARSE_MMA}
WGMMA_OPS = tuple(_ROWS)
"""The ops that issue a `wgmma`, without their dialect."""


def find_wgmma(
    op: str,
    shape: Shape,
    types: WgmmaTypes,
    *,
    majors: tuple[MajorMode, MajorMode] = ("k", "k"),
    frag_kind: FragmentKind = "ss",
    satfinite: bool = False,
) -> WgmmaAtom:
    """The atom of that op, shape (M, N, K) and element types (a, b, d; PTX names).

    Raises AtomError, naming the nearest legal choice, where there is no such atom.
    """
    if op not in _ROWS:
        raise AtomError(f"expected an op of {', '.join(_ROWS)}, got '{op}'")
    fitting = next((row for row in _ROWS[op] if types in row.element_types()), None)
    if fitting is None:
        raise AtomError(why_no_types(op, "wgmma", types, _ROWS[op]))
    _check_shape(fitting, shape, types)
    check_satfinite(op, types, satfinite, fitting.satfinite)
    atom = WgmmaAtom(fitting, shape[1], types, satfinite, majors, frag_kind)
    _check_majors(atom)
    return atom


def _check_shape(row: WgmmaRow, shape: Shape, types: WgmmaTypes) -> None:
    nearest = row.shape(closest(shape[1], row.ns))
    if shape != nearest:
        steps = "8 to 256 in steps of 8"
        if len(row.ns) < 32:
            steps = "8, 16, 24, 32, then 48 to 256 in steps of 16"
        raise AtomError(
            f"'{row.op}' expected a shape 64xNx{row.k} for {types_text(types)}, N {steps}, "
            f"got {shape_text(shape)}; nearest legal: {shape_text(nearest)} "
            f"(PTX ISA 9.7.15.2)"
        )


def _check_majors(atom: WgmmaAtom) -> None:
    for operand, major in zip("AB", atom.majors, strict=True):
        if major == "k":
            continue
        if not atom.row.transposes:
            raise AtomError(
                f"'{atom.op}' expected a K-major {operand}, got {major} "
                f"(only f16 and bf16 lie MN-major; PTX ISA {atom.row.section})"
            )
        if operand == "A" and atom.frag_kind == "rs":
            raise AtomError(
                f"'{atom.op}' expected ab_major = (k, {atom.majors[1]}) for an A in registers, "
                f"got {major} (PTX ISA {atom.row.section})"
            )


def why_no_types(
    op: str, instruction: str, types: WgmmaTypes, rows: Sequence[DescriptorMmaRow]
) -> str:
    """Why none of the rows takes these element types."""
    nearest = closest(types, [legal for row in rows for legal in row.element_types()])
    return (
        f"'{op}' expected element types (a, b, d) that {instruction} has, "
        f"got {types_text(types)}; nearest legal: {types_text(nearest)}"
    )


def check_satfinite(op: str, types: WgmmaTypes, satfinite: bool, saturates: bool) -> None:
    """Raise AtomError for a satfinite where sums do not saturate."""
    if satfinite and not saturates:
        raise AtomError(
            f"'{op}' expected no satfinite for {types_text(types)}, got satfinite "
            "(only sums of s8 and u8 saturate)"
        )


_MNEMONIC = re.compile(
    r"wgmma\.mma_async(?P<sp>\.sp)?\.sync\.aligned\.m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)"
    r"(?P<early>\.satfinite)?\.(?P<d>\w+)\.(?P<a>\w+)\.(?P<b>\w+)(?P<late>\.satfinite)?"
    r"(?:\.(?P<bit_op>\w+)\.popc)?"
)


def wgmmas_of(row: WgmmaRow) -> Iterator[WgmmaAtom]:
    """One atom for every mnemonic of a row."""
    saturating = (False, True) if row.satfinite else (False,)
    for types, n, satfinite in product(row.element_types(), row.ns, saturating):
        yield WgmmaAtom(row, n, types, satfinite)


_EARLY_SATFINITE = re.compile(r"(wgmma\.mma_async\..*\.m\d+n\d+k\d+)\.satfinite(\.\w+\.\w+\.\w+)")


def canonical_wgmma(mnemonic: str) -> str:
    """The mnemonic with `.satfinite` after the types, as the lattice spells it: PTX has it before
    them in its syntax, and after them in its examples."""
    match = _EARLY_SATFINITE.fullmatch(mnemonic)
    return mnemonic if match is None else f"{match[1]}{match[2]}.satfinite"


@cache
def parse_wgmma(mnemonic: str) -> WgmmaAtom:
    """The atom that a PTX mnemonic names, both operands K-major in shared memory.

    `.satfinite` may stand before or after the types: PTX documents both. Raises AtomError where it
    is no `wgmma.mma_async` mnemonic, or an illegal one.
    """
    match = _MNEMONIC.fullmatch(mnemonic)
    if match is None or (match["early"] and match["late"]):
        raise AtomError(
            "expected wgmma.mma_async{.sp}.sync.aligned.m64nNkK.DTYPE.ATYPE.BTYPE{.satfinite}"
            f"{{.and.popc}}, got '{mnemonic}'"
        )
    types = (match["a"], match["b"], match["d"])
    if unknown := [name for name in types if name not in ELEMENT_TYPES]:
        raise AtomError(f"expected element types of {', '.join(ELEMENT_TYPES)}, got {unknown[0]}")
    atom = find_wgmma(
        "sm90.sparse_mma" if match["sp"] else "sm90.mma",
        shape_of(match),
        types,
        satfinite=bool(match["early"] or match["late"]),
    )
    if match["bit_op"] != atom.row.bit_op:
        expected = f".{atom.row.bit_op}.popc" if atom.row.bit_op else "no bit operation"
        raise AtomError(
            f"'{atom.op}' expected {expected} for {types_text(types)}, got '{mnemonic}'; "
            f"nearest legal: {atom.mnemonic}"
        )
    return atom
