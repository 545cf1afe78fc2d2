"""`mma.sp` and `mma.sp::ordered_metadata` without scales: PTX ISA 9.7.14.6.3 and 9.7.14.6.1.

| family           | points  | spans                                                        |
|------------------|---------|--------------------------------------------------------------|
| mma.sp           | 252,000 | form x shape x layouts x satfinite x d and c x a x b         |
| mma.sp-kind      | 125,440 | the same with seven kinds, on eight multiplicand types        |
| mma.sp-selectors | 15,960  | form x shape x kind x d and c x a and b x selector           |

Every point has the selector 0, which any of these instructions takes, but for the last family.
"""

from tilewright.tools.conformance.instruction_family import (
    Boxes,
    Family,
    Point,
    Value,
    axes,
    boxes,
    within,
)
from tilewright.tools.conformance.mma_families import (
    ACCUMULATOR_PAIRS,
    FP8_FP6_FP4,
    KINDS,
    MULTIPLICANDS,
    NARROW_FLOATS,
    ROW_COL,
    SATFINITE,
    TCGEN05_KINDS,
    TYPES,
    packs_e2m1,
)
from tilewright.tools.conformance.operand_text import product_operands

SECTION = "9.7.14.6.3"
ORDERED = ".sp::ordered_metadata"
FORMS = (".sp", ORDERED)


def sparse_operands(point: Point) -> tuple[str, ...]:
    types = point["d"], point["a"], point["b"], point["c"]
    products = product_operands(point["shape"], types, sparse=True, packed=packs_e2m1(point))
    rest = ", %r0, " + point.get("selector", "0")
    return tuple(product + rest for product in products)


# The selectors are those of 9.7.14.6.1. The m16n8k64 of FP8 with f16 is in the target notes, though
# not in the syntax.
SPARSE_BOXES: Boxes = (
    *boxes(SECTION, """
        targets  shape      a,b        d,c  selector
        80+      m16n8k16   f16        f16  0|1|2|3
        80+      m16n8k16   f16        f32  0|1|2|3
        80+      m16n8k32   f16        f16  0|1
        80+      m16n8k32   f16        f32  0|1
        80+      m16n8k16   bf16       f32  0|1|2|3
        80+      m16n8k32   bf16       f32  0|1
        80+      m16n8k8    tf32       f32  0|1|2|3
        80+      m16n8k16   tf32       f32  0|1
        89+      m16n8k64   e4m3|e5m2  f32  0
    """, sparse=FORMS, **ROW_COL),
    *boxes(SECTION, """
        targets  shape      a,b    d,c  selector
        80+      m16n8k32   s8|u8  s32  0|1
        80+      m16n8k64   s8|u8  s32  0
        80+      m16n8k64   s4|u4  s32  0|1
        80+      m16n8k128  s4|u4  s32  0
    """, sparse=FORMS, satfinite=SATFINITE, **ROW_COL),
    *boxes(SECTION, """
        targets  shape     a,b        d,c  selector  sparse
        120f     m16n8k64  e4m3|e5m2  f16  0         .sp|.sp::ordered_metadata
    """, **ROW_COL),
    *boxes(SECTION, """
        targets  shape     kind           d,c      selector  sparse
        120f     m16n8k64  .kind::f8f6f4  f16|f32  0         .sp::ordered_metadata
    """, a=FP8_FP6_FP4, b=FP8_FP6_FP4, **ROW_COL),
)  # fmt: skip

_AXES: dict[str, tuple[Value, ...]] = {
    "sparse": FORMS,
    **axes(
        shape="m8n8k16 m16n8k2 m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128 m16n8k256 "
        "m16n16k16",
        alayout="row col",
        blayout="row col",
        satfinite="- .satfinite",
        selector="0",
    ),
}
_PRODUCT = {**_AXES, **ACCUMULATOR_PAIRS, "a": MULTIPLICANDS, "b": MULTIPLICANDS}
_KIND_PRODUCT = {
    **_AXES,
    **axes(blayout="col", satfinite="-"),
    "kind": (*KINDS, *TCGEN05_KINDS),
    **ACCUMULATOR_PAIRS,
    "a": (*NARROW_FLOATS, "f16", "s8", "u4"),
    "b": (*NARROW_FLOATS, "f16", "s8", "u4"),
}
_SELECTOR_PRODUCT = {
    **_AXES,
    **axes(
        alayout="row",
        blayout="col",
        kind="- .kind::f8f6f4",
        satfinite="-",
        d__c="f16,f16 f32,f32 s32,s32",
    ),
    "a b": (
        *((kind, kind) for kind in MULTIPLICANDS),
        *(("s8", "u8"), ("u4", "s4"), ("e4m3", "e5m2"), ("e2m1", "e5m2")),
    ),
    **axes(selector="-1 0 1 2 3 4 %r0"),
}
_BASE = "mma{sparse}.sync.aligned.{shape}.{alayout}.{blayout}"

SPARSE_FAMILIES = tuple(
    Family(
        name,
        own,
        _BASE + modifiers + TYPES,
        sparse_operands,
        within(own, SPARSE_BOXES),
        with_operands="selectors" in name,
    )
    for name, own, modifiers in (
        ("mma.sp", _PRODUCT, "{satfinite}"),
        ("mma.sp-kind", _KIND_PRODUCT, "{kind}{satfinite}"),
        ("mma.sp-selectors", _SELECTOR_PRODUCT, "{kind}{satfinite}"),
    )
)
