"""The instruction descriptor of `tcgen05.mma`: 32 bits that say what its mnemonic does not.

                31    29 28    24 23 22     17 16 15  14 13 12    10 9      7 6 5    4 3 2 1  0
    f16 tf32   | shift  |  M >> 4 |0| N >> 3  | tB tA| -B -A|   B   |   A    |0|  D   |s|*| sel |
    mxf8f6f4   |0| SFA  |M>>7|000 |t| N >> 3  | tB tA| -B -A|   B   |   A    |0| SFB  |0|*|  0  |
    mxf4       |K| SFA  |M>>7|000 |t| N >> 3  |  0  0| -B -A|   B   |   A    |0| SFB  |0|*|  0  |

* is 1 for a sparse A, s saturates, t is the type of the scale factors, tA and tB say MN-major.
f8f6f4 and i8 have the fields of f16 and tf32; the shift is of the weight-stationary form. ptxas
never looks inside. PTX ISA 9.7.16.4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from tilewright.dialects.cute_nvgpu.descriptors.bit_field import (
    BitField,
    DescriptorError,
    check_word,
    html,
)
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import MajorMode
from tilewright.dialects.cute_nvgpu.lattice.nearest import closest
from tilewright.dialects.cute_nvgpu.lattice.sm100 import LONG_K, UmmaKind
from tilewright.dialects.frozen import frozen

SECTION = "9.7.16.4.2"


@frozen
class Coded:
    """A field of the table with what its bits mean: the values by code, or where `codes` is None
    the number itself."""

    bits: BitField
    codes: Mapping[int, Any] | None = None

    @property
    def name(self) -> str:
        """Its attribute of `InstructionDescriptor`."""
        return self.bits.name

    @property
    def values(self) -> tuple[Any, ...]:
        """The legal values, where they are listed."""
        return () if self.codes is None else tuple(self.codes.values())

    def put(self, value: Any) -> int:
        """The bits of a value. Raises DescriptorError for one that has none."""
        if self.codes is None:
            self.bits.check(value, SECTION)
            return self.bits.put(value)
        for code, meaning in self.codes.items():
            if meaning == value and type(meaning) is type(value):
                return code << self.bits.low
        raise DescriptorError(
            f"expected {self.bits.words} of {', '.join(map(str, self.values))}, got {value}; "
            f"nearest legal: {closest(value, self.values)} (PTX ISA {SECTION})"
        )

    def get(self, word: int) -> Any:
        """The value of a word's bits. Raises DescriptorError for bits that have none."""
        if self.codes is None:
            return self.bits.get(word)
        code = (word & self.bits.mask) >> self.bits.low
        if code not in self.codes:
            meaning = ", ".join(f"{legal} ({value})" for legal, value in self.codes.items())
            raise DescriptorError(
                f"expected {meaning} in bits {self.bits.bits} ({self.bits.words}), got {code} in "
                f"{word:#010x} (PTX ISA {SECTION})"
            )
        return self.codes[code]


