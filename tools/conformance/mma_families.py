"""Dense `mma.sync` without scales: PTX ISA 9.7.14.5.14, syntax, type restrictions, target notes.

| family        | points  | spans                                                           |
|---------------|---------|-----------------------------------------------------------------|
| mma           | 720,000 | shape x layouts x satfinite x d x a x b x c                     |
| mma-bit-op    | 217,728 | the same x bit operation; d and c in seven pairs, a and b nine  |
| mma-rounding  | 286,720 | the same x rounding; a and b of eight types                     |
| mma-kind      | 401,408 | the same x kind; a and b of eight types                         |
| mma-modifiers | 36,960  | all modifiers together, on the types of the documented forms    |
"""

from tilewright.tools.conformance.documented_targets import FAMILY_120, since
from tilewright.tools.conformance.instruction_family import (
    Boxes,
    Documented,
    Family,
    Point,
    documented,
    within,
)
from tilewright.tools.conformance.operand_text import product_operands

SECTION = "9.7.14.5.14"

LAYOUTS = ("row", "col")
SATFINITE = ("", ".satfinite")
NARROW_FLOATS = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
MULTIPLICANDS = (
    *("f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s4", "u4", "b1"),
    *NARROW_FLOATS,
)
ACCUMULATOR_PAIRS = (
    *(("f16", "f16"), ("bf16", "bf16"), ("f32", "f32"), ("f64", "f64"), ("s32", "s32")),
    *(("f32", "f16"), ("f16", "f32")),
)
KINDS = (".kind::f8f6f4", ".kind::mxf8f6f4", ".kind::mxf4", ".kind::mxf4nvf4")
TCGEN05_KINDS = (".kind::i8", ".kind::f16", ".kind::tf32")
TYPES = ".{d}.{a}.{b}.{c}"

# The words of boxes.
FP8 = "e4m3 e5m2"
FP8_FP6_FP4 = "e4m3 e5m2 e3m2 e2m3 e2m1"
ROW_COL = {"alayout": "row", "blayout": "col"}
F16 = {"d": "f16", "c": "f16"}
F16_OR_F32 = {"d": "f16 f32", "c": "f16 f32"}
F32 = {"d": "f32", "c": "f32"}
S32 = {"d": "s32", "c": "s32"}

