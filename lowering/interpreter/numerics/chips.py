"""The arithmetic of each chip's MMAs: one row per chip, unit and element type.

The rows come from docs/numerics.md: measured ("H100", "H200"), published ("paper", "program": of
MMA-Sim, arXiv 2511.10909), or read from the machine code that ptxas makes of the instruction.
A combination that is not in the table has no known arithmetic, and `model_for` says so instead of
guessing.
"""

import re
from functools import cache
from typing import Literal, TypeAlias

from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.numerics.errors import NumericsError
from tilewright.lowering.interpreter.numerics.models import (
    ConvertedDotAdd,
    ExactInteger,
    Float32DotAdd,
    FmaChain,
    FusedDotAdd,
    Model,
    ScaledBlockDotAdd,
    ScaledDotAdd,
)

Unit: TypeAlias = Literal["mma.sync", "mma.m8n8k4", "wmma", "wgmma", "tcgen05"]
"""Instruction families with arithmetics of their own. "mma.m8n8k4" is the f16 `mma.sync` of that
shape; every other `mma.sync` and `mma.sp` is "mma.sync"."""

ScaleKind: TypeAlias = Literal["mxf8f6f4", "mxf4", "mxf4nvf4"]
"""PTX's `.kind` of a block-scaled MMA."""

Types: TypeAlias = tuple[frozenset[str], ...]
"""Element types of A and B: both are of one of the sets."""

FLOAT16: Types = (frozenset({"f16"}),)
BFLOAT16: Types = (frozenset({"bf16"}),)
TFLOAT32: Types = (frozenset({"tf32"}),)
FP8: Types = (frozenset({"e4m3", "e5m2"}),)
FP4: Types = (frozenset({"e2m1"}),)
F8F6F4: Types = (FP8[0] | FP4[0] | {"e3m2", "e2m3"},)


@frozen
class ChipRow:
    """One line of the table: chip families, units, the types that A and B may have, the model, and
    for block scaling the kinds. D is f32 or, of f16 and of unscaled narrower types, f16 too."""

    families: tuple[str, ...]
    units: tuple[Unit, ...]
    types: Types
    model: Model
    scale_kinds: tuple[ScaleKind | None, ...] = (None,)


_PAPER = "paper (arXiv 2511.10909)"
_PAPER_WMMA = f"{_PAPER}; wmma: the same instructions in the machine code of ptxas"
_PROGRAM = "program of arXiv 2511.10909; not measured"
_AS_FP8 = "as e4m3; the program of arXiv 2511.10909 has no e3m2, e2m3, e2m1; not measured"
_LIKE_HOPPER = "machine code of ptxas for sm_100, sm_103 and sm_110, as for sm_90; not measured"

_VOLTA = FusedDotAdd(23, _PAPER_WMMA, chunk=4)
_TURING = FusedDotAdd(24, _PAPER_WMMA, chunk=8)
_AMPERE16 = FusedDotAdd(24, _PAPER_WMMA, chunk=8)
_AMPERE32 = FusedDotAdd(24, _PAPER_WMMA, chunk=4)
_ADA_FP8 = FusedDotAdd(13, _PAPER, chunk=16, f32_fraction_bits=13)
# The floor: mma.sync bf16, tf32 (floor -133) and f16 into f16 (-21) on an H200, c = 0; no other
# floor gives every subnormal result.
_HOPPER = FusedDotAdd(25, "H100; exponent floor and wmma: H200", exponent_floor=7)
# ptxas makes two m16n8k4 a half of wmma's m16n16k8.
_HOPPER_WMMA_TF32 = FusedDotAdd(25, "H200", chunk=4, exponent_floor=7)
_HOPPER_CONVERTED = ConvertedDotAdd(_HOPPER, "machine code of ptxas for sm_90; H200")
_HOPPER_FP8 = FusedDotAdd(13, "H100", f32_fraction_bits=13)
_BLACKWELL = FusedDotAdd(25, _PAPER_WMMA)
_BLACKWELL_WMMA_TF32 = FusedDotAdd(25, _PAPER_WMMA, chunk=4)
_BLACKWELL_CONVERTED = ConvertedDotAdd(_BLACKWELL, _LIKE_HOPPER)
_RTX_FP8 = FusedDotAdd(25, _PROGRAM)
_NARROW = FusedDotAdd(25, _AS_FP8)
_MXFP8 = ScaledDotAdd(25, _PROGRAM)
_MXNARROW = ScaledDotAdd(25, _AS_FP8)
_MXFP4 = ScaledBlockDotAdd(35, _PROGRAM)
_FLOAT32 = Float32DotAdd("H200; other chips: machine code of ptxas for sm_80 to sm_121")

_VOLTA_UNITS: tuple[Unit, ...] = ("mma.m8n8k4", "wmma")
_WARP: tuple[Unit, ...] = ("mma.sync", "wmma")
_HOPPER_UNITS: tuple[Unit, ...] = ("mma.sync", "wmma", "wgmma")
_SM80_ON = ("Ampere", "Ada", "Hopper", "Blackwell", "RTX Blackwell")
_BOTH = ("Blackwell", "RTX Blackwell")
_MX4: tuple[ScaleKind, ...] = ("mxf4", "mxf4nvf4")

