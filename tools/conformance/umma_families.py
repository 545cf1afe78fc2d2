"""`tcgen05.mma`, dense, sparse, block-scaled and weight-stationary: PTX ISA, tcgen05.mma.

| family         | points | spans                                                                |
|----------------|--------|----------------------------------------------------------------------|
| umma           | 34,848 | .ws x .sp x .cta_group x .kind x block scaling x .ashift x collector |
| umma-operands  | 8,064  | instructions x where A is x metadata x idesc x lanes x               |
|                |        | enable-input-d x what follows                                        |
| umma-scales    | 2,520  | instructions x where A is x scale factors x enable-input-d           |

What the instruction descriptor says no mnemonic says, and ptxas does not look at it: shapes, types
and the like are tests of the verifier alone.
"""

from collections.abc import Iterator
from functools import partial

from tilewright.tools.conformance.documented_targets import SETS
from tilewright.tools.conformance.instruction_family import (
    Boxes,
    Documented,
    Family,
    Point,
    Value,
    axes,
    documented,
    within,
)

_FAMILIES, _EACH = SETS["100-110"], SETS["100a-110a"]
_INTEGER = frozenset({"sm_100a", "sm_110a"})
_SCALES_D = frozenset({"sm_100a", "sm_100f", "sm_103a", "sm_103f"})

_DENSE, _SPARSE = "tcgen05.mma", "tcgen05.mma.sp"
_WS, _WS_SPARSE = "tcgen05.mma.ws", "tcgen05.mma.ws.sp"
_GROUP = ".cta_group::1"
_GROUPS = _GROUP + " .cta_group::2"
_SHIFTED = ".collector::a::lastuse .collector::a::discard"
_A = ".collector::a::fill .collector::a::use " + _SHIFTED
_B = " ".join(_A.replace("a::", f"b{i}::") for i in range(4))

_MNEMONIC = "tcgen05.mma{ws}{sp}{group}{kind}{scale}{ashift}{collector}"
_PRODUCT = axes(
    ws="- .ws",
    sp="- .sp",
    group=f"- {_GROUPS} .cta_group::4",
    kind="- .kind::f16 .kind::tf32 .kind::f8f6f4 .kind::i8 .kind::mxf8f6f4 .kind::mxf4 "
    ".kind::mxf4nvf4 .kind::bf16",
    scale="- .block_scale .block_scale.block16 .block_scale.block32 .block32 .block_scale.block64 "
    ".block_scale.scale_vec::1X .block_scale.scale_vec::2X .block_scale.scale_vec::4X "
    ".block_scale.scale_vec::3X .scale_vec::2X",
    ashift="- .ashift",
    collector=f"- {_A} .collector::a::keep .collector::b0::fill .collector::b2::lastuse "
    ".collector::b3::discard .collector::b4::use .collector::fill",
)

_KINDS = ".kind::f16 .kind::tf32 .kind::f8f6f4"
_SPELLINGS = (
    (".kind::mxf8f6f4", ".block_scale .block_scale.block32", ".scale_vec::1X"),
    (".kind::mxf4", ".block_scale .block_scale.block32", ".scale_vec::2X"),
    (".kind::mxf4nvf4", ".block_scale.block32", ".scale_vec::2X"),
    (".kind::mxf4nvf4", ".block_scale.block16", ".scale_vec::4X"),
)


def _plain_boxes() -> Iterator[Documented]:
    """The boxes of the kinds without scale factors."""
    for kinds, targets in ((_KINDS, _FAMILIES), (".kind::i8", _INTEGER)):
        for sp, section, ws_section in (("", _DENSE, _WS), (".sp", _SPARSE, _WS_SPARSE)):
            own = partial(documented, sp=(sp,), kind=kinds)
            yield own(section, targets, group=_GROUPS, collector="- " + _A)
            yield own(section, targets, group=_GROUPS, ashift=".ashift", collector="- " + _SHIFTED)
            yield own(ws_section, targets, ws=".ws", group=_GROUP, collector="- " + _B)


def _scaled_boxes() -> Iterator[Documented]:
    """Those of the kinds with scale factors."""
    for kind, sizes, count in _SPELLINGS:
        for sp, section in (("", _DENSE), (".sp", _SPARSE)):
            own = partial(
                documented, section, sp=(sp,), kind=kind, group=_GROUPS, collector="- " + _A
            )
            narrow = bool(sp) and kind != ".kind::mxf8f6f4"
            yield own(_EACH if narrow else _FAMILIES, scale=sizes)
            yield own(_EACH, scale=f".block_scale{count}")


_BOXES: Boxes = (*_plain_boxes(), *_scaled_boxes())


def _of_mnemonic(point: Point) -> tuple[str, ...]:
    """Operands as the qualifiers ask for them, plain and with scale factors."""
    a = "[%r1]" if point["ashift"] else "%rd0"
    metadata = "[%r2], " if point["sp"] else ""
    return (
        f"[%r0], {a}, %rd1, {metadata}%r3, %p0",
        f"[%r0], {a}, %rd1, {metadata}%r3, [%r4], [%r5], %p0",
    )