_FLAG: Mapping[int, bool] = {0: False, 1: True}
_NO: Mapping[int, bool] = {0: False}
_MAJOR: Mapping[int, MajorMode] = {0: "k", 1: "mn"}
_K_MAJOR: Mapping[int, MajorMode] = {0: "k"}
_NARROW = {0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"}
_E2M1 = {1: "e2m1"}
_TYPES: Mapping[UmmaKind, Mapping[int, str]] = {
    "f16": {0: "f16", 1: "bf16"},
    "tf32": {2: "tf32"},
    "f8f6f4": _NARROW,
    "i8": {0: "u8", 1: "s8"},
    "mxf8f6f4": _NARROW,
    "mxf4": _E2M1,
    "mxf4nvf4": _E2M1,
}
_ACCUMULATORS: Mapping[UmmaKind, Mapping[int, str]] = {
    "f16": {0: "f16", 1: "f32"},
    "tf32": {1: "f32"},
    "f8f6f4": {0: "f16", 1: "f32"},
    "i8": {2: "s32"},
}
_SCALE_TYPES: Mapping[UmmaKind, Mapping[int, str]] = {
    "mxf8f6f4": {1: "ue8m0"},
    "mxf4": {1: "ue8m0"},
    "mxf4nvf4": {0: "ue4m3", 1: "ue8m0"},
}


def _coded(name: str, low: int, width: int, words: str, codes: Mapping[int, Any]) -> Coded:
    return Coded(BitField(name, low, width, 0, words), codes)


def _matrices(kind: UmmaKind, majors: Mapping[int, MajorMode]) -> tuple[Coded, ...]:
    """The fields that all kinds have in one place."""
    types, negates = _TYPES[kind], _NO if kind == "i8" else _FLAG
    return (
        _coded("sparse", 2, 1, "sparsity", _FLAG),
        _coded("a_type", 7, 3, "type of A", types),
        _coded("b_type", 10, 3, "type of B", types),
        _coded("negate_a", 13, 1, "negation of A", negates),
        _coded("negate_b", 14, 1, "negation of B", negates),
        _coded("a_major", 15, 1, "major-ness of A", majors),
        _coded("b_major", 16, 1, "major-ness of B", majors),
        Coded(BitField("n", 17, 6, 3, "N")),
    )


def _plain(kind: UmmaKind) -> tuple[Coded, ...]:
    """Table of f16, tf32, f8f6f4 and i8."""
    return (
        Coded(BitField("selector", 0, 2, 0, "sparsity selector")),
        _coded("saturate", 3, 1, "saturation", _FLAG if kind == "i8" else _NO),
        _coded("d_type", 4, 2, "type of D", _ACCUMULATORS[kind]),
        *_matrices(kind, _MAJOR),
        Coded(BitField("m", 24, 5, 4, "M")),
        _coded("max_shift", 30, 2, "maximum shift of B", {0: 0, 1: 8, 2: 16, 3: 32}),
    )


def _scaled(kind: UmmaKind) -> tuple[Coded, ...]:
    """Table of the kinds with scale factors."""
    packed = kind != "mxf8f6f4"
    long = (_coded("long_k", 31, 1, f"K = {LONG_K}", _FLAG),) if packed else ()
    return (
        Coded(BitField("sfb_id", 4, 2, 0, "scale factor id of B")),
        *_matrices(kind, _K_MAJOR if packed else _MAJOR),
        _coded("scale_type", 23, 1, "type of the scale factors", _SCALE_TYPES[kind]),
        Coded(BitField("m", 27, 2, 7, "M")),
        Coded(BitField("sfa_id", 29, 2, 0, "scale factor id of A")),
        *long,
    )


FIELDS: Mapping[UmmaKind, tuple[Coded, ...]] = {
    **{kind: _plain(kind) for kind in ("f16", "tf32", "f8f6f4", "i8")},
    **{kind: _scaled(kind) for kind in ("mxf8f6f4", "mxf4", "mxf4nvf4")},
}
"""The fields of each kind, low bits first within each of its parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionDescriptor:
    """The fields of the instruction descriptor of one `tcgen05.mma` of a kind.

    `selector` and `sparse` speak of a sparse A, `saturate` of s32, `max_shift` of the
    weight-stationary form, `scale_type`, `sfa_id`, `sfb_id` and `long_k` (K = 96) of block scaling.
    A field that the kind has not keeps its default. Raises DescriptorError for what no bits say.
    """

    kind: UmmaKind
    m: int
    n: int
    a_type: str
    b_type: str
    d_type: str = "f32"
    a_major: MajorMode = "k"
    b_major: MajorMode = "k"
    negate_a: bool = False
    negate_b: bool = False
    sparse: bool = False
    selector: int = 0
    saturate: bool = False
    max_shift: int = 0
    scale_type: str | None = None
    sfa_id: int = 0
    sfb_id: int = 0
    long_k: bool = False

    def __post_init__(self) -> None:
        coded = {field.name: field for field in FIELDS[self.kind]}
        for field in coded.values():
            field.put(getattr(self, field.name))
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in ("kind", *coded) and value != field.default:
                raise DescriptorError(
                    f"kind::{self.kind} expected no {field.name} but {field.default}, got {value} "
                    f"(PTX ISA {SECTION})"
                )

    def encode(self) -> int:
        """The 32-bit word."""
        return sum(field.put(getattr(self, field.name)) for field in FIELDS[self.kind])

    def _repr_html_(self) -> str:
        """The descriptor in a notebook: its fields."""
        values = ((field.bits, getattr(self, field.name)) for field in FIELDS[self.kind])
        return html(
            f"tcgen05.mma kind::{self.kind} instruction descriptor", self.encode(), 32, values
        )

    @staticmethod
    def decode(word: int, kind: UmmaKind) -> InstructionDescriptor:
        """The descriptor that a word holds for a kind. Raises DescriptorError for bits that no
        field of the kind has, and for values that mean nothing."""
        check_word(word, 32, (field.bits for field in FIELDS[kind]))
        values = {field.name: field.get(word) for field in FIELDS[kind]}
        return InstructionDescriptor(kind=kind, **values)
