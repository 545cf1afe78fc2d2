"""`tcgen05.mma` atoms by what they are called: by op, shape and element types, and by PTX mnemonic
with an instruction descriptor."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom, UmmaFragmentKind
from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import parse_mnemonic
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import check_satfinite, why_no_types
from tilewright.dialects.cute_nvgpu.descriptors.instruction_descriptor import InstructionDescriptor
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import MajorMode
from tilewright.dialects.cute_nvgpu.lattice import UMMA_ROWS, UmmaRow
from tilewright.dialects.cute_nvgpu.lattice.nearest import closest, why_not
from tilewright.dialects.cute_nvgpu.lattice.row import Shape, shape_text, types_text
from tilewright.dialects.cute_nvgpu.lattice.sm100 import LONG_K, Tiles, UmmaTypes

UMMA_OPS: tuple[str, ...] = tuple(dict.fromkeys(row.op for row in UMMA_ROWS))
"""The ops that issue a `tcgen05.mma`, without their dialect."""

_SHAPES = "9.7.16.2.1"


def find_umma(
    op: str,
    shape: Shape,
    types: UmmaTypes,
    *,
    cta_group: int = 1,
    majors: tuple[MajorMode, MajorMode] = ("k", "k"),
    frag_kind: UmmaFragmentKind = "ss",
    satfinite: bool = False,
    kind: str | None = None,
    scale_vector: int | None = None,
    scale_type: str | None = None,
) -> UmmaAtom:
    """The atom of that op, shape (M, N, K) and element types (a, b, d; PTX names).

    Raises AtomError, naming the nearest legal choice, where there is no such atom.
    """
    if op not in UMMA_OPS:
        raise AtomError(f"expected an op of {', '.join(UMMA_OPS)}, got '{op}'")
    rows = [row for row in UMMA_ROWS if row.op == op]
    row = _row(op, shape[2], types, (kind, scale_vector, scale_type), rows)
    check_satfinite(op, types, satfinite, row.saturates)
    atom = UmmaAtom(row, shape[0], shape[1], types, cta_group, majors, frag_kind, satfinite)
    _check_majors(atom)
    _check_tile(atom)
    return atom


_Scaling = tuple[str | None, int | None, str | None]
"""The kind, the scale factors of a row and their type, as far as they are given."""


def _row(op: str, k: int, types: UmmaTypes, scaling: _Scaling, rows: list[UmmaRow]) -> UmmaRow:
    """The row of these types, K and scaling: of several, the first."""
    typed = [row for row in rows if types in row.element_types()]
    if not typed:
        raise AtomError(_why_types(op, types, rows))
    scaled = [
        row
        for row in typed
        if all(wanted in (None, have) for wanted, have in zip(scaling, _scaling(row), strict=True))
    ]
    if not scaled:
        raise AtomError(_why_scaling(op, types, scaling, typed))
    for row in scaled:
        if row.k == k:
            return row
    legal = sorted({row.k for row in scaled})
    why = why_not(k, legal, f"K of {' or '.join(map(str, legal))} for {types_text(types)}")
    raise AtomError(f"'{op}' {why} (PTX ISA {_SHAPES})")


def _scaling(row: UmmaRow) -> _Scaling:
    return row.kind, row.scale_vector, row.scale_type


def _why_types(op: str, types: UmmaTypes, rows: list[UmmaRow]) -> str:
    why = why_no_types(op, "tcgen05.mma", types, rows)
    if rows[0].scale is not None and types[2] != "f32":
        # The accumulator of block scaling is locked: seed diagnostics say it in these words.
        _, _, nearest = why.partition("; ")
        return f"'{op}' expects c type to be Float32, got {types[2]}; {nearest}"
    return why


def _why_scaling(op: str, types: UmmaTypes, scaling: _Scaling, rows: list[UmmaRow]) -> str:
    legal = list(dict.fromkeys(_scaling(row) for row in rows))
    nearest = closest(scaling, legal)
    return (
        f"'{op}' expected a kind, scale_vec and scale_type that {types_text(types)} has, got "
        f"{_words(scaling)}; nearest legal: {_words(nearest)}"
    )


def _words(scaling: _Scaling) -> str:
    return ", ".join("any" if word is None else str(word) for word in scaling)


def _check_majors(atom: UmmaAtom) -> None:
    for operand, major in zip("AB", atom.majors, strict=True):
        if major == "k":
            continue
        element = atom.element(operand)
        if element.padded or element.bits < 8:
            raise AtomError(
                f"'{atom.op}' expected a K-major {operand}, got {major} (elements of 6 and 4 bits "
                "lie K-major; PTX ISA, tcgen05 major-ness)"
            )
        if operand == "A" and atom.frag_kind == "ts":
            raise AtomError(
                f"'{atom.op}' expected ab_major = (k, {atom.majors[1]}) for an A in tensor memory, "
                f"got {major} (PTX ISA, tcgen05 major-ness)"
            )


def _check_tile(atom: UmmaAtom) -> None:
    """Raise AtomError for an M or N that the atom's operands do not go with."""
    groups = sorted({tile.cta_group for tile in atom.row.tiles})
    why = why_not(atom.cta_group, groups, f"cta_group {' or '.join(map(str, groups))}")
    if why is not None:
        raise AtomError(f"'{atom.op}' {why}")
    tiles = [tile for tile in atom.row.tiles if tile.cta_group == atom.cta_group]
    fitting = [(tile, _ns(atom, tile)) for tile in tiles]
    fitting = [(tile, ns) for tile, ns in fitting if ns]
    if not fitting:
        raise AtomError(
            f"'{atom.op}' expected other operands for {types_text(atom.types)}, "
            f"got {atom.parameters}"
        )
    tile, ns = min(fitting, key=lambda pair: abs(pair[0].m - atom.m))
    nearest = closest(atom.n, ns)
    if (atom.m, atom.n) == (tile.m, nearest):
        return
    where = f"cta_group {atom.cta_group}, {types_text(atom.types)}"
    if atom.frag_kind == "ts":
        where += ", A in tensor memory"
    if _transposed(atom):
        where += ", B N-major"
    raise AtomError(
        f"'{atom.op}' expected M of {' or '.join(str(legal.m) for legal, _ in fitting)} and N of "
        f"{_listed(ns)} for M = {tile.m} ({where}), got {shape_text(atom.shape)}; nearest legal: "
        f"{shape_text(atom.row.shape(tile.m, nearest))} (PTX ISA {_SHAPES})"
    )