# Operands.

_LANES_4, _LANES_8 = "{%r4,%r5,%r6,%r7}", "{%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}"
_AS = ("%rd0", "[%r1]", "[%r1+16]")
_MORE = ("", ", 0", ", 15", ", 16", ", -1")
_OPERANDS: dict[str, tuple[Value, ...]] = {
    **axes(
        ws__sp__group__kind="-,-,1,f16 -,-,2,tf32 -,-,1,i8 -,.sp,1,f8f6f4 -,.sp,2,f16 .ws,-,1,f16 "
        ".ws,.sp,1,tf32"
    ),
    "a": _AS,
    "metadata": ("", "[%r2], "),
    "idesc": ("%r3", "0x08200010"),
    "lanes": ("", f"{_LANES_4}, ", f"{_LANES_8}, ", "{0,0,0,0}, "),
    "enable more": (
        *((enable, more) for enable in ("%p0", "1", "!%p0") for more in (*_MORE, ", %rd3")),
        *(("2", ""), ("-1", ""), ("1.0", ""), ("", ""), ("%p0", ", 0, 0"), ("1", ", 3, 5")),
    ),
}


def _operands(point: Point) -> tuple[str, ...]:
    parts = "[%r0], {a}, %rd1, {metadata}{idesc}, {lanes}{enable}{more}".format_map(point)
    return (parts.replace(", ,", ",").removesuffix(", "),)


def _operand_boxes() -> Iterator[Documented]:
    for sp, metadata in (("", ""), (".sp", "[%r2], ")):
        own = partial(
            documented, a=_AS, idesc="%r3 0x08200010", enable="%p0 1", sp=(sp,),
            metadata=(metadata,),
        )  # fmt: skip
        section, ws_section = (_SPARSE, _WS_SPARSE) if sp else (_DENSE, _WS)
        for group, lanes in (("1", _LANES_4), ("2", _LANES_8)):
            limits = partial(own, section, group=group, lanes=("", f"{lanes}, "))
            yield limits(_FAMILIES, kind="f16 tf32 f8f6f4", more=("",))
            yield limits(_SCALES_D, kind="f16 tf32", more=(", 0", ", 15"))
            yield limits(_INTEGER, kind="i8", more=("",))
        yield own(
            ws_section, _FAMILIES, ws=".ws", group="1", lanes=("",), more=("", ", %rd3"),
            kind="f16 tf32 f8f6f4",
        )  # fmt: skip


_SCALES: dict[str, tuple[Value, ...]] = {
    **axes(
        sp__group__kind="-,1,mxf8f6f4.block_scale.block32 -,2,mxf4.block_scale "
        "-,1,mxf4nvf4.block_scale.block16 .sp,2,mxf8f6f4.block_scale"
    ),
    "a": _AS,
    "metadata": ("", "[%r2], "),
    "scales": (
        *("[%r4], [%r5], ", "[%r4], ", "%r4, %r5, ", "", "[%r4], [%r5], [%r6], "),
        *("{%r4,%r5,%r6,%r7}, [%r4], [%r5], ", "[%r4], [%r5+4], "),
    ),
    "enable": ("%p0", "0", "!%p0", "3", "1.0"),
    "more": ("", ", 1", ", %rd3"),
}


def _scaled_operands(point: Point) -> tuple[str, ...]:
    return ("[%r0], {a}, %rd1, {metadata}%r3, {scales}{enable}{more}".format_map(point),)


_SCALE_BOXES: Boxes = tuple(
    documented(
        _SPARSE if sp else _DENSE,
        _FAMILIES,
        sp=(sp,),
        group="1 2",
        kind="mxf8f6f4.block_scale.block32 mxf4.block_scale mxf4nvf4.block_scale.block16 "
        "mxf8f6f4.block_scale",
        a=_AS,
        metadata=(metadata,),
        scales=("[%r4], [%r5], ", "[%r4], [%r5+4], "),
        enable=("%p0", "0"),
        more=("",),
    )
    for sp, metadata in (("", ""), (".sp", "[%r2], "))
)

UMMA_FAMILIES = (
    Family("umma", _PRODUCT, _MNEMONIC, _of_mnemonic, within(_PRODUCT, _BOXES)),
    Family(
        "umma-operands",
        _OPERANDS,
        "tcgen05.mma{ws}{sp}.cta_group::{group}.kind::{kind}",
        _operands,
        within(_OPERANDS, _operand_boxes()),
        with_operands=True,
    ),
    Family(
        "umma-scales",
        _SCALES,
        "tcgen05.mma{sp}.cta_group::{group}.kind::{kind}",
        _scaled_operands,
        within(_SCALES, _SCALE_BOXES),
        with_operands=True,
    ),
)
