"""Dense `mma.sync` without scales: PTX ISA 9.7.14.5.14, syntax, type restrictions, target notes.

| family        | points  | spans                                                           |
|---------------|---------|-----------------------------------------------------------------|
| mma           | 720,000 | shape x layouts x satfinite x d x a x b x c                     |
| mma-bit-op    | 217,728 | the same x bit operation; d and c in seven pairs, a and b nine  |
| mma-rounding  | 286,720 | the same x rounding; a and b of eight types                     |
| mma-kind      | 401,408 | the same x kind; a and b of eight types                         |
| mma-modifiers | 36,960  | all modifiers together, on the types of the documented forms    |
"""

from tilewright.tools.conformance.instruction_family import (
    Family,
    Point,
    Value,
    axes,
    boxes,
    within,
    words,
)
from tilewright.tools.conformance.operand_text import product_operands

SECTION = "9.7.14.5.14"

_LAYOUTS, _SATFINITE, _NARROW = "row col", "- .satfinite", "e4m3 e5m2 e3m2 e2m3 e2m1"
LAYOUTS, SATFINITE, NARROW_FLOATS = words(_LAYOUTS), words(_SATFINITE), words(_NARROW)
_MULTIPLICANDS = "f16 bf16 tf32 f32 f64 s8 u8 s4 u4 b1 " + _NARROW
MULTIPLICANDS = words(_MULTIPLICANDS)
_PAIRS = "f16,f16 bf16,bf16 f32,f32 f64,f64 s32,s32 f32,f16 f16,f32"
ACCUMULATOR_PAIRS = axes(d__c=_PAIRS)
_KINDS = ".kind::f8f6f4 .kind::mxf8f6f4 .kind::mxf4 .kind::mxf4nvf4"
_TCGEN05_KINDS = ".kind::i8 .kind::f16 .kind::tf32"
KINDS, TCGEN05_KINDS = words(_KINDS), words(_TCGEN05_KINDS)
TYPES = ".{d}.{a}.{b}.{c}"

# The words of boxes.
FP8 = "e4m3 e5m2"
FP8_FP6_FP4 = _NARROW
ROW_COL = {"alayout": "row", "blayout": "col"}

_SHAPES = (
    "m8n8k4 m8n8k8 m8n8k16 m8n8k32 m8n8k64 m8n8k128 m8n8k256 m16n8k2 m16n8k4 m16n8k8 m16n8k16 "
    "m16n8k32 m16n8k64 m16n8k128 m16n8k256 m16n16k16"
)
_ACCUMULATORS = "f16 bf16 f32 f64 s32"
_ROUNDINGS = ".rn .rz .rm .rp"


def packs_e2m1(point: Point) -> bool:
    return point.get("kind") in (".kind::mxf4", ".kind::mxf4nvf4")


def dense_operands(point: Point) -> tuple[str, ...]:
    types = point["d"], point["a"], point["b"], point["c"]
    return product_operands(point["shape"], types, packed=packs_e2m1(point))


_FLOATS = (
    *boxes(SECTION, """
        targets  shape              a,b        d        c
        70+      m8n8k4             f16        f16|f32  f16
        70+      m8n8k4             f16        f32      f32
    """, alayout=LAYOUTS, blayout=LAYOUTS),
    *boxes(SECTION, """
        targets  shape              a,b        d        c
        75+      m16n8k8            f16        f16      f16
        75+      m16n8k8            f16        f32      f32
        80+      m16n8k16           f16        f16|f32  f16|f32
        80+      m16n8k8|m16n8k16   bf16       f32      f32
        80+      m16n8k4|m16n8k8    tf32       f32      f32
        89+      m16n8k16|m16n8k32  e4m3|e5m2  f16|f32  f16|f32
    """, **ROW_COL),
)  # fmt: skip
_INTEGERS = boxes(SECTION, """
    targets  shape              a,b    d,c
    75+      m8n8k16            s8|u8  s32
    80+      m16n8k16|m16n8k32  s8|u8  s32
    75+      m8n8k32            s4|u4  s32
    80+      m16n8k32|m16n8k64  s4|u4  s32
""", satfinite=SATFINITE, **ROW_COL)  # fmt: skip
_SINGLE_BITS = boxes(SECTION, """
    targets  shape                         a,b  d,c  bit_op
    75+      m8n8k128                      b1   s32  .xor.popc
    80+      m16n8k128|m16n8k256           b1   s32  .xor.popc
    80+      m8n8k128|m16n8k128|m16n8k256  b1   s32  .and.popc
""", **ROW_COL)  # fmt: skip
_KIND_F8F6F4 = boxes(SECTION, """
    targets  shape     kind           a,b                       d,c
    120f     m16n8k32  .kind::f8f6f4  e4m3|e5m2|e3m2|e2m3|e2m1  f16|f32
""", **ROW_COL)  # fmt: skip
_DOUBLES = """
    targets  shape                     a,b  d,c
    80+      m8n8k4                    f64  f64
    90+      m16n8k4|m16n8k8|m16n8k16  f64  f64
"""