_SHAPES = (
    *("m8n8k4", "m8n8k8", "m8n8k16", "m8n8k32", "m8n8k64", "m8n8k128", "m8n8k256"),
    *("m16n8k2", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32", "m16n8k64", "m16n8k128"),
    *("m16n8k256", "m16n16k16"),
)
_ACCUMULATORS = ("f16", "bf16", "f32", "f64", "s32")
_ROUNDINGS = (".rn", ".rz", ".rm", ".rp")


def packs_e2m1(point: Point) -> bool:
    return point.get("kind") in (".kind::mxf4", ".kind::mxf4nvf4")


def dense_operands(point: Point) -> tuple[str, ...]:
    types = point["d"], point["a"], point["b"], point["c"]
    return product_operands(point["shape"], types, packed=packs_e2m1(point))


def _row_col(
    number: int, shape: str, multiplicands: str, sums: dict[str, str], **words: tuple[str, ...]
) -> Documented:
    """`shape.row.col`, any pair of the multiplicands, sm_NN or higher."""
    types = {"a": multiplicands, "b": multiplicands} | sums
    return documented(SECTION, since(number), shape=shape, **ROW_COL, **types, **words)


def _m8n8k4(d: str, c: str) -> Documented:
    words = {"shape": "m8n8k4", "a": "f16", "b": "f16", "d": d, "c": c}
    return documented(SECTION, since(70), alayout=LAYOUTS, blayout=LAYOUTS, **words)


_FLOATS = (
    _m8n8k4("f16 f32", "f16"),
    _m8n8k4("f32", "f32"),
    _row_col(75, "m16n8k8", "f16", F16),
    _row_col(75, "m16n8k8", "f16", F32),
    _row_col(80, "m16n8k16", "f16", F16_OR_F32),
    _row_col(80, "m16n8k8 m16n8k16", "bf16", F32),
    _row_col(80, "m16n8k4 m16n8k8", "tf32", F32),
    _row_col(89, "m16n8k16 m16n8k32", FP8, F16_OR_F32),
)
_INTEGERS = (
    _row_col(75, "m8n8k16", "s8 u8", S32, satfinite=SATFINITE),
    _row_col(80, "m16n8k16 m16n8k32", "s8 u8", S32, satfinite=SATFINITE),
    _row_col(75, "m8n8k32", "s4 u4", S32, satfinite=SATFINITE),
    _row_col(80, "m16n8k32 m16n8k64", "s4 u4", S32, satfinite=SATFINITE),
)
_SINGLE_BITS = (
    _row_col(75, "m8n8k128", "b1", S32, bit_op=(".xor.popc",)),
    _row_col(80, "m16n8k128 m16n8k256", "b1", S32, bit_op=(".xor.popc",)),
    _row_col(80, "m8n8k128 m16n8k128 m16n8k256", "b1", S32, bit_op=(".and.popc",)),
)
_KIND_F8F6F4 = documented(
    SECTION,
    FAMILY_120,
    shape="m16n8k32",
    kind=".kind::f8f6f4",
    a=FP8_FP6_FP4,
    b=FP8_FP6_FP4,
    **ROW_COL,
    **F16_OR_F32,
)


def _doubles(**rounding: tuple[str, ...]) -> Boxes:
    sums = {"d": "f64", "c": "f64"}
    return (
        _row_col(80, "m8n8k4", "f64", sums, **rounding),
        _row_col(90, "m16n8k4 m16n8k8 m16n8k16", "f64", sums, **rounding),
    )


UNSCALED = (
    *_FLOATS,
    *_INTEGERS,
    *_SINGLE_BITS,
    *_doubles(rounding=("", *_ROUNDINGS)),
    _KIND_F8F6F4,
)

_BASE = "mma.sync.aligned.{shape}.{alayout}.{blayout}"
_LAYOUT_AXES = {"shape": _SHAPES, "alayout": LAYOUTS, "blayout": LAYOUTS, "satfinite": SATFINITE}
_BIT_MULTIPLICANDS = ("f16", "tf32", "f64", "s8", "u8", "s4", "u4", "b1", "e4m3")
_ROUNDED_MULTIPLICANDS = ("f16", "bf16", "tf32", "f32", "f64", "s8", "b1", "e4m3")
_KIND_MULTIPLICANDS = (*NARROW_FLOATS, "f16", "s8", "u4")
_MODIFIER_AXES = {
    "shape": _SHAPES,
    "alayout": ("row",),
    "blayout": ("col",),
    "kind": ("", *KINDS),
    "satfinite": SATFINITE,
    "rounding": ("", ".rn", ".rz"),
    "bit_op": ("", ".xor.popc", ".and.popc", ".or.popc", ".xor", ".and", ".popc"),
    "d a b c": (
        ("f16", "f16", "f16", "f16"),
        ("f32", "f16", "f16", "f32"),
        ("f32", "bf16", "bf16", "f32"),
        ("f32", "tf32", "tf32", "f32"),
        ("f32", "e4m3", "e5m2", "f32"),
        ("f16", "e2m1", "e3m2", "f16"),
        ("f32", "e2m1", "e2m1", "f32"),
        ("f64", "f64", "f64", "f64"),
        ("s32", "s8", "u8", "s32"),
        ("s32", "s4", "s4", "s32"),
        ("s32", "b1", "b1", "s32"),
    ),
}

MMA_FAMILIES = (
    Family(
        "mma",
        {
            **_LAYOUT_AXES,
            "d": _ACCUMULATORS,
            "a": MULTIPLICANDS,
            "b": MULTIPLICANDS,
            "c": _ACCUMULATORS,
        },
        _BASE + "{satfinite}" + TYPES,
        dense_operands,
        (*_FLOATS, *_INTEGERS, *_doubles()),
    ),
    Family(
        "mma-bit-op",
        {
            **_LAYOUT_AXES,
            "bit_op": (".xor.popc", ".and.popc", ".xor"),
            "d c": ACCUMULATOR_PAIRS,
            "a": _BIT_MULTIPLICANDS,
            "b": _BIT_MULTIPLICANDS,
        },
        _BASE + "{satfinite}" + TYPES + "{bit_op}",
        dense_operands,
        _SINGLE_BITS,
    ),
    Family(
        "mma-rounding",
        {
            **_LAYOUT_AXES,
            "rounding": (*_ROUNDINGS, ".rna"),
            "d c": ACCUMULATOR_PAIRS,
            "a": _ROUNDED_MULTIPLICANDS,
            "b": _ROUNDED_MULTIPLICANDS,
        },
        _BASE + "{satfinite}{rounding}" + TYPES,
        dense_operands,
        _doubles(rounding=_ROUNDINGS),
    ),
    Family(
        "mma-kind",
        {
            **_LAYOUT_AXES,
            "kind": (*KINDS, *TCGEN05_KINDS),
            "d c": ACCUMULATOR_PAIRS,
            "a": _KIND_MULTIPLICANDS,
            "b": _KIND_MULTIPLICANDS,
        },
        _BASE + "{kind}{satfinite}" + TYPES,
        dense_operands,
        (_KIND_F8F6F4,),
    ),
    Family(
        "mma-modifiers",
        _MODIFIER_AXES,
        _BASE + "{kind}{satfinite}{rounding}" + TYPES + "{bit_op}",
        dense_operands,
        within(_MODIFIER_AXES, UNSCALED),
    ),
)
