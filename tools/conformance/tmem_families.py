"""Tensor memory: allocation, loads, stores, copies, shifts, waits, fences and commits.

| family           | points | spans                                                              |
|------------------|--------|--------------------------------------------------------------------|
| tcgen05-alloc    | 1,200  | instruction x CTA group x .sync x .aligned x state space x type    |
| tcgen05-ld       | 3,696  | shape x num x packing x type x .sync.aligned                       |
| tcgen05-st       | 3,696  | the same                                                           |
| tcgen05-ld.red   | 6,336  | shape x num x operation x .abs x .NaN x type                       |
| tcgen05-cp       | 2,400  | CTA group x shape x multicast x destination and source format      |
| tcgen05-commit   | 1,440  | CTA group x completion x state space x multicast x type            |
| tcgen05-ordering | 1,440  | shift, wait, fence x what they say x CTA group x .sync.aligned     |

What holds was found with ptxas 13.0 and 13.5; columns and registers are legal ones.
"""

from tilewright.tools.conformance.instruction_family import Family, Point, axes, boxes
from tilewright.tools.conformance.operand_text import registers

_GROUPS = ".cta_group::1|.cta_group::2"
_SOME_GROUPS = f"- {_GROUPS} .cta_group::4"
_SOME_NUMS = "- .x1 .x2 .x4 .x8 .x16 .x32 .x64 .x128 .x3 .x256"
_TO_32 = ".x1|.x2|.x4|.x8|.x16|.x32"
_TO_128 = _TO_32 + "|.x64|.x128"
_SHAPES = ".32x32b .16x64b .16x128b .16x256b .16x32bx2 .32x64b"
_ALIGNED = ".sync.aligned .sync .aligned -"
_PER_NUM = {".16x128b": 2, ".16x256b": 4}


# Allocation


def _allocation(point: Point) -> tuple[str, ...]:
    match point["name"]:
        case "alloc":
            return ("[%r0], 32", "[%rd0], 32")
        case "dealloc":
            return ("%r0, 32",)
        case _:
            return ("",)


_ALLOCATION = Family(
    "tcgen05-alloc",
    axes(
        name="alloc dealloc relinquish_alloc_permit",
        group=_SOME_GROUPS + " .cta_group::3",
        sync="- .sync",
        aligned="- .aligned",
        space="- .shared::cta .shared .shared::cluster .global",
        type="- .b32 .u32 .b64",
    ),
    "tcgen05.{name}{group}{sync}{aligned}{space}{type}",
    _allocation,
    boxes("tcgen05.alloc", """
        targets  name                     space           type
        100-110  alloc                    -|.shared::cta  .b32
        100-110  dealloc                  -               .b32
        100-110  relinquish_alloc_permit  -               -
    """, group=_GROUPS, sync=".sync", aligned=".aligned"),
)  # fmt: skip


# Loads and stores


def _fragment(point: Point) -> str:
    """As many registers as the shape and its repetition ask for, at most 128."""
    number = int(point["num"].removeprefix(".x") or 1)
    return registers("%r", min(number * _PER_NUM.get(point["shape"], 1), 128))


def _half(point: Point) -> str:
    return ", 16" if point["shape"] == ".16x32bx2" else ""


def _load(point: Point) -> tuple[str, ...]:
    return (f"{_fragment(point)}, [%r130]{_half(point)}",)


def _store(point: Point) -> tuple[str, ...]:
    return (f"[%r130]{_half(point)}, {_fragment(point)}",)


_ACCESS_AXES = axes(
    shape=_SHAPES + " .8x256b",
    num=_SOME_NUMS,
    packing="- .pack::16b .unpack::16b",
    type="- .b32 .u32 .f32",
    aligned=_ALIGNED,
)
_ACCESSED = f"""
    targets  shape      num
    100-110  .32x32b    {_TO_128}
    100-110  .16x64b    {_TO_128}
    100-110  .16x128b   {_TO_32}|.x64
    100-110  .16x256b   {_TO_32}
    100-110  .16x32bx2  {_TO_128}
"""
_ACCESSES = tuple(
    Family(
        f"tcgen05-{name}",
        _ACCESS_AXES,
        f"tcgen05.{name}{{aligned}}{{shape}}{{num}}{{packing}}{{type}}",
        operands,
        boxes(f"tcgen05.{name}", _ACCESSED, packing="- " + packing, type=".b32",
              aligned=".sync.aligned"),
    )
    for name, operands, packing in (("ld", _load, ".pack::16b"), ("st", _store, ".unpack::16b"))
)  # fmt: skip


