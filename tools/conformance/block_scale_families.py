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

from dataclasses import replace

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


# scale_vec left out stands for the size of the row above it (9.7.14.5.14). 2X with .ue4m3 is in the
# syntax, but not in Table 36; ptxas has no such instruction. The ids of bytes are Table 37's, and a
# 16-bit register, whose value is the program's business.
_NARROW = "|".join(NARROW_FLOATS)
_SCALED = f"""
    targets  shape  kind             scale_vec       stype          a,b        byte_id_a,byte_id_b
    {{0}}    {{1}}  .kind::mxf8f6f4  -               .ue8m0         {_NARROW}  0|1|2|3|%h0
    {{0}}    {{1}}  .kind::mxf8f6f4  .scale_vec::1X  .ue8m0         {_NARROW}  0|1|2|3|%h0
    {{2}}    {{3}}  .kind::mxf4      -               .ue8m0         e2m1       0|2|%h0
    {{2}}    {{3}}  .kind::mxf4      .scale_vec::2X  .ue8m0         e2m1       0|2|%h0
    {{2}}    {{3}}  .kind::mxf4nvf4  .scale_vec::2X  .ue8m0|.ue4m3  e2m1       0|2|%h0
    {{2}}    {{3}}  .kind::mxf4nvf4  .scale_vec::4X  .ue8m0|.ue4m3  e2m1       0|%h0
"""


def _scaled(section: str, table: str, **words: str) -> Boxes:
    return boxes(
        section, table, block_scale=".block_scale", d="f32", c="f32",
        thread_id_a="0 1 %h0", thread_id_b="0 1 2 3 %h0", **ROW_COL, **words,
    )  # fmt: skip


_DENSE_SCALED = _scaled(DENSE_SECTION, _SCALED.format("120f", "m16n8k32", "120f", "m16n8k64"))
_SPARSE_SCALED = _scaled(
    SPARSE_SECTION, _SCALED.format("120f", "m16n8k64", "120a", "m16n8k128"),
    sparse=ORDERED, selector="0",
)  # fmt: skip

_FIRST_IDS = dict.fromkeys(("byte_id_a", "thread_id_a", "byte_id_b", "thread_id_b"), ("0",))


def _with_ids(boxes: Boxes) -> Boxes:
    """Boxes of instructions without selectors, among points that all have the first ones."""
    return tuple(replace(box, words={**box.words, **_FIRST_IDS}) for box in boxes)


_ROW_COL = axes(alayout="row", blayout="col")
_FORM_AXES = {
    **_ROW_COL,
    "kind": ("", *KINDS, ".kind::i8"),
    **axes(
        block_scale="- .block_scale",
        scale_vec="- .scale_vec::1X .scale_vec::2X .scale_vec::4X .scale_vec::8X",
        stype="- .ue8m0 .ue4m3 .ue5m3",
        d__c="f32,f32 f16,f16 f32,f16 s32,s32",
    ),
    "a": (*NARROW_FLOATS, "s8"),
    "b": (*NARROW_FLOATS, "s8"),
    **_FIRST_IDS,
}
_ID_AXES: dict[str, tuple[Value, ...]] = {
    **_ROW_COL,
    "kind": KINDS[1:],
    **axes(
        block_scale=".block_scale",
        scale_vec__stype="-,.ue8m0 .scale_vec::1X,.ue8m0 .scale_vec::2X,.ue8m0 "
        ".scale_vec::4X,.ue8m0 .scale_vec::4X,.ue4m3 -,.ue4m3",
        d__c="f32,f32",
        a__b="e4m3,e5m2 e2m1,e2m1",
        byte_id_a="0 1 2 3 4 %h0",
        thread_id_a="0 1 2 %h0",
        byte_id_b="0 1 2 3 4 %h0",
        thread_id_b="0 1 2 3 4 %h0",
    ),
}
_DENSE_FORMS = axes(shape="m8n8k32 m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128") | _FORM_AXES
_SPARSE_FORMS = {
    "sparse": FORMS,
    **axes(shape="m16n8k16 m16n8k32 m16n8k64 m16n8k128 m16n8k256 m8n8k64", selector="0"),
    **_FORM_AXES,
}
_DENSE_IDS = axes(shape="m16n8k32 m16n8k64") | _ID_AXES
_SPARSE_IDS = {"sparse": FORMS, **axes(shape="m16n8k64 m16n8k128", selector="0 1"), **_ID_AXES}

_REST = (
    ".sync.aligned.{shape}.{alayout}.{blayout}{kind}{block_scale}{scale_vec}" + TYPES + "{stype}"
)


BLOCK_SCALE_FAMILIES = tuple(
    Family(
        name,
        own,
        mnemonic + _REST,
        operands,
        within(own, listed),
        with_operands="selectors" in name,
    )
    for name, own, mnemonic, operands, listed in (
        ("mma-block-scale", _DENSE_FORMS, "mma", _dense_scaled,
         (*_DENSE_SCALED, *_with_ids(UNSCALED))),
        ("mma-block-scale-selectors", _DENSE_IDS, "mma", _dense_scaled, _DENSE_SCALED),
        ("mma.sp-block-scale", _SPARSE_FORMS, "mma{sparse}", _sparse_scaled,
         (*_SPARSE_SCALED, *_with_ids(SPARSE_BOXES))),
        ("mma.sp-block-scale-selectors", _SPARSE_IDS, "mma{sparse}", _sparse_scaled,
         _SPARSE_SCALED),
    )
)  # fmt: skip