def _transposed(atom: UmmaAtom) -> bool:
    return atom.majors[1] == "mn" and atom.element("B").bits == 8


def _ns(atom: UmmaAtom, tile: Tiles) -> tuple[int, ...]:
    """The N that go with a tile's M, given where A is and how B lies."""
    ns = set(tile.ns)
    if atom.frag_kind == "ts":
        ns &= set(tile.tmem_ns)
    if _transposed(atom):
        ns &= set(tile.transposed_ns)
    return tuple(sorted(ns))


def _listed(ns: tuple[int, ...]) -> str:
    """`64, 128, 256`; `8 to 256 in steps of 8`."""
    steps = {b - a for a, b in pairwise(ns)}
    if len(ns) > 3 and len(steps) == 1:
        return f"{ns[0]} to {ns[-1]} in steps of {steps.pop()}"
    if len(ns) > 3:
        return f"{ns[0]}, then {_listed(ns[1:])}"
    return ", ".join(map(str, ns))


def ummas_of(row: UmmaRow) -> Iterator[UmmaAtom]:
    """One atom for every shape and element types of a row, both operands K-major in shared
    memory."""
    for types in row.element_types():
        for tile in row.tiles:
            for n in tile.ns:
                yield UmmaAtom(row, tile.m, n, types, tile.cta_group)


@cache
def umma_of(mnemonic: str, idesc: int, frag_kind: UmmaFragmentKind = "ss") -> UmmaAtom:
    """The atom that a PTX mnemonic and an instruction descriptor name together.

    Raises AtomError where the mnemonic is none, or says something else than the descriptor;
    DescriptorError for a word that is no descriptor of the mnemonic's kind.
    """
    said = parse_mnemonic(mnemonic)
    fields = InstructionDescriptor.decode(idesc, said.kind)
    if fields.sparse != said.rows[0].sparse:
        expected = "1" if said.rows[0].sparse else "0"
        raise AtomError(
            f"{mnemonic} expected {expected} in bit 2 (sparsity) of its instruction descriptor, "
            f"got {idesc:#010x}"
        )
    if fields.max_shift and not said.rows[0].ws:
        raise AtomError(
            f"{mnemonic} expected 0 in bits 31-30 of its instruction descriptor, got {idesc:#010x} "
            "(the maximum shift is of tcgen05.mma.ws)"
        )
    types = (fields.a_type, fields.b_type, fields.d_type)
    row = _described(mnemonic, said.rows, types, fields)
    atom = find_umma(
        row.op,
        row.shape(fields.m, fields.n),
        types,
        cta_group=said.cta_group,
        majors=(fields.a_major, fields.b_major),
        frag_kind=frag_kind,
        satfinite=fields.saturate,
        kind=row.kind,
        scale_vector=row.scale_vector,
        scale_type=row.scale_type,
    )
    atom.descriptor(selector=fields.selector, sfa_id=fields.sfa_id, sfb_id=fields.sfb_id)
    return atom


def _described(
    mnemonic: str, rows: tuple[UmmaRow, ...], types: UmmaTypes, fields: InstructionDescriptor
) -> UmmaRow:
    """Of the rows that a mnemonic can mean, the one that a descriptor means."""
    for row in rows:
        long = (row.k == LONG_K) == fields.long_k
        scaled = row.scale is None or row.scale.type == fields.scale_type
        if long and scaled and types in row.element_types():
            return row
    raise AtomError(
        f"{mnemonic} expected an instruction descriptor of types and scale factors that it takes, "
        f"got {types_text(types)}, scale factors {fields.scale_type}, "
        f"K = {LONG_K if fields.long_k else 64}"
    )