def _reduction(point: Point) -> tuple[str, ...]:
    return (f"{_fragment(point)}, %r129, [%r130]{_half(point)}",)


_REDUCTION = Family(
    "tcgen05-ld.red",
    axes(
        shape=_SHAPES,
        num=_SOME_NUMS,
        reduction=".min .max .add -",
        abs="- .abs",
        nan="- .NaN",
        type=".f32 .u32 .s32 .b32 .f16 -",
    ),
    "tcgen05.ld.red.sync.aligned{shape}{num}{reduction}{abs}{nan}{type}",
    _reduction,
    boxes("tcgen05.ld", """
        targets  shape              reduction  abs     nan     type
        103-110  .32x32b|.16x32bx2  .min|.max  -|.abs  -|.NaN  .f32
        103-110  .32x32b|.16x32bx2  .min|.max  -       -       .u32|.s32
    """, num=_TO_128.removeprefix(".x1|")),
)  # fmt: skip


# Copies, commits and the rest

_FORMATS = "- .b8x16.b6x16_p32 .b8x16.b4x16_p64"
_COPY = Family(
    "tcgen05-cp",
    axes(
        group=_SOME_GROUPS,
        shape=".128x256b .128x128b .4x256b .64x128b .32x128b .64x256b .32x256b .4x128b .16x128b -",
        multicast="- .warpx2::02_13 .warpx2::01_23 .warpx4 .warpx2",
        format=_FORMATS + " .b8x16 .b6x16_p32 .b4x16_p64 .b6x16_p32.b8x16 .b4x16_p64.b8x16 "
        ".b8x16.b8x16 .b8x16.b4x16_p32 .b16x8.b6x16_p32 .b6x16_p32.b6x16_p32",
    ),
    "tcgen05.cp{group}{shape}{multicast}{format}",
    lambda _: ("[%r0], %rd0",),
    boxes("tcgen05.cp", """
        targets  shape                         multicast
        100-110  .128x256b|.128x128b|.4x256b   -
        100-110  .64x128b                      .warpx2::02_13|.warpx2::01_23
        100-110  .32x128b                      .warpx4
    """, group=_GROUPS, format=_FORMATS),
)  # fmt: skip


def _commit(point: Point) -> tuple[str, ...]:
    mask = ", %h0" if point["multicast"] == ".multicast::cluster" else ""
    return (f"[%r0]{mask}", f"[%rd0]{mask}")


_COMMIT = Family(
    "tcgen05-commit",
    axes(
        group=_SOME_GROUPS,
        completion=".mbarrier::arrive::one - .mbarrier::arrive .mbarrier::complete_tx::bytes "
        ".bulk_group .arrive::one",
        space="- .shared::cluster .shared::cta .shared .global",
        multicast="- .multicast::cluster .multicast",
        type=".b64 - .b32 .u64",
    ),
    "tcgen05.commit{group}{completion}{space}{multicast}{type}",
    _commit,
    boxes("tcgen05.commit", """
        targets  completion              space               multicast              type
        100-110  .mbarrier::arrive::one  -|.shared::cluster  -|.multicast::cluster  .b64
    """, group=_GROUPS),
)  # fmt: skip


def _ordering(point: Point) -> tuple[str, ...]:
    return ("[%r0]", "") if point["name"] == "shift" else ("",)


_BETWEEN_THREADS = "::before_thread_sync|::after_thread_sync"
_ORDERING = Family(
    "tcgen05-ordering",
    axes(
        name="shift wait fence",
        what=f"- ::ld ::st ::ld::st ::cp {_BETWEEN_THREADS} ::before ::all ::thread_sync",
        group=_SOME_GROUPS,
        direction="- .down .up",
        aligned=_ALIGNED,
    ),
    "tcgen05.{name}{what}{group}{direction}{aligned}",
    _ordering,
    (
        *boxes("tcgen05.shift", """
            targets    name   direction  aligned
            100a-110a  shift  .down      -
        """, group=_GROUPS),
        *boxes("tcgen05.wait", """
            targets  name  what       aligned
            100-110  wait  ::ld|::st  .sync.aligned
        """),
        *boxes("tcgen05.fence", f"""
            targets  name   what                aligned
            100-110  fence  {_BETWEEN_THREADS}  -
        """),
    ),
)  # fmt: skip

TMEM_FAMILIES = (_ALLOCATION, *_ACCESSES, _REDUCTION, _COPY, _COMMIT, _ORDERING)
