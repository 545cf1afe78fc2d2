"""Block scaling of `mma` and `mma.sp::ordered_metadata`: PTX ISA 9.7.14.3, 9.7.14.5.14, 9.7.14.6.3.

| family                       | points  | spans                                               |
|------------------------------|---------|-----------------------------------------------------|
| mma-block-scale              | 207,360 | shape x kind x block_scale x scale_vec x stype      |
|                              |         | x d and c x a x b                                   |
| mma-block-scale-selectors    | 62,208  | kind x scale_vec x stype x byte and thread ids      |
| mma.sp-block-scale           | 414,720 | the first, for both sparse forms                    |
| mma.sp-block-scale-selectors | 248,832 | the second, for both sparse forms, selector 0 and 1 |

Without selectors a candidate has the ids 0, which every scale vector takes.
"""

from collections.abc import Iterator
from dataclasses import replace

from tilewright.tools.conformance.documented_targets import FAMILY_120, ONLY_120A_121A
from tilewright.tools.conformance.instruction_family import (
    Boxes,
    Documented,
    Family,
    Point,
    documented,
    within,
)
from tilewright.tools.conformance.mma_families import (
    F32,
    FP8_FP6_FP4,
    KINDS,
    NARROW_FLOATS,
    ROW_COL,
    TYPES,
    UNSCALED,
    dense_operands,
)
from tilewright.tools.conformance.mma_families import SECTION as DENSE_SECTION
from tilewright.tools.conformance.sparse_families import (
    FORMS,
    ORDERED,
    SPARSE_BOXES,
    sparse_operands,
)
from tilewright.tools.conformance.sparse_families import SECTION as SPARSE_SECTION

MXF8F6F4, MXF4, MXF4NVF4 = KINDS[1:]

# kind, scale_vec (9.7.14.5.14: the size that each stands for where it is left out), stype.
# 2X with .ue4m3 is in the syntax, but not in Table 36; ptxas has no such instruction.
_SCALES = (
    (MXF8F6F4, {"": "1X", ".scale_vec::1X": "1X"}, ".ue8m0"),
    (MXF4, {"": "2X", ".scale_vec::2X": "2X"}, ".ue8m0"),
    (MXF4NVF4, {".scale_vec::2X": "2X", ".scale_vec::4X": "4X"}, ".ue8m0 .ue4m3"),
)
# Table 37, and a 16-bit register, whose value is the program's business.
_BYTE_IDS = {"1X": "0 1 2 3 %h0", "2X": "0 2 %h0", "4X": "0 %h0"}
_THREAD_ID_A, _THREAD_ID_B = "0 1 %h0", "0 1 2 3 %h0"

_DENSE_SHAPES = {MXF8F6F4: "m16n8k32", MXF4: "m16n8k64", MXF4NVF4: "m16n8k64"}
_SPARSE_SHAPES = {MXF8F6F4: "m16n8k64", MXF4: "m16n8k128", MXF4NVF4: "m16n8k128"}
_SPARSE_TARGETS = {MXF8F6F4: FAMILY_120, MXF4: ONLY_120A_121A, MXF4NVF4: ONLY_120A_121A}


def scale_operands(point: Point) -> tuple[str, ...]:
    """The operands behind the matrices: scale data and selectors where the mnemonic has
    .block_scale; with and without them where it speaks of scales all the same."""
    if not point["block_scale"] + point["scale_vec"] + point["stype"]:
        return ("",)
    ids_of_a = f"{{{point['byte_id_a']}, {point['thread_id_a']}}}"
    ids_of_b = f"{{{point['byte_id_b']}, {point['thread_id_b']}}}"
    scales = f", %r0, {ids_of_a}, %r0, {ids_of_b}"
    return (scales,) if point["block_scale"] else (scales, "")


def _dense_scaled(point: Point) -> tuple[str, ...]:
    return tuple(a + b for a in dense_operands(point) for b in scale_operands(point))


def _sparse_scaled(point: Point) -> tuple[str, ...]:
    return tuple(a + b for a in sparse_operands(point) for b in scale_operands(point))


def _scaled(
    section: str, kind: str, shape: str, targets: frozenset[str], **words: str
) -> Iterator[Documented]:
    """The boxes of a kind, one a scale vector size."""
    [(_, sizes, types)] = [row for row in _SCALES if row[0] == kind]
    multiplicands = FP8_FP6_FP4 if kind == MXF8F6F4 else "e2m1"
    for scale_vec, size in sizes.items():
        yield documented(
            section,
            targets,
            shape=shape,
            kind=kind,
            block_scale=".block_scale",
            scale_vec=(scale_vec,),
            stype=types,
            a=multiplicands,
            b=multiplicands,
            byte_id_a=_BYTE_IDS[size],
            thread_id_a=_THREAD_ID_A,
            byte_id_b=_BYTE_IDS[size],
            thread_id_b=_THREAD_ID_B,
            **ROW_COL,
            **F32,
            **words,
        )


