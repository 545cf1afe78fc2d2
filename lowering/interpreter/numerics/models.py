"""Which arithmetic each chip's MMAs follow: one row per chip, unit and element type.

The arithmetic is not in the PTX ISA; the rows come from docs/numerics.md, which took them from
measurements on an H100 ("H100") and from MMA-Sim, arXiv 2511.10909 ("paper"). A combination that
is not in the table has no known arithmetic, and `model_for` says so instead of guessing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from tilewright.lowering.interpreter.numerics.errors import NumericsError

Unit: TypeAlias = Literal["mma.sync", "wgmma", "tcgen05"]


@dataclass(frozen=True)
class FusedDotAdd:
    """The fused dot-add of docs/numerics.md.

    fraction_bits: F, the fraction bits that an addend keeps relative to the largest exponent.
    chunk: how many k one fused sum takes. A longer K is a chain of fused sums in k order, each
        rounded to the result type and added to the next; None is one sum over the whole K.
    f32_fraction_bits: fraction bits that an f32 result keeps; the rest is cut off toward zero.
    exponent_floor: how far below the result type's smallest exponent the largest exponent can lie;
        smaller addends are aligned to that floor (f32: -126 - 7). None: no floor is known. It
        shows in subnormal results only, where every addend is far below the normal range.
    An f16 result is rounded to nearest even.
    """

    fraction_bits: int
    source: str
    chunk: int | None = None
    f32_fraction_bits: int = 23
    exponent_floor: int | None = None

    def __post_init__(self) -> None:
        """Reject rows outside what the float64 arithmetic of `fused_sum.py` holds exactly."""
        # Addends below 4 * 2**F, at most 2**10 of them, summed in 53 bits.
        if not 1 <= self.fraction_bits <= 40 or not 1 <= self.f32_fraction_bits <= 23:
            raise NumericsError(f"fused dot-add with impossible widths: {self}")
        if self.chunk is not None and self.chunk < 1:
            raise NumericsError(f"fused dot-add with an empty chunk: {self}")


@dataclass(frozen=True)
class FmaChain:
    """f64: fused multiply-adds in k order, each with the instruction's rounding mode."""

    source: str


@dataclass(frozen=True)
class ExactInteger:
    """Integer and bit MMAs: exact sums, then wrap or clamp to 32 bits."""

    source: str


@dataclass(frozen=True)
class ConvertedDotAdd:
    """fp8 on a chip without fp8 tensor cores for the instruction: two chained f16 sums from zero,
    over the low and the high halves of every register, then one addition of c (converted_sum.py).
    """

    halves: FusedDotAdd
    source: str


Model: TypeAlias = FusedDotAdd | ConvertedDotAdd | FmaChain | ExactInteger

FLOAT16 = frozenset({"f16"})
BFLOAT16 = frozenset({"bf16"})
TFLOAT32 = frozenset({"tf32"})
FP8 = frozenset({"e4m3", "e5m2"})
F8F6F4 = FP8 | {"e3m2", "e2m3", "e2m1"}
FLOAT64 = frozenset({"f64"})
INTEGER = frozenset({"s8", "u8", "s4", "u4"})
BINARY = frozenset({"b1"})


@dataclass(frozen=True)
class Row:
    """One line of the table: chip family, unit, the types that A and B may have, the model."""

    family: str
    unit: Unit
    types: frozenset[str]
    accumulators: frozenset[str]
    model: Model


_F16_F32 = frozenset({"f16", "f32"})
_F32 = frozenset({"f32"})
_PAPER = "paper (arXiv 2511.10909)"
_SIMULATOR = (
    "program of arXiv 2511.10909; not in docs/numerics.md, to be measured on an RTX Blackwell"
)

_VOLTA = FusedDotAdd(23, _PAPER, chunk=4)
_TURING = FusedDotAdd(24, _PAPER, chunk=8)
_AMPERE16 = FusedDotAdd(24, _PAPER, chunk=8)
_AMPERE32 = FusedDotAdd(24, _PAPER, chunk=4)
_ADA_FP8 = FusedDotAdd(13, _PAPER, chunk=16, f32_fraction_bits=13)
# The floor: mma.sync bf16, tf32 (floor -133) and f16 into f16 (-21) on an H200, c = 0; no other
# floor gives every subnormal result.
_HOPPER = FusedDotAdd(25, "H100; exponent floor: H200, mma.sync", exponent_floor=7)
_HOPPER_CONVERTED = ConvertedDotAdd(_HOPPER, "machine code of ptxas for sm_90; H200")
_HOPPER_FP8 = FusedDotAdd(13, "H100", f32_fraction_bits=13)
_BLACKWELL = FusedDotAdd(25, _PAPER)
_RTX_FP8 = FusedDotAdd(25, _SIMULATOR)

