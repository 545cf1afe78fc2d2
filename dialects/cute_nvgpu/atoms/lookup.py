"""Atoms by what they are called: by op, shape and element types, and by PTX mnemonic."""

import re
from collections.abc import Mapping
from functools import cache
from typing import TypeAlias, TypedDict, Unpack

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError, MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.atoms.wmma import canonical_wmma, read_wmma
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS, UMMA_ROWS, WGMMA_ROWS, WMMA_MMA, MmaRow
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, SCALE_TYPES
from tilewright.dialects.cute_nvgpu.lattice.nearest import Nearest, distance
from tilewright.dialects.cute_nvgpu.lattice.row import (
    ElementTypes,
    Majors,
    Shape,
    shape_of,
    shape_text,
    types_text,
)


class Modifiers(TypedDict, total=False):
    """The modifiers that tell atoms of one shape and types apart; see `MmaRow` for each."""

    satfinite: bool
    rounding: str | None
    majors: Majors
    bit_op: str | None
    kind: str | None
    sparsity: str | None
    scale_vector: int | None
    scale_type: str | None


_CHOICES = {
    "kind": "a kind",
    "sparsity": "a form of metadata",
    "scale_vector": "a scale vector size",
    "scale_type": "a type of scale factors",
    "bit_op": "a bit operation",
}
"""The fields of a row that a modifier chooses among, in words."""


def find(
    op: str | None, shape: Shape, types: ElementTypes, **modifiers: Unpack[Modifiers]
) -> MmaAtom:
    """The atom of that op, shape, element types (a, b, c, d, PTX names) and modifiers.

    `op` None searches every `mma.sync` and `mma.sp`. A modifier that is left out is none where that
    is legal, otherwise the only one that there is; of metadata, `sp`. Raises AtomError, naming the
    nearest legal choice, where there is no such row.
    """
    chosen: dict[str, object] = {**modifiers}
    given = (op, _there("sparsity", chosen), _there("scale_type", chosen))
    typed = _typed(*given).get(types)
    if not typed:
        raise AtomError(_explain_types(types, given))
    shaped = [row for row in typed if row.shape == shape]
    if not shaped:
        ranked = sorted(typed, key=lambda row: distance(row.shape, shape))
        near = dict.fromkeys(shape_text(row.shape) for row in ranked)
        raise AtomError(
            f"'{ranked[0].op}' expected a shape that {types_text(types)} has, "
            f"got {shape_text(shape)}; nearest legal: {', '.join(near)}"
        )
    for field, what in _CHOICES.items():
        shaped = _choose(shaped, field, what, types, chosen)
    return _with_modifiers(shaped[0], types, modifiers)


_Given: TypeAlias = tuple[str | None, bool | None, bool | None]
"""Facts that narrow the rows: the op, and whether they are sparse and block-scaled, or None where
that is not said."""


def _there(field: str, modifiers: Mapping[str, object]) -> bool | None:
    return modifiers[field] is not None if field in modifiers else None


@cache
def _candidates(op: str | None, sparse: bool | None, scaled: bool | None) -> tuple[MmaRow, ...]:
    """The rows of an op, sparse or not, block-scaled or not. Raises AtomError for an unknown op."""
    everything: tuple[MmaRow, ...] = (*MMA_ROWS, *WMMA_MMA)
    rows = [row for row in everything if op == row.op] if op else list(MMA_ROWS)
    if not rows:
        others = (row.op for row in (*WGMMA_ROWS, *UMMA_ROWS))
        legal = ", ".join(sorted({*(row.op for row in everything), *others}))
        raise AtomError(f"expected an op of the lattice, got '{op}'; legal: {legal}")
    for field, there in (("sparsity", sparse), ("scale_type", scaled)):
        if there is not None:
            rows = [row for row in rows if (getattr(row, field) is not None) == there] or rows
    return tuple(rows)


@cache
def _typed(
    op: str | None, sparse: bool | None, scaled: bool | None
) -> dict[ElementTypes, tuple[MmaRow, ...]]:
    """The candidates by the element types that they take."""
    rows_of: dict[ElementTypes, list[MmaRow]] = {}
    for row in _candidates(op, sparse, scaled):
        for types in row.element_types():
            rows_of.setdefault(types, []).append(row)
    return {types: tuple(rows) for types, rows in rows_of.items()}


