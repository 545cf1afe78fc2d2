"""`mma.sp` and `mma.sp::ordered_metadata` without scales: PTX ISA 9.7.14.6.3 and 9.7.14.6.1.

| family           | points  | spans                                                        |
|------------------|---------|--------------------------------------------------------------|
| mma.sp           | 252,000 | form x shape x layouts x satfinite x d and c x a x b         |
| mma.sp-kind      | 125,440 | the same with seven kinds, on eight multiplicand types        |
| mma.sp-selectors | 15,960  | form x shape x kind x d and c x a and b x selector           |

Every point has the selector 0, which any of these instructions takes, but for the last family.
"""

from tilewright.tools.conformance.documented_targets import FAMILY_120, since
from tilewright.tools.conformance.instruction_family import (
    Documented,
    Family,
    Point,
    documented,
    within,
)
from tilewright.tools.conformance.mma_families import (
    ACCUMULATOR_PAIRS,
    F16,
    F16_OR_F32,
    F32,
    FP8,
    FP8_FP6_FP4,
    KINDS,
    LAYOUTS,
    MULTIPLICANDS,
    NARROW_FLOATS,
    ROW_COL,
    S32,
    SATFINITE,
    TCGEN05_KINDS,
    TYPES,
    packs_e2m1,
)
from tilewright.tools.conformance.operand_text import product_operands

SECTION = "9.7.14.6.3"
ORDERED = ".sp::ordered_metadata"
FORMS = (".sp", ORDERED)

_SHAPES = (
    *("m8n8k16", "m16n8k2", "m16n8k4", "m16n8k8", "m16n8k16"),
    *("m16n8k32", "m16n8k64", "m16n8k128", "m16n8k256", "m16n16k16"),
)


def sparse_operands(point: Point) -> tuple[str, ...]:
    types = point["d"], point["a"], point["b"], point["c"]
    products = product_operands(point["shape"], types, sparse=True, packed=packs_e2m1(point))
    rest = ", %r0, " + point.get("selector", "0")
    return tuple(product + rest for product in products)


def _sparse(
    number: int,
    shape: str,
    multiplicands: str,
    sums: dict[str, str],
    selectors: str,
    satfinite: tuple[str, ...] = ("",),
) -> Documented:
    """A box of both forms, with the selectors of 9.7.14.6.1."""
    return documented(
        SECTION,
        since(number),
        sparse=FORMS,
        shape=shape,
        a=multiplicands,
        b=multiplicands,
        selector=selectors,
        satfinite=satfinite,
        **ROW_COL,
        **sums,
    )


SPARSE_BOXES = (
    _sparse(80, "m16n8k16", "f16", F16, "0 1 2 3"),
    _sparse(80, "m16n8k16", "f16", F32, "0 1 2 3"),
    _sparse(80, "m16n8k32", "f16", F16, "0 1"),
    _sparse(80, "m16n8k32", "f16", F32, "0 1"),
    _sparse(80, "m16n8k16", "bf16", F32, "0 1 2 3"),
    _sparse(80, "m16n8k32", "bf16", F32, "0 1"),
    _sparse(80, "m16n8k8", "tf32", F32, "0 1 2 3"),
    _sparse(80, "m16n8k16", "tf32", F32, "0 1"),
    _sparse(89, "m16n8k64", FP8, F32, "0"),
    _sparse(80, "m16n8k32", "s8 u8", S32, "0 1", SATFINITE),
    _sparse(80, "m16n8k64", "s8 u8", S32, "0", SATFINITE),
    _sparse(80, "m16n8k64", "s4 u4", S32, "0 1", SATFINITE),
    _sparse(80, "m16n8k128", "s4 u4", S32, "0", SATFINITE),
    # In the target notes, though not in the syntax.
    documented(
        SECTION,
        FAMILY_120,
        sparse=FORMS,
        shape="m16n8k64",
        a=FP8,
        b=FP8,
        selector="0",
        **ROW_COL,
        **F16,
    ),
    documented(
        SECTION,
        FAMILY_120,
        sparse=ORDERED,
        shape="m16n8k64",
        kind=".kind::f8f6f4",
        a=FP8_FP6_FP4,
        b=FP8_FP6_FP4,
        selector="0",
        **ROW_COL,
        **F16_OR_F32,
    ),
)

_AXES = {
    "sparse": FORMS,
    "shape": _SHAPES,
    "alayout": LAYOUTS,
    "blayout": LAYOUTS,
    "satfinite": SATFINITE,
    "selector": ("0",),
}
_PRODUCT = {**_AXES, "d c": ACCUMULATOR_PAIRS, "a": MULTIPLICANDS, "b": MULTIPLICANDS}
_KIND_PRODUCT = {
    **_AXES,
    "blayout": ("col",),
    "satfinite": ("",),
    "kind": (*KINDS, *TCGEN05_KINDS),
    "d c": ACCUMULATOR_PAIRS,
    "a": (*NARROW_FLOATS, "f16", "s8", "u4"),
    "b": (*NARROW_FLOATS, "f16", "s8", "u4"),
}
_SELECTOR_PRODUCT = {
    **_AXES,
    "alayout": ("row",),
    "blayout": ("col",),
    "kind": ("", ".kind::f8f6f4"),
    "satfinite": ("",),
    "d c": (("f16", "f16"), ("f32", "f32"), ("s32", "s32")),
    "a b": (
        *((kind, kind) for kind in MULTIPLICANDS),
        *(("s8", "u8"), ("u4", "s4"), ("e4m3", "e5m2"), ("e2m1", "e5m2")),
    ),
    "selector": ("-1", "0", "1", "2", "3", "4", "%r0"),
}
_BASE = "mma{sparse}.sync.aligned.{shape}.{alayout}.{blayout}"

SPARSE_FAMILIES = (
    Family(
        "mma.sp",
        _PRODUCT,
        _BASE + "{satfinite}" + TYPES,
        sparse_operands,
        within(_PRODUCT, SPARSE_BOXES),
    ),
    Family(
        "mma.sp-kind",
        _KIND_PRODUCT,
        _BASE + "{kind}{satfinite}" + TYPES,
        sparse_operands,
        within(_KIND_PRODUCT, SPARSE_BOXES),
    ),
    Family(
        "mma.sp-selectors",
        _SELECTOR_PRODUCT,
        _BASE + "{kind}{satfinite}" + TYPES,
        sparse_operands,
        within(_SELECTOR_PRODUCT, SPARSE_BOXES),
        with_operands=True,
    ),
)
