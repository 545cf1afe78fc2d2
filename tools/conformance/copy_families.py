"""`ldmatrix`, `stmatrix` and `movmatrix`: PTX ISA 9.7.14.5.15 to 9.7.14.5.17.

| family    | points | spans                                                                      |
|-----------|--------|----------------------------------------------------------------------------|
| ldmatrix  | 4,320  | shape x num x trans x state space x type, or destination and source format |
| stmatrix  | 4,320  | the same                                                                   |
| movmatrix | 720    | shape x num x trans x type                                                 |
"""

from tilewright.tools.conformance.instruction_family import Family, Point, axes, boxes
from tilewright.tools.conformance.operand_text import loads, registers, shape_of, stores

_FORMATS = ".b8x16.b6x16_p32|.b8x16.b4x16_p64"
_MOVE_AXES = axes(
    shape="m8n8 m8n16 m16n8 m16n16 m8n4 m16n32",
    num="- .x1 .x2 .x4 .x8",
    trans="- .trans",
    type=".b16 .b8 .b32 .b64 .f16 .b8x16 .b6x16_p32 .b8x16.b6x16_p32 .b8x16.b4x16_p64 "
    ".b6x16_p32.b8x16 .b8.b6x16_p32 .b16.b6x16_p32",
)
_SHARED = "- .shared .shared::cta"
_COPY_AXES = {**_MOVE_AXES, **axes(space=_SHARED + " .shared::cluster .global .local")}


def _fragments(point: Point) -> tuple[str, ...]:
    """A register for every 8x8 matrix of 16 bits, two for a 16x16 one of 8 bits. Eight are more
    than `.num` ever asks for: there four may do."""
    m, n, _ = shape_of(point["shape"])
    matrices = int(point["num"].removeprefix(".x") or 1)
    natural = matrices * max(m * n // 128, 1)
    return tuple(registers("%r", number) for number in {min(natural, 8), min(natural, 4)})


def _move(point: Point) -> tuple[str, ...]:
    return ("%r0, %r1",)


_LOADS = f"""
    targets  shape   num          trans     type
    75+      m8n8    .x1|.x2|.x4  -|.trans  .b16
    100-120  m16n16  .x1|.x2      .trans    .b8|{_FORMATS}
    100-120  m8n16   .x1|.x2|.x4  -         {_FORMATS}
"""
_STORES = """
    targets  shape   num          trans     type
    90+      m8n8    .x1|.x2|.x4  -|.trans  .b16
    100-120  m16n8   .x1|.x2|.x4  .trans    .b8
"""
_MOVES = """
    targets  shape   trans   type
    75+      m8n8    .trans  .b16
"""
_COPY = ".sync.aligned.{shape}{num}{trans}{space}{type}"

COPY_FAMILIES = (
    Family("ldmatrix", _COPY_AXES, "ldmatrix" + _COPY, loads(_fragments),
           boxes("9.7.14.5.15", _LOADS, space=_SHARED)),
    Family("stmatrix", _COPY_AXES, "stmatrix" + _COPY, stores(_fragments),
           boxes("9.7.14.5.16", _STORES, space=_SHARED)),
    Family("movmatrix", _MOVE_AXES, "movmatrix.sync.aligned.{shape}{num}{trans}{type}", _move,
           boxes("9.7.14.5.17", _MOVES)),
)  # fmt: skip
