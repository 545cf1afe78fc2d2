"""`ldmatrix`, `stmatrix` and `movmatrix`: PTX ISA 9.7.14.5.15 to 9.7.14.5.17.

| family    | points | spans                                                                      |
|-----------|--------|----------------------------------------------------------------------------|
| ldmatrix  | 4,320  | shape x num x trans x state space x type, or destination and source format |
| stmatrix  | 4,320  | the same                                                                   |
| movmatrix | 720    | shape x num x trans x type                                                 |
"""

from tilewright.tools.conformance.documented_targets import FAMILIES_100_110_120, since
from tilewright.tools.conformance.instruction_family import Family, Point, documented
from tilewright.tools.conformance.operand_text import registers, shape_of

_LDMATRIX, _STMATRIX, _MOVMATRIX = "9.7.14.5.15", "9.7.14.5.16", "9.7.14.5.17"

_SHARED = ("", ".shared", ".shared::cta")
_FORMATS = (".b8x16.b6x16_p32", ".b8x16.b4x16_p64")
_TRANS = ("", ".trans")
_ONE_TWO_FOUR = (".x1", ".x2", ".x4")

_MOVE_AXES = {
    "shape": ("m8n8", "m8n16", "m16n8", "m16n16", "m8n4", "m16n32"),
    "num": ("", *_ONE_TWO_FOUR, ".x8"),
    "trans": _TRANS,
    "type": (
        *(".b16", ".b8", ".b32", ".b64", ".f16", ".b8x16", ".b6x16_p32"),
        *(*_FORMATS, ".b6x16_p32.b8x16", ".b8.b6x16_p32", ".b16.b6x16_p32"),
    ),
}
_COPY_AXES = {**_MOVE_AXES, "space": (*_SHARED, ".shared::cluster", ".global", ".local")}


def _fragments(point: Point) -> tuple[str, ...]:
    """A register for every 8x8 matrix of 16 bits, two for a 16x16 one of 8 bits. Eight are more
    than `.num` ever asks for: there four may do."""
    m, n, _ = shape_of(point["shape"])
    matrices = int(point["num"].removeprefix(".x") or 1)
    natural = matrices * max(m * n // 128, 1)
    return tuple(registers("%r", number) for number in {min(natural, 8), min(natural, 4)})


def _load(point: Point) -> tuple[str, ...]:
    return tuple(f"{fragment}, [%rd0]" for fragment in _fragments(point))


def _store(point: Point) -> tuple[str, ...]:
    return tuple(f"[%rd0], {fragment}" for fragment in _fragments(point))


def _move(point: Point) -> tuple[str, ...]:
    return ("%r0, %r1",)


COPY_FAMILIES = (
    Family(
        "ldmatrix",
        _COPY_AXES,
        "ldmatrix.sync.aligned.{shape}{num}{trans}{space}{type}",
        _load,
        (
            documented(
                _LDMATRIX,
                since(75),
                shape="m8n8",
                num=_ONE_TWO_FOUR,
                trans=_TRANS,
                space=_SHARED,
                type=(".b16",),
            ),
            documented(
                _LDMATRIX,
                FAMILIES_100_110_120,
                shape="m16n16",
                num=(".x1", ".x2"),
                trans=(".trans",),
                space=_SHARED,
                type=(".b8", *_FORMATS),
            ),
            documented(
                _LDMATRIX,
                FAMILIES_100_110_120,
                shape="m8n16",
                num=_ONE_TWO_FOUR,
                space=_SHARED,
                type=_FORMATS,
            ),
        ),
    ),
    Family(
        "stmatrix",
        _COPY_AXES,
        "stmatrix.sync.aligned.{shape}{num}{trans}{space}{type}",
        _store,
        (
            documented(
                _STMATRIX,
                since(90),
                shape="m8n8",
                num=_ONE_TWO_FOUR,
                trans=_TRANS,
                space=_SHARED,
                type=(".b16",),
            ),
            documented(
                _STMATRIX,
                FAMILIES_100_110_120,
                shape="m16n8",
                num=_ONE_TWO_FOUR,
                trans=(".trans",),
                space=_SHARED,
                type=(".b8",),
            ),
        ),
    ),
    Family(
        "movmatrix",
        _MOVE_AXES,
        "movmatrix.sync.aligned.{shape}{num}{trans}{type}",
        _move,
        (documented(_MOVMATRIX, since(75), shape="m8n8", trans=(".trans",), type=(".b16",)),),
    ),
)
