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

from tilewright.tools.conformance.documented_targets import FAMILIES_100_110_120, FAMILY_120
from tilewright.tools.conformance.instruction_family import Family, Point, documented
from tilewright.tools.conformance.operand_text import registers

TCGEN05 = FAMILIES_100_110_120 - FAMILY_120
_LD_RED = frozenset({"sm_103a", "sm_103f", "sm_110a", "sm_110f"})
_SHIFT = frozenset({"sm_100a", "sm_103a", "sm_110a"})

_GROUPS = (".cta_group::1", ".cta_group::2")
_SOME_GROUPS = ("", *_GROUPS, ".cta_group::4")
_NUMS = (".x1", ".x2", ".x4", ".x8", ".x16", ".x32", ".x64", ".x128")
_SOME_NUMS = ("", *_NUMS, ".x3", ".x256")
_SHAPES = (".32x32b", ".16x64b", ".16x128b", ".16x256b", ".16x32bx2")
_SOME_SHAPES = (*_SHAPES, ".32x64b", ".8x256b")
_ALIGNED = (".sync.aligned", ".sync", ".aligned", "")
_PER_NUM = {".16x128b": 2, ".16x256b": 4}
_LAST = {".16x128b": ".x64", ".16x256b": ".x32"}


def _nums(shape: str) -> tuple[str, ...]:
    return _NUMS[: _NUMS.index(_LAST.get(shape, ".x128")) + 1]


# Allocation


def _allocation(point: Point) -> tuple[str, ...]:
    match point["name"]:
        case "alloc":
            return ("[%r0], 32", "[%rd0], 32")
        case "dealloc":
            return ("%r0, 32",)
        case _:
            return ("",)


_ALLOC_SECTION = "tcgen05.alloc"
_ALLOCATION = Family(
    "tcgen05-alloc",
    {
        "name": ("alloc", "dealloc", "relinquish_alloc_permit"),
        "group": (*_SOME_GROUPS, ".cta_group::3"),
        "sync": ("", ".sync"),
        "aligned": ("", ".aligned"),
        "space": ("", ".shared::cta", ".shared", ".shared::cluster", ".global"),
        "type": ("", ".b32", ".u32", ".b64"),
    },
    "tcgen05.{name}{group}{sync}{aligned}{space}{type}",
    _allocation,
    (
        documented(
            _ALLOC_SECTION,
            TCGEN05,
            name="alloc",
            group=_GROUPS,
            sync=".sync",
            aligned=".aligned",
            space=("", ".shared::cta"),
            type=".b32",
        ),
        documented(
            _ALLOC_SECTION,
            TCGEN05,
            name="dealloc",
            group=_GROUPS,
            sync=".sync",
            aligned=".aligned",
            type=".b32",
        ),
        documented(
            _ALLOC_SECTION,
            TCGEN05,
            name="relinquish_alloc_permit",
            group=_GROUPS,
            sync=".sync",
            aligned=".aligned",
        ),
    ),
)


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


_ACCESS_AXES = {
    "shape": _SOME_SHAPES,
    "num": _SOME_NUMS,
    "packing": ("", ".pack::16b", ".unpack::16b"),
    "type": ("", ".b32", ".u32", ".f32"),
    "aligned": _ALIGNED,
}
_ACCESSES = tuple(
    Family(
        f"tcgen05-{name}",
        _ACCESS_AXES,
        f"tcgen05.{name}{{aligned}}{{shape}}{{num}}{{packing}}{{type}}",
        operands,
        tuple(
            documented(
                f"tcgen05.{name}",
                TCGEN05,
                shape=shape,
                num=_nums(shape),
                packing=("", packing),
                type=".b32",
                aligned=".sync.aligned",
            )
            for shape in _SHAPES
        ),
    )
    for name, operands, packing in (("ld", _load, ".pack::16b"), ("st", _store, ".unpack::16b"))
)


def _reduction(point: Point) -> tuple[str, ...]:
    return (f"{_fragment(point)}, %r129, [%r130]{_half(point)}",)


_REDUCTION = Family(
    "tcgen05-ld.red",
    {
        "shape": (*_SHAPES, ".32x64b"),
        "num": _SOME_NUMS,
        "reduction": (".min", ".max", ".add", ""),
        "abs": ("", ".abs"),
        "nan": ("", ".NaN"),
        "type": (".f32", ".u32", ".s32", ".b32", ".f16", ""),
    },
    "tcgen05.ld.red.sync.aligned{shape}{num}{reduction}{abs}{nan}{type}",
    _reduction,
    (
        documented(
            "tcgen05.ld",
            _LD_RED,
            shape=(".32x32b", ".16x32bx2"),
            num=_NUMS[1:],
            reduction=(".min", ".max"),
            abs=("", ".abs"),
            nan=("", ".NaN"),
            type=".f32",
        ),
        documented(
            "tcgen05.ld",
            _LD_RED,
            shape=(".32x32b", ".16x32bx2"),
            num=_NUMS[1:],
            reduction=(".min", ".max"),
            type=(".u32", ".s32"),
        ),
    ),
)