def _choose(
    rows: list[MmaRow], field: str, what: str, types: ElementTypes, modifiers: Mapping[str, object]
) -> list[MmaRow]:
    """The rows of the chosen value of a field."""
    legal: list[object] = list(dict.fromkeys(getattr(row, field) for row in rows))
    if field in modifiers:
        wanted = modifiers[field]
    elif None in legal or len(legal) > 1:
        wanted = "sp" if "sp" in legal else None
    else:
        wanted = legal[0]
    chosen = [row for row in rows if getattr(row, field) == wanted]
    if not chosen:
        raise AtomError(
            f"'{rows[0].op}' expected {what} that {types_text(types)} has, "
            f"got {wanted or 'none'}; legal: {' or '.join(str(value or 'none') for value in legal)}"
        )
    return chosen


def _with_modifiers(row: MmaRow, types: ElementTypes, modifiers: Modifiers) -> MmaAtom:
    satfinite, rounding = modifiers.get("satfinite", False), modifiers.get("rounding")
    if satfinite and not row.satfinite:
        raise AtomError(
            f"'{row.op}' expected no satfinite for {types_text(types)}, got satfinite "
            "(only integer accumulators saturate)"
        )
    if rounding is not None and rounding not in row.rounding:
        legal = ", ".join(row.rounding) or "none"
        raise AtomError(
            f"'{row.op}' expected a rounding modifier that {types_text(types)} has, "
            f"got {rounding}; legal: {legal}"
        )
    majors = modifiers.get("majors", ("row", "col"))
    if majors not in row.majors:
        legal = " or ".join(map(".".join, row.majors))
        nearest = MmaAtom(row, types, satfinite, rounding, row.majors[0])
        why = _WHY_LAYOUTS.get(row.op, _WHY_ROW_COL)
        raise AtomError(
            f"'{row.op}' expected layouts {legal}, got {'.'.join(majors)} ({why}); "
            f"nearest legal: {nearest}"
        )
    return MmaAtom(row, types, satfinite, rounding, majors)


_WHY_ROW_COL = "only m8n8k4 on f16 has others; ldmatrix.trans transposes on the way"
_WHY_LAYOUTS = {"wmma.mma": "elements of less than a byte lie along K in memory"}
"""Why an op does not have all layouts of A and B."""


def _explain_types(types: ElementTypes, given: _Given) -> str:
    """Why no row takes these element types: the nearest legal tuple differs least."""
    near, op = _nearest_types(*given).find(enumerate(types))[0]
    return (
        f"'{op}' expected element types (a, b, c, d) of the lattice, got {types_text(types)}; "
        f"nearest legal: {types_text(near)}"
    )


@cache
def _nearest_types(
    op: str | None, sparse: bool | None, scaled: bool | None
) -> Nearest[tuple[ElementTypes, str], tuple[int, str]]:
    """The element types of the candidates, each with the op of its first row."""
    legal = sorted(_typed(op, sparse, scaled).items())
    entries = (((types, rows[0].op), enumerate(types)) for types, rows in legal)
    # What is multiplied is rather meant than what it is summed up in: a and b count double.
    return Nearest(entries, lambda feature: 2 if feature[0] < 2 else 1)


_MMA = re.compile(
    r"mma(?:\.(?P<sparsity>sp(?:::ordered_metadata)?))?\.sync\.aligned"
    r"\.m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)\.(?P<al>row|col)\.(?P<bl>row|col)"
    r"(?:\.kind::(?P<kind>\w+))?(?P<scaled>\.block_scale)?(?:\.scale_vec::(?P<vector>[124])X)?"
    r"(?P<satfinite>\.satfinite)?(?:\.(?P<rounding>r[nzmp]))?"
    r"\.(?P<d>\w+)\.(?P<a>\w+)\.(?P<b>\w+)\.(?P<c>\w+?)(?:\.(?P<stype>ue\w+))?"
    r"(?:\.(?P<bit_op>\w+)\.popc)?"
)
_DEFAULT_VECTOR = {"mxf8f6f4": 1, "mxf4": 2}
"""The size that PTX assumes where `.scale_vec_size` is left out. PTX ISA 9.7.14.5.14."""

_SHORT = re.compile(r"\.kind::(\w+)\.block_scale\.(?!scale_vec::)")


