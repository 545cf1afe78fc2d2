"""Copy instructions as attributes of `cute_nvgpu`, for tiled copies and for TMA."""

from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser

from tilewright.dialects.cute import Layout, LayoutError
from tilewright.dialects.cute.atoms import CopyTraits, TmaBox
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.types.tiled import CopyAtomAttr
from tilewright.dialects.cute.types.tma import TmaAtomAttr
from tilewright.dialects.cute_nvgpu.atoms.copy import (
    COPY_KINDS,
    HALF_CELLS,
    CopyInstruction,
    CopyKind,
)
from tilewright.dialects.cute_nvgpu.atoms.tma import (
    TmaInstruction,
    box_for,
    tensor_box,
    tma_instruction,
    why_not_boxes,
)
from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorMapError
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, Requirement
from tilewright.dialects.cute_nvgpu.types.atoms import ParametersData
from tilewright.dialects.labelled import parse_label, parse_natural, parse_word
from tilewright.dialects.reading import legal_text


@irdl_attr_definition
class CopyInstructionAttr(ParametersData[CopyInstruction], CopyAtomAttr):
    """A copy instruction on elements of a type.

    `#cute_nvgpu.copy<universal, f16, 128>` and `<cp_async, f16, 128, cache = cg>` move so many
    bits a thread; `<ldmatrix, f16, x4, trans>` and `<stmatrix, f16, x2>` so many matrices a warp;
    `<tmem_load, f32, 32x32b, x32>` and `<tmem_store, ...>` so often a shape of `tcgen05.ld` and
    `st`, with `pack` and `unpack` of elements of 16 bits that have a cell each;
    `<tmem_copy, f8E8M0FNU, 32x128b warpx4, cta_group = 2>` is a shape of `tcgen05.cp`.
    """

    name = "cute_nvgpu.copy"

    @property
    def copy_traits(self) -> CopyTraits:
        return self.data.traits

    def requirement(self) -> Requirement:
        return BASELINE if self.data.row is None else Requirement.of(self.data.row)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> CopyInstruction:
        with parser.in_angle_brackets(), legal_text(parser, "copy "):
            kind = parse_word(parser, COPY_KINDS, "copy instruction")
            parser.parse_punctuation(",")
            element = str(parser.parse_type())
            parser.parse_punctuation(",")
            if kind in ("ldmatrix", "stmatrix"):
                return _parse_matrices(parser, kind, element)
            if kind in HALF_CELLS:
                return _parse_tensor_memory(parser, kind, element)
            if kind == "tmem_copy":
                return _parse_tensor_copy(parser, element)
            bits = parse_natural(parser)
            cache = _parse_cache(parser) if parser.parse_optional_punctuation(",") else None
            return CopyInstruction(kind, element, bits, cache)


def parse_shape(parser: AttrParser) -> str:
    """A shape of accesses to tensor memory: `16x256b`."""
    return f"{parser.parse_integer(allow_boolean=False)}{parser.parse_identifier()}"


def _parse_tensor_memory(parser: AttrParser, kind: CopyKind, element: str) -> CopyInstruction:
    shape = parse_shape(parser)
    parser.parse_punctuation(",")
    number = _parse_number(parser, "of the shape")
    half = parser.parse_optional_punctuation(",") is not None
    if half:
        parser.parse_keyword(HALF_CELLS[kind])
    return CopyInstruction(kind, element, number=number, shape=shape, half_cells=half)


def _parse_tensor_copy(parser: AttrParser, element: str) -> CopyInstruction:
    shape, group = parse_shape(parser), 1
    if (multicast := parser.parse_optional_identifier()) is not None:
        shape += f".{multicast.replace('_', '::', 1)}"
    if parser.parse_optional_punctuation(",") is not None:
        parse_label(parser, "cta_group")
        group = parser.parse_integer(allow_boolean=False)
    return CopyInstruction("tmem_copy", element, shape=shape, cta_group=group)


def _parse_number(parser: AttrParser, of: str) -> int:
    """`x4`."""
    start = parser.pos
    number = parser.parse_identifier(f" for how many {of}, such as x4")
    if number[0] != "x" or not number[1:].isdigit():
        parser.raise_error(f"expected x1, x2 or x4, got {number}", start, parser.pos)
    return int(number[1:])


def _parse_matrices(parser: AttrParser, kind: str, element: str) -> CopyInstruction:
    number = _parse_number(parser, "matrices")
    trans = parser.parse_optional_punctuation(",") is not None
    if trans:
        parser.parse_keyword("trans")
    which = "ldmatrix" if kind == "ldmatrix" else "stmatrix"
    return CopyInstruction(which, element, number=number, trans=trans)


def _parse_cache(parser: AttrParser) -> str:
    parse_label(parser, "cache")
    return parser.parse_identifier(" for a cache operator")


@irdl_attr_definition
class TmaInstructionAttr(ParametersData[TmaInstruction], TmaAtomAttr):
    """A TMA instruction: `#cute_nvgpu.tma<load>`, `<load, multicast>`, `<store>` or
    `<reduce, add>`."""

    name = "cute_nvgpu.tma"

    @property
    def loads(self) -> bool:
        return self.data.kind == "load"

    @property
    def multicast(self) -> bool:
        return self.data.multicast

    def requirement(self) -> Requirement:
        return Requirement.of(self.data.row)

    def box_for(
        self, tensor: Layout, tile: tuple[int, ...], memory: AnyLayout, element: str
    ) -> TmaBox:
        if (why := self.data.why_not_element(element)) is not None:
            raise LayoutError(why)
        return box_for(tensor, tile, memory, element)

    def why_not_box(self, box: TmaBox) -> str | None:
        try:
            tensor_box(box)
        except TensorMapError as error:
            return str(error)
        return self.data.why_not_element(box.element)

    def why_not_memory(self, box: TmaBox, memory: AnyLayout) -> str | None:
        try:
            tensor_box(box).check_layout(memory)
        except TensorMapError as error:
            return str(error)
        return why_not_boxes(box, memory)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TmaInstruction:
        with parser.in_angle_brackets(), legal_text(parser, "tma "):
            words = [parser.parse_identifier(" for a TMA instruction")]
            while parser.parse_optional_punctuation(","):
                words.append(parser.parse_identifier())
            return tma_instruction(words)
