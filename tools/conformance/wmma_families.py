"""`wmma.load`, `wmma.store` and `wmma.mma`: PTX ISA 9.7.14.4.3 to 9.7.14.4.5, fragments 9.7.14.4.1.

| family            | points | spans                                                              |
|-------------------|--------|--------------------------------------------------------------------|
| wmma.load         | 7,488  | matrix x type x shape x layout x state space                       |
| wmma.store        | 3,744  | matrix x type x shape x layout x state space                       |
| wmma.mma-f16      | 5,200  | d x c x shape x layouts x satfinite x rounding; a and b unsaid     |
| wmma.mma          | 88,088 | a x b x d and c x shape x layouts x satfinite                      |
| wmma.mma-rounding | 40,040 | a, b alike x d and c x shape x layouts x satfinite x rounding      |
| wmma.mma-bit-op   | 24,024 | a, b alike x d and c x shape x layouts x satfinite x bit operation |
"""

from itertools import product

from tilewright.tools.conformance.documented_targets import since
from tilewright.tools.conformance.instruction_family import Documented, Family, Point, documented
from tilewright.tools.conformance.mma_families import (
    ACCUMULATOR_PAIRS,
    F32,
    LAYOUTS,
    S32,
    SATFINITE,
)
from tilewright.tools.conformance.operand_text import product_operands, registers, shape_of, vector

_LOAD, _STORE, _MMA = "9.7.14.4.3", "9.7.14.4.4", "9.7.14.4.5"

_BASIC = "m16n16k16 m8n32k16 m32n8k16"
_SPACES = ("", ".global", ".shared", ".shared::cta")
_ROUNDINGS = (".rn", ".rz", ".rm", ".rp")
_F16_FRAGMENT = 8  # registers of a or b, whatever the shape

_SHAPES = (
    *("m16n16k16", "m8n32k16", "m32n8k16", "m16n16k8", "m8n8k4", "m8n8k32", "m8n8k128"),
    *("m16n8k16", "m16n8k8", "m16n16k4", "m32n8k8", "m8n32k8", "m16n16k32"),
)
_MULTIPLICANDS = ("f64", "f16", "bf16", "tf32", "f32", "s8", "u8", "s4", "u4", "b1", "e4m3")
_TYPES = (*_MULTIPLICANDS, "s32")


def _lengths(matrix: str, element: str, natural: str) -> tuple[str, ...]:
    """The fragments that a matrix may have."""
    if element == "f16" and matrix in ("a", "b"):
        return (registers("%r", _F16_FRAGMENT), natural)
    return (natural,)


def _fragments(point: Point) -> tuple[str, ...]:
    """The fragments of the matrix that is loaded or stored."""
    m, n, k = shape_of(point["shape"])
    matrix, element = point["matrix"], point["type"]
    elements = {"a": m * k, "b": k * n}.get(matrix, m * n)
    return _lengths(matrix, element, vector(element, elements))


def _load(point: Point) -> tuple[str, ...]:
    return tuple(f"{fragment}, [%rd0]" for fragment in _fragments(point))


def _store(point: Point) -> tuple[str, ...]:
    return tuple(f"[%rd0], {fragment}" for fragment in _fragments(point))


def _product(point: Point) -> tuple[str, ...]:
    types = point["d"], point.get("a", "f16"), point.get("b", "f16"), point["c"]
    operands: list[str] = []
    for natural in product_operands(point["shape"], types):
        d, a, b, c = natural.split(", ")
        choices = product(_lengths("a", types[1], a), _lengths("b", types[2], b))
        operands += [f"{d}, {first}, {second}, {c}" for first, second in choices]
    return tuple(operands)


def _memory(
    section: str, number: int, matrix: str, types: str, shape: str, layouts: str = "row col"
) -> Documented:
    return documented(
        section,
        since(number),
        matrix=matrix,
        type=types,
        shape=shape,
        layout=layouts,
        space=_SPACES,
    )


_LOADS = (
    _memory(_LOAD, 70, "a b", "f16", _BASIC),
    _memory(_LOAD, 70, "c", "f16 f32", _BASIC),
    _memory(_LOAD, 72, "a b", "s8 u8", _BASIC),
    _memory(_LOAD, 72, "c", "s32", _BASIC),
    _memory(_LOAD, 80, "a b", "bf16", _BASIC),
    _memory(_LOAD, 80, "a b", "tf32", "m16n16k8"),
    _memory(_LOAD, 80, "c", "f32", "m16n16k8"),
    _memory(_LOAD, 80, "a b c", "f64", "m8n8k4"),
    _memory(_LOAD, 75, "a", "s4 u4", "m8n8k32", "row"),
    _memory(_LOAD, 75, "b", "s4 u4", "m8n8k32", "col"),
    _memory(_LOAD, 75, "a", "b1", "m8n8k128", "row"),
    _memory(_LOAD, 75, "b", "b1", "m8n8k128", "col"),
    _memory(_LOAD, 75, "c", "s32", "m8n8k32 m8n8k128"),
)
_STORES = (
    _memory(_STORE, 70, "d", "f16 f32", _BASIC),
    _memory(_STORE, 72, "d", "s32", _BASIC),
    _memory(_STORE, 75, "d", "s32", "m8n8k32 m8n8k128"),
    _memory(_STORE, 80, "d", "f32", "m16n16k8"),
    _memory(_STORE, 80, "d", "f64", "m8n8k4"),
)