# As the examples of PTX ISA 9.7.14.5.14 and nvcc spell them, and its syntax does not.
_ROUNDED_LAST = re.compile(r"((?:wmma\.)?mma\.sync\.aligned\..*)\.(f64\.f64\.f64\.f64)\.(r[nzmp])")


def canonical(mnemonic: str) -> str:
    """The spelling of an MMA's mnemonic that the lattice uses: with `.scale_vec_size`, the rounding
    of f64 before the types, and the words of wmma in the order of its syntax."""
    if (match := _ROUNDED_LAST.fullmatch(mnemonic)) is not None:
        mnemonic = f"{match[1]}.{match[3]}.{match[2]}"
    if mnemonic.startswith("wmma."):
        return canonical_wmma(mnemonic)
    match = _SHORT.search(mnemonic)
    if match is None or match[1] not in _DEFAULT_VECTOR:
        return mnemonic
    place = match.end()
    return f"{mnemonic[:place]}scale_vec::{_DEFAULT_VECTOR[match[1]]}X.{mnemonic[place:]}"


@cache
def mnemonics() -> dict[str, MmaAtom]:
    """Every atom of the lattice by its mnemonic."""
    rows: tuple[MmaRow, ...] = (*MMA_ROWS, *WMMA_MMA)
    return {atom.mnemonic: atom for row in rows for atom in atoms_of(row)}


@cache
def parse(mnemonic: str) -> MmaAtom:
    """The atom that a PTX mnemonic names.

    Raises AtomError where it is no `mma.sync` or `wmma.mma` mnemonic, or an illegal one.
    """
    wanted = canonical(mnemonic)
    atom = mnemonics().get(wanted)
    return _explain(wanted) if atom is None else atom


def _explain(mnemonic: str) -> MmaAtom:
    """The atom of a mnemonic that is in no row, if only for its order of words; an AtomError that
    says why there is none such, otherwise."""
    if mnemonic.startswith("wmma."):
        return _explain_wmma(mnemonic)
    match = _MMA.fullmatch(mnemonic)
    if match is None:
        raise AtomError(
            "expected mma{.sp{::ordered_metadata}}.sync.aligned.SHAPE.row.col{.kind::KIND}"
            "{.block_scale{.scale_vec::NX}}{.satfinite}{.ROUNDING}.DTYPE.ATYPE.BTYPE.CTYPE{.STYPE}"
            f"{{.BITOP.popc}}, got '{mnemonic}'"
        )
    types = (match["a"], match["b"], match["c"], match["d"])
    scale = match["stype"]
    unknown = [name for name in types if name not in ELEMENT_TYPES]
    if unknown or (scale is not None and scale not in SCALE_TYPES):
        legal = ", ".join(ELEMENT_TYPES if unknown else SCALE_TYPES)
        raise AtomError(f"expected element types of {legal}, got {(unknown or [scale])[0]}")
    vector = match["vector"]
    if (match["scaled"] is None) != (scale is None) or (vector is not None and scale is None):
        raise AtomError(
            "expected .block_scale, .scale_vec::NX and the type of the scale factors "
            f"together or not at all, got '{mnemonic}'"
        )
    return find(
        None,
        shape_of(match),
        types,
        satfinite=match["satfinite"] is not None,
        rounding=match["rounding"],
        majors=(match["al"], match["bl"]),  # type: ignore[arg-type]
        kind=match["kind"],
        sparsity=match["sparsity"],
        scale_vector=None if vector is None else int(vector),
        scale_type=scale,
        bit_op=match["bit_op"],
    )


def _explain_wmma(mnemonic: str) -> MmaAtom:
    """`_explain` of a `wmma.mma`."""
    match = read_wmma(mnemonic)
    modifiers: Modifiers = {
        "satfinite": match["satfinite"] is not None,
        "rounding": match["rounding"],
        "majors": (match["al"], match["bl"]),  # type: ignore[typeddict-item]
        "bit_op": match["bit_op"],
    }
    types = (match["a"] or "f16", match["b"] or "f16", match["c"], match["d"])
    shape = shape_of(match)
    atom = find("wmma.mma", shape, types, **modifiers)
    if (match["a"], match["b"]) == ("f16", "f16"):
        raise AtomError(
            f"'wmma.mma' expected no .ATYPE.BTYPE for f16, got '{mnemonic}' (without them both are "
            f"f16); nearest legal: {atom.mnemonic}"
        )
    return atom
