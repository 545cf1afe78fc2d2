"""The layouts, swizzles, fragments and descriptors of a kernel, as drawings for the page."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute import ComposedLayout, make_layout
from tilewright.dialects.cute.drawing import Drawing, drawing_of
from tilewright.dialects.cute.int_tuple import LayoutError
from tilewright.dialects.cute.swizzle import AnyLayout, outer_of, parse_layout
from tilewright.dialects.cute.symbolic import layouts
from tilewright.dialects.cute.types.memref import layout_of
from tilewright.dialects.cute.types.tensors import MemRefType as TensorMemRefType
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.dialects.sequences import numbered
from tilewright.source.diagnostic import at
from tilewright.tools.commands.layout import fragments
from tilewright.tools.instructions.fragment_places import fragment_operands

MOST = 40
"""Drawings of a page, at most."""

Picture = dict[str, Any]


def descriptors(modules: Iterable[ModuleOp]) -> list[dict[str, Any]]:
    """The matrix and instruction descriptors of a kernel, each once, as tables of their fields."""
    seen = dict[str, dict[str, Any]]()
    for op in (op for module in modules for op in module.walk()):
        any_op: Any = op
        words: list[Any] = []
        with suppress(DescriptorError, AttributeError):
            words += [
                result.type.tile.at(0)
                for result in op.results
                if isinstance(result.type, SmemDescViewType)
            ]
        with suppress(DescriptorError, AttributeError):
            words.append(any_op.instruction_descriptor)
        for word in words:
            text = word._repr_html_()
            seen.setdefault(text, {"html": text, "line": at(op.location, "").line})
    return list(seen.values())


def pictures(modules: Iterable[ModuleOp]) -> list[Picture]:
    """Each layout, and each operand of each kind of MMA, once; with the first line that has it."""
    seen, atoms = dict[str, Picture](), set[Any]()
    for module in modules:
        for op in module.walk():
            line = at(op.location, "").line
            for kind, drawing in _of(op, seen, atoms):
                if drawing.title not in seen and len(seen) < MOST:
                    seen[drawing.title] = encoded(kind, drawing, line)
    return list(seen.values())


def encoded(kind: str, drawing: Drawing, line: int | None) -> Picture:
    """A drawing as data: the texts of its cells in rows, and the numbers of their colours; where
    those lie far apart, their ranks."""
    numbers = [[number for _, number in row] for row in drawing.cells]
    values = sorted({number for row in numbers for number in row})
    if kind != "fragment" and values[-1] > 4 * sum(map(len, numbers)):
        rank = numbered(values)
        numbers = [[rank[number] for number in row] for row in numbers]
    return {
        "kind": kind,
        "title": drawing.title,
        "about": drawing.about,
        "axes": drawing.axes,
        "line": line,
        "texts": [[text for text, _ in row] for row in drawing.cells],
        "numbers": numbers,
    }


def _of(op: Operation, seen: dict[str, Picture], atoms: set[Any]) -> Iterator[tuple[str, Drawing]]:
    """The drawings of an op that are not yet among those that were seen."""
    for value in (*op.results, *op.operands):
        layout = _layout(value)
        if layout is not None and str(layout) not in seen:
            kind = "swizzled layout" if isinstance(layout, ComposedLayout) else "layout"
            descriptor = isinstance(value.type, SmemDescViewType)
            with suppress(LayoutError):
                yield ("matrix of a descriptor" if descriptor else kind), _drawn(layout)
    atom = getattr(op, "mma_atom", None)
    if atom is None or atom in atoms:
        return
    atoms.add(atom)
    with suppress(AtomError, AttributeError, LayoutError, ValueError):
        for operand in fragment_operands(atom):
            if operand in ("A", "B", "C", "D", "E"):
                yield "fragment", fragments(atom, operand)


def _drawn(layout: AnyLayout) -> Drawing:
    """The drawing of a layout; of more than two modes the largest two, the others at their first
    place (one stage of a pipeline). Raises LayoutError."""
    plain = outer_of(layout)
    modes = [plain[mode] for mode in range(plain.rank())]
    if len(modes) < 3:
        return drawing_of(layout)
    largest = sorted(modes, key=lambda mode: -mode.size())[:2]
    first = make_layout(*[mode for mode in modes if any(mode is kept for kept in largest)])
    composed = isinstance(layout, ComposedLayout)
    drawing = drawing_of(layout.with_outer(first) if composed else first)
    return replace(drawing, title=str(layout), about=f"{drawing.about}, the first {first}")


def _layout(value: SSAValue) -> AnyLayout | None:
    """The layout of a value that says it, whose every number is known, of more than one element."""
    type_: Any = value.type
    layout: Any = None
    with suppress(Exception):
        if isinstance(type_, TensorMemRefType):
            layout = type_.tensor.layout
        elif isinstance(type_, SmemDescViewType):
            layout = type_.layout.data
        elif type_.name == MemRefType.name:
            layout = layout_of(type_)
        elif type_.name == "cute.layout":
            layout = parse_layout(str(type_).split('"')[1])
    if not isinstance(layout, AnyLayout):
        return None
    plain = outer_of(layout)
    if isinstance(layout, ComposedLayout) and not isinstance(layout.offset, int):
        return None
    return layout if layouts.known(plain) and plain.size() > 1 else None