_DENSE_SCALED = tuple(
    box
    for kind, shape in _DENSE_SHAPES.items()
    for box in _scaled(DENSE_SECTION, kind, shape, FAMILY_120)
)
_SPARSE_SCALED = tuple(
    box
    for kind, shape in _SPARSE_SHAPES.items()
    for box in _scaled(
        SPARSE_SECTION, kind, shape, _SPARSE_TARGETS[kind], sparse=ORDERED, selector="0"
    )
)

_FIRST_IDS = dict.fromkeys(("byte_id_a", "thread_id_a", "byte_id_b", "thread_id_b"), ("0",))


def _with_ids(boxes: Boxes) -> Boxes:
    """Boxes of instructions without selectors, among points that all have the first ones."""
    return tuple(replace(box, words={**box.words, **_FIRST_IDS}) for box in boxes)


_FORM_AXES = {
    "alayout": ("row",),
    "blayout": ("col",),
    "kind": ("", *KINDS, ".kind::i8"),
    "block_scale": ("", ".block_scale"),
    "scale_vec": ("", ".scale_vec::1X", ".scale_vec::2X", ".scale_vec::4X", ".scale_vec::8X"),
    "stype": ("", ".ue8m0", ".ue4m3", ".ue5m3"),
    "d c": (("f32", "f32"), ("f16", "f16"), ("f32", "f16"), ("s32", "s32")),
    "a": (*NARROW_FLOATS, "s8"),
    "b": (*NARROW_FLOATS, "s8"),
    **_FIRST_IDS,
}
_ID_AXES = {
    "alayout": ("row",),
    "blayout": ("col",),
    "kind": (MXF8F6F4, MXF4, MXF4NVF4),
    "block_scale": (".block_scale",),
    "scale_vec stype": (
        *(("", ".ue8m0"), (".scale_vec::1X", ".ue8m0"), (".scale_vec::2X", ".ue8m0")),
        *((".scale_vec::4X", ".ue8m0"), (".scale_vec::4X", ".ue4m3"), ("", ".ue4m3")),
    ),
    "d c": (("f32", "f32"),),
    "a b": (("e4m3", "e5m2"), ("e2m1", "e2m1")),
    "byte_id_a": ("0", "1", "2", "3", "4", "%h0"),
    "thread_id_a": ("0", "1", "2", "%h0"),
    "byte_id_b": ("0", "1", "2", "3", "4", "%h0"),
    "thread_id_b": ("0", "1", "2", "3", "4", "%h0"),
}
_DENSE_FORMS = {
    "shape": ("m8n8k32", "m16n8k8", "m16n8k16", "m16n8k32", "m16n8k64", "m16n8k128"),
    **_FORM_AXES,
}
_SPARSE_FORMS = {
    "sparse": FORMS,
    "shape": ("m16n8k16", "m16n8k32", "m16n8k64", "m16n8k128", "m16n8k256", "m8n8k64"),
    "selector": ("0",),
    **_FORM_AXES,
}
_DENSE_IDS = {"shape": ("m16n8k32", "m16n8k64"), **_ID_AXES}
_SPARSE_IDS = {
    "sparse": FORMS,
    "shape": ("m16n8k64", "m16n8k128"),
    "selector": ("0", "1"),
    **_ID_AXES,
}

_REST = (
    ".sync.aligned.{shape}.{alayout}.{blayout}{kind}{block_scale}{scale_vec}" + TYPES + "{stype}"
)

BLOCK_SCALE_FAMILIES = (
    Family(
        "mma-block-scale",
        _DENSE_FORMS,
        "mma" + _REST,
        _dense_scaled,
        within(_DENSE_FORMS, (*_DENSE_SCALED, *_with_ids(UNSCALED))),
    ),
    Family(
        "mma-block-scale-selectors",
        _DENSE_IDS,
        "mma" + _REST,
        _dense_scaled,
        within(_DENSE_IDS, _DENSE_SCALED),
        with_operands=True,
    ),
    Family(
        "mma.sp-block-scale",
        _SPARSE_FORMS,
        "mma{sparse}" + _REST,
        _sparse_scaled,
        within(_SPARSE_FORMS, (*_SPARSE_SCALED, *_with_ids(SPARSE_BOXES))),
    ),
    Family(
        "mma.sp-block-scale-selectors",
        _SPARSE_IDS,
        "mma{sparse}" + _REST,
        _sparse_scaled,
        within(_SPARSE_IDS, _SPARSE_SCALED),
        with_operands=True,
    ),
)