def _mma(
    number: int,
    multiplicand: str,
    sums: dict[str, str],
    shape: str,
    satfinite: tuple[str, ...] = ("",),
    layouts: tuple[str, str] = ("row col", "row col"),
    **words: tuple[str, ...],
) -> Documented:
    """A box of a multiplicand type: a and b are of the same."""
    return documented(
        _MMA,
        since(number),
        a=multiplicand,
        b=multiplicand,
        shape=shape,
        alayout=layouts[0],
        blayout=layouts[1],
        satfinite=satfinite,
        **sums,
        **words,
    )


_F64 = {"d": "f64", "c": "f64"}
_ROW_COL = ("row", "col")
_PRODUCTS = (
    _mma(72, "s8", S32, _BASIC, SATFINITE),
    _mma(72, "u8", S32, _BASIC, SATFINITE),
    _mma(75, "s4", S32, "m8n8k32", SATFINITE, _ROW_COL),
    _mma(75, "u4", S32, "m8n8k32", SATFINITE, _ROW_COL),
    _mma(80, "bf16", F32, _BASIC),
    _mma(80, "tf32", F32, "m16n16k8"),
    _mma(80, "f64", _F64, "m8n8k4"),
)
_SINGLE_BITS = (
    _mma(75, "b1", S32, "m8n8k128", layouts=_ROW_COL, bit_op=(".xor.popc",)),
    _mma(80, "b1", S32, "m8n8k128", layouts=_ROW_COL, bit_op=(".and.popc",)),
)

_COPY_AXES = {
    "matrix": ("a", "b", "c", "d"),
    "type": _TYPES,
    "shape": _SHAPES,
    "layout": LAYOUTS,
    "space": (*_SPACES, ".shared::cluster", ".local"),
}
_LAYOUT_AXES = {"shape": _SHAPES, "alayout": LAYOUTS, "blayout": LAYOUTS, "satfinite": SATFINITE}
_EQUAL = {"a b": tuple((kind, kind) for kind in _MULTIPLICANDS), "d c": ACCUMULATOR_PAIRS}
_SUMS = ("f16", "bf16", "f32", "f64", "s32")
_BASE = ".sync.aligned.{alayout}.{blayout}.{shape}"
_TYPED = ".{d}.{a}.{b}.{c}{satfinite}"

WMMA_FAMILIES = (
    Family(
        "wmma.load",
        _COPY_AXES,
        "wmma.load.{matrix}.sync.aligned.{layout}.{shape}{space}.{type}",
        _load,
        _LOADS,
    ),
    Family(
        "wmma.store",
        _COPY_AXES | {"matrix": ("d", "c")},
        "wmma.store.{matrix}.sync.aligned.{layout}.{shape}{space}.{type}",
        _store,
        _STORES,
    ),
    Family(
        "wmma.mma-f16",
        {"d": _SUMS, "c": _SUMS, "rounding": ("", ".rn"), **_LAYOUT_AXES},
        "wmma.mma" + _BASE + "{rounding}.{d}.{c}{satfinite}",
        _product,
        (
            documented(
                _MMA,
                since(70),
                d="f16 f32",
                c="f16 f32",
                shape=_BASIC,
                alayout=LAYOUTS,
                blayout=LAYOUTS,
            ),
        ),
    ),
    Family(
        "wmma.mma",
        {"a": _MULTIPLICANDS, "b": _MULTIPLICANDS, "d c": ACCUMULATOR_PAIRS, **_LAYOUT_AXES},
        "wmma.mma" + _BASE + _TYPED,
        _product,
        _PRODUCTS,
    ),
    Family(
        "wmma.mma-rounding",
        {**_EQUAL, "rounding": (*_ROUNDINGS, ".rna"), **_LAYOUT_AXES},
        "wmma.mma" + _BASE + "{rounding}" + _TYPED,
        _product,
        (_mma(80, "f64", _F64, "m8n8k4", rounding=_ROUNDINGS),),
    ),
    Family(
        "wmma.mma-bit-op",
        {**_EQUAL, "bit_op": (".xor.popc", ".and.popc", ".xor"), **_LAYOUT_AXES},
        "wmma.mma{bit_op}" + _BASE + _TYPED,
        _product,
        _SINGLE_BITS,
    ),
)
