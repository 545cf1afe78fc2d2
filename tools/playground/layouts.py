"""The layout algebra on text: two layouts as they are typed, an operation, the result with its
picture."""

from collections.abc import Callable
from typing import Any

from tilewright.dialects import cute
from tilewright.dialects.cute.drawing import drawing_of, svg
from tilewright.dialects.cute.int_tuple import LayoutError
from tilewright.dialects.cute.text import LayoutParseError, LayoutReader

UNARY: dict[str, Callable[[Any], Any]] = {
    "coalesce": cute.coalesce,
    "right_inverse": cute.right_inverse,
    "left_inverse": cute.left_inverse,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "composition": cute.composition,
    "complement": cute.complement,
    "logical_divide": cute.logical_divide,
    "zipped_divide": cute.zipped_divide,
    "tiled_divide": cute.tiled_divide,
    "flat_divide": cute.flat_divide,
    "logical_product": cute.logical_product,
    "zipped_product": cute.zipped_product,
    "blocked_product": cute.blocked_product,
    "raked_product": cute.raked_product,
}
OPERATIONS = (*BINARY, *UNARY)
MOST = 1 << 12
"""Elements of a layout that are drawn, at most."""


def operate(operation: str, a: str, b: str) -> dict[str, Any]:
    """The result of an operation, and pictures of it and of what it was given.

    `b` is a layout, a shape (3,4), or a tiler by modes [3;4:2], and left alone where the operation
    takes one layout. An error says of which of them it is.
    """
    pictures: list[dict[str, str]] = []
    field = "a"
    try:
        first = cute.parse_layout(a.strip())
        pictures.append(_picture("A", first))
        if operation in UNARY:
            result = UNARY[operation](first)
        else:
            field = "b"
            second = tiler(b.strip())
            pictures += [_picture("B", second)] if isinstance(second, cute.Layout) else []
            field = "result"
            result = BINARY[operation](first, second)
        pictures.append(_picture(operation, result))
    except (LayoutError, LayoutParseError) as error:
        return {"error": str(error), "field": field, "pictures": pictures}
    return {"result": str(result), "pictures": pictures}


def tiler(text: str) -> Any:
    """A layout, or what the algebra takes in its place. Raises LayoutError, LayoutParseError."""
    if text.startswith("[") and text.endswith("]"):
        return tuple(tiler(mode.strip()) for mode in text[1:-1].split(";"))
    if ":" in text:
        return cute.parse_layout(text)
    reader = LayoutReader(text)
    shape = reader.read_tuple()
    reader.read_end()
    return shape


def _picture(name: str, layout: Any) -> dict[str, str]:
    """A layout's drawing; of a large one its text alone."""
    shown = {"title": f"{name} = {layout}"}
    if layout.size() <= MOST:
        shown["svg"] = svg(drawing_of(layout))
    return shown