TABLE: tuple[ChipRow, ...] = (
    ChipRow(("Volta",), _VOLTA_UNITS, FLOAT16, _VOLTA),
    ChipRow(("Turing",), ("mma.sync", *_VOLTA_UNITS), FLOAT16, _TURING),
    ChipRow(_SM80_ON, ("mma.m8n8k4",), FLOAT16, _FLOAT32),
    ChipRow(("Ampere", "Ada"), _WARP, FLOAT16 + BFLOAT16, _AMPERE16),
    ChipRow(("Ampere", "Ada"), _WARP, TFLOAT32, _AMPERE32),
    ChipRow(("Ada",), ("mma.sync",), FP8, _ADA_FP8),
    ChipRow(("Hopper",), _HOPPER_UNITS, FLOAT16 + BFLOAT16, _HOPPER),
    ChipRow(("Hopper",), ("mma.sync", "wgmma"), TFLOAT32, _HOPPER),
    ChipRow(("Hopper",), ("wmma",), TFLOAT32, _HOPPER_WMMA_TF32),
    ChipRow(("Hopper",), ("mma.sync",), FP8, _HOPPER_CONVERTED),
    ChipRow(("Hopper",), ("wgmma",), FP8, _HOPPER_FP8),
    ChipRow(("Blackwell",), ("tcgen05",), FLOAT16 + BFLOAT16 + TFLOAT32 + FP8, _BLACKWELL),
    ChipRow(_BOTH, _WARP, FLOAT16 + BFLOAT16, _BLACKWELL),
    ChipRow(_BOTH, ("mma.sync",), TFLOAT32, _BLACKWELL),
    ChipRow(_BOTH, ("wmma",), TFLOAT32, _BLACKWELL_WMMA_TF32),
    ChipRow(("Blackwell",), ("mma.sync",), FP8, _BLACKWELL_CONVERTED),
    ChipRow(("Blackwell",), ("tcgen05",), F8F6F4, _NARROW),
    ChipRow(("Blackwell",), ("tcgen05",), FP8, _MXFP8, ("mxf8f6f4",)),
    ChipRow(("Blackwell",), ("tcgen05",), F8F6F4, _MXNARROW, ("mxf8f6f4",)),
    ChipRow(("Blackwell",), ("tcgen05",), FP4, _MXFP4, _MX4),
    ChipRow(("RTX Blackwell",), ("mma.sync",), FP8, _RTX_FP8),
    ChipRow(("RTX Blackwell",), ("mma.sync",), F8F6F4, _NARROW),
    ChipRow(("RTX Blackwell",), ("mma.sync",), FP8, _MXFP8, ("mxf8f6f4",)),
    ChipRow(("RTX Blackwell",), ("mma.sync",), F8F6F4, _MXNARROW, ("mxf8f6f4",)),
    ChipRow(("RTX Blackwell",), ("mma.sync",), FP4, _MXFP4, _MX4),
)

_CHAIN = f"H200: m8n8k4 in all four roundings, m16n8k16; other chips: {_PAPER}"
_ANY_CHIP: tuple[tuple[frozenset[str], str, Model], ...] = (
    (frozenset({"f64"}), "f64", FmaChain(_CHAIN)),
    (frozenset({"s8", "u8", "s4", "u4"}), "s32", ExactInteger("H100")),
    (frozenset({"b1"}), "s32", ExactInteger("H100")),
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
def model_for(
    arch: str,
    a_type: str,
    b_type: str,
    acc_type: str,
    unit: Unit = "mma.sync",
    scale_kind: ScaleKind | None = None,
) -> Model:
    """The arithmetic of an MMA on the chip that runs it.

    arch: the chip's target name ("sm_80", "sm_90a", ...). a_type, b_type: PTX element types of A
    and B. acc_type: the type of D. unit: which instruction family. scale_kind: PTX's kind of a
    block-scaled MMA, None for any other. Raises NumericsError for a combination with no known
    arithmetic.
    """
    family = family_of(arch)
    if scale_kind is None:
        for types, accumulator, model in _ANY_CHIP:
            if {a_type, b_type} <= types and acc_type == accumulator:
                return model
    half = acc_type == "f16" and scale_kind is None and a_type not in ("bf16", "tf32")
    for row in TABLE if half or acc_type == "f32" else ():
        if family not in row.families or unit not in row.units or scale_kind not in row.scale_kinds:
            continue
        if any({a_type, b_type} <= types for types in row.types):
            return row.model
    scaled = f" scaled as {scale_kind}" if scale_kind else ""
    what = f"{unit} with {a_type} x {b_type}{scaled} into {acc_type} on {arch} ({family})"
    raise NumericsError(f"no known arithmetic for {what}")