# Copies, commits and the rest

_FORMATS = ("", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64")
_COPY = Family(
    "tcgen05-cp",
    {
        "group": _SOME_GROUPS,
        "shape": (
            *(".128x256b", ".128x128b", ".4x256b", ".64x128b", ".32x128b"),
            *(".64x256b", ".32x256b", ".4x128b", ".16x128b", ""),
        ),
        "multicast": ("", ".warpx2::02_13", ".warpx2::01_23", ".warpx4", ".warpx2"),
        "format": (
            *_FORMATS,
            *(".b8x16", ".b6x16_p32", ".b4x16_p64"),
            *(".b6x16_p32.b8x16", ".b4x16_p64.b8x16"),
            *(".b8x16.b8x16", ".b8x16.b4x16_p32", ".b16x8.b6x16_p32", ".b6x16_p32.b6x16_p32"),
        ),
    },
    "tcgen05.cp{group}{shape}{multicast}{format}",
    lambda _: ("[%r0], %rd0",),
    (
        documented(
            "tcgen05.cp",
            TCGEN05,
            group=_GROUPS,
            shape=(".128x256b", ".128x128b", ".4x256b"),
            format=_FORMATS,
        ),
        documented(
            "tcgen05.cp",
            TCGEN05,
            group=_GROUPS,
            shape=".64x128b",
            multicast=(".warpx2::02_13", ".warpx2::01_23"),
            format=_FORMATS,
        ),
        documented(
            "tcgen05.cp",
            TCGEN05,
            group=_GROUPS,
            shape=".32x128b",
            multicast=".warpx4",
            format=_FORMATS,
        ),
    ),
)


def _commit(point: Point) -> tuple[str, ...]:
    mask = ", %h0" if point["multicast"] == ".multicast::cluster" else ""
    return (f"[%r0]{mask}", f"[%rd0]{mask}")


_COMMIT = Family(
    "tcgen05-commit",
    {
        "group": _SOME_GROUPS,
        "completion": (
            *(".mbarrier::arrive::one", "", ".mbarrier::arrive", ".mbarrier::complete_tx::bytes"),
            *(".bulk_group", ".arrive::one"),
        ),
        "space": ("", ".shared::cluster", ".shared::cta", ".shared", ".global"),
        "multicast": ("", ".multicast::cluster", ".multicast"),
        "type": (".b64", "", ".b32", ".u64"),
    },
    "tcgen05.commit{group}{completion}{space}{multicast}{type}",
    _commit,
    (
        documented(
            "tcgen05.commit",
            TCGEN05,
            group=_GROUPS,
            completion=".mbarrier::arrive::one",
            space=("", ".shared::cluster"),
            multicast=("", ".multicast::cluster"),
            type=".b64",
        ),
    ),
)


def _ordering(point: Point) -> tuple[str, ...]:
    return ("[%r0]", "") if point["name"] == "shift" else ("",)


_ORDERING = Family(
    "tcgen05-ordering",
    {
        "name": ("shift", "wait", "fence"),
        "what": (
            *("", "::ld", "::st", "::ld::st", "::cp", "::before_thread_sync"),
            *("::after_thread_sync", "::before", "::all", "::thread_sync"),
        ),
        "group": ("", *_GROUPS, ".cta_group::4"),
        "direction": ("", ".down", ".up"),
        "aligned": _ALIGNED,
    },
    "tcgen05.{name}{what}{group}{direction}{aligned}",
    _ordering,
    (
        documented("tcgen05.shift", _SHIFT, name="shift", group=_GROUPS, direction=".down",
                   aligned=("",)),
        documented("tcgen05.wait", TCGEN05, name="wait", what=("::ld", "::st"),
                   aligned=".sync.aligned"),
        documented("tcgen05.fence", TCGEN05, name="fence", aligned=("",),
                   what=("::before_thread_sync", "::after_thread_sync")),
    ),
)  # fmt: skip

TMEM_FAMILIES = (_ALLOCATION, *_ACCESSES, _REDUCTION, _COPY, _COMMIT, _ORDERING)