UNSCALED = (
    *_FLOATS,
    *_INTEGERS,
    *_SINGLE_BITS,
    *boxes(SECTION, _DOUBLES, rounding="- " + _ROUNDINGS, **ROW_COL),
    *_KIND_F8F6F4,
)

_BASE = "mma.sync.aligned.{shape}.{alayout}.{blayout}"
_LAYOUT_AXES = axes(shape=_SHAPES, alayout=_LAYOUTS, blayout=_LAYOUTS, satfinite=_SATFINITE)
_ROUNDED_MULTIPLICANDS = "f16 bf16 tf32 f32 f64 s8 b1 e4m3"
_BIT_MULTIPLICANDS = "f16 tf32 f64 s8 u8 s4 u4 b1 e4m3"
_KIND_MULTIPLICANDS = _NARROW + " f16 s8 u4"
_MODIFIER_AXES = axes(
    shape=_SHAPES,
    alayout="row",
    blayout="col",
    kind="- " + _KINDS,
    satfinite=_SATFINITE,
    rounding="- .rn .rz",
    bit_op="- .xor.popc .and.popc .or.popc .xor .and .popc",
    d__a__b__c="f16,f16,f16,f16 f32,f16,f16,f32 f32,bf16,bf16,f32 f32,tf32,tf32,f32 "
    "f32,e4m3,e5m2,f32 f16,e2m1,e3m2,f16 f32,e2m1,e2m1,f32 f64,f64,f64,f64 s32,s8,u8,s32 "
    "s32,s4,s4,s32 s32,b1,b1,s32",
)


def _pairs(multiplicands: str, **own: str) -> dict[str, tuple[Value, ...]]:
    """The axes of a modifier, with d and c in pairs."""
    return _LAYOUT_AXES | axes(**own, d__c=_PAIRS, a=multiplicands, b=multiplicands)


MMA_FAMILIES = (
    Family(
        "mma",
        _LAYOUT_AXES | axes(d=_ACCUMULATORS, a=_MULTIPLICANDS, b=_MULTIPLICANDS, c=_ACCUMULATORS),
        _BASE + "{satfinite}" + TYPES,
        dense_operands,
        (*_FLOATS, *_INTEGERS, *boxes(SECTION, _DOUBLES, **ROW_COL)),
    ),
    Family(
        "mma-bit-op",
        _pairs(_BIT_MULTIPLICANDS, bit_op=".xor.popc .and.popc .xor"),
        _BASE + "{satfinite}" + TYPES + "{bit_op}",
        dense_operands,
        _SINGLE_BITS,
    ),
    Family(
        "mma-rounding",
        _pairs(_ROUNDED_MULTIPLICANDS, rounding=_ROUNDINGS + " .rna"),
        _BASE + "{satfinite}{rounding}" + TYPES,
        dense_operands,
        boxes(SECTION, _DOUBLES, rounding=_ROUNDINGS, **ROW_COL),
    ),
    Family(
        "mma-kind",
        _pairs(_KIND_MULTIPLICANDS, kind=f"{_KINDS} {_TCGEN05_KINDS}"),
        _BASE + "{kind}{satfinite}" + TYPES,
        dense_operands,
        _KIND_F8F6F4,
    ),
    Family(
        "mma-modifiers",
        _MODIFIER_AXES,
        _BASE + "{kind}{satfinite}{rounding}" + TYPES + "{bit_op}",
        dense_operands,
        within(_MODIFIER_AXES, UNSCALED),
    ),
)