TABLE: tuple[Row, ...] = (
    Row("Volta", "mma.sync", FLOAT16, _F16_F32, _VOLTA),
    Row("Turing", "mma.sync", FLOAT16, _F16_F32, _TURING),
    Row("Ampere", "mma.sync", FLOAT16, _F16_F32, _AMPERE16),
    Row("Ampere", "mma.sync", BFLOAT16, _F32, _AMPERE16),
    Row("Ampere", "mma.sync", TFLOAT32, _F32, _AMPERE32),
    Row("Ada", "mma.sync", FLOAT16, _F16_F32, _AMPERE16),
    Row("Ada", "mma.sync", BFLOAT16, _F32, _AMPERE16),
    Row("Ada", "mma.sync", TFLOAT32, _F32, _AMPERE32),
    Row("Ada", "mma.sync", FP8, _F16_F32, _ADA_FP8),
    Row("Hopper", "mma.sync", FLOAT16, _F16_F32, _HOPPER),
    Row("Hopper", "mma.sync", BFLOAT16, _F32, _HOPPER),
    Row("Hopper", "mma.sync", TFLOAT32, _F32, _HOPPER),
    Row("Hopper", "mma.sync", FP8, _F16_F32, _HOPPER_CONVERTED),
    Row("Hopper", "wgmma", FLOAT16, _F16_F32, _HOPPER),
    Row("Hopper", "wgmma", BFLOAT16, _F32, _HOPPER),
    Row("Hopper", "wgmma", TFLOAT32, _F32, _HOPPER),
    Row("Hopper", "wgmma", FP8, _F16_F32, _HOPPER_FP8),
    Row("Blackwell", "mma.sync", FLOAT16, _F16_F32, _BLACKWELL),
    Row("Blackwell", "mma.sync", BFLOAT16, _F32, _BLACKWELL),
    Row("Blackwell", "mma.sync", TFLOAT32, _F32, _BLACKWELL),
    Row("Blackwell", "tcgen05", FLOAT16, _F16_F32, _BLACKWELL),
    Row("Blackwell", "tcgen05", BFLOAT16, _F32, _BLACKWELL),
    Row("Blackwell", "tcgen05", TFLOAT32, _F32, _BLACKWELL),
    Row("Blackwell", "tcgen05", F8F6F4, _F16_F32, _BLACKWELL),
    Row("RTX Blackwell", "mma.sync", FLOAT16, _F16_F32, _BLACKWELL),
    Row("RTX Blackwell", "mma.sync", BFLOAT16, _F32, _BLACKWELL),
    Row("RTX Blackwell", "mma.sync", TFLOAT32, _F32, _BLACKWELL),
    Row("RTX Blackwell", "mma.sync", F8F6F4, _F16_F32, _RTX_FP8),
)

_CHAIN = f"H200: m8n8k4 in all four roundings, m16n8k16; other chips: {_PAPER}"
_ANY_CHIP: tuple[tuple[frozenset[str], str, Model], ...] = (
    (FLOAT64, "f64", FmaChain(_CHAIN)),
    (INTEGER, "s32", ExactInteger("H100")),
    (BINARY, "s32", ExactInteger("H100")),
)

_FAMILIES: tuple[tuple[frozenset[int], str], ...] = (
    (frozenset({70, 72}), "Volta"),
    (frozenset({75}), "Turing"),
    (frozenset({80, 86, 87, 88}), "Ampere"),
    (frozenset({89}), "Ada"),
    (frozenset({90}), "Hopper"),
    (frozenset({100, 101, 103, 107, 110}), "Blackwell"),
    (frozenset({120, 121}), "RTX Blackwell"),
)


def family_of(arch: str) -> str:
    """The chip family of a target name such as "sm_90a"; NumericsError if it has none here."""
    match = re.fullmatch(r"sm_(\d+)[af]?", arch)
    number = int(match[1]) if match else -1
    for numbers, family in _FAMILIES:
        if number in numbers:
            return family
    raise NumericsError(f"expected a target from sm_70 to sm_121a, got {arch!r}")


@cache
def model_for(arch: str, a_type: str, b_type: str, acc_type: str, unit: Unit = "mma.sync") -> Model:
    """The arithmetic of an MMA on the chip that runs it.

    arch: the chip's target name ("sm_80", "sm_90a", ...). a_type, b_type: PTX element types of A
    and B. acc_type: the type of D. unit: which instruction family; Hopper's differ. `wmma` and
    `mma.sp` are "mma.sync". Raises NumericsError for a combination with no known arithmetic.
    """
    family = family_of(arch)
    for types, accumulator, model in _ANY_CHIP:
        if {a_type, b_type} <= types and acc_type == accumulator:
            return model
    for row in TABLE:
        if (row.family, row.unit) != (family, unit):
            continue
        if {a_type, b_type} <= row.types and acc_type in row.accumulators:
            return row.model
    what = f"{unit} with {a_type} x {b_type} into {acc_type} on {arch} ({family})"
    raise NumericsError(f"no known arithmetic for {what}")
